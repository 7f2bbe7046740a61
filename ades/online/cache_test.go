package online

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// counting is a fetch that counts and takes a second.
type counting struct {
	mu    sync.Mutex
	calls int
	size  int64
	valid time.Duration
	err   error
}

func (f *counting) fetch(ctx context.Context) (fetched[int], error) {
	f.mu.Lock()
	f.calls++
	n := f.calls
	f.mu.Unlock()
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return fetched[int]{}, ctx.Err()
	}
	return fetched[int]{n, f.size, time.Now().Add(f.valid)}, f.err
}

func (f *counting) want(t *testing.T, calls int) {
	t.Helper()
	if f.calls != calls {
		t.Errorf("fetched %d times, want %d", f.calls, calls)
	}
}

func TestCacheServesManyWithOneFetch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		f := &counting{valid: time.Minute}
		var wait sync.WaitGroup
		for range 50 {
			wait.Go(func() {
				if v, err := c.get(t.Context(), "k", f.fetch); v != 1 || err != nil {
					t.Errorf("%d, %v", v, err)
				}
			})
		}
		wait.Wait()
		f.want(t, 1)
	})
}

func TestCacheKeepsUntilNextUpdate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		f := &counting{valid: time.Minute}
		for _, step := range []struct {
			wait time.Duration
			want int
		}{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {0, 2}, {time.Hour, 3}} {
			time.Sleep(step.wait)
			if v, err := c.get(t.Context(), "k", f.fetch); v != step.want || err != nil {
				t.Errorf("after %v: %d, %v, want %d", step.wait, v, err, step.want)
			}
		}
	})
}

func TestCacheKeepsADayAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		f := &counting{valid: 1000 * time.Hour}
		c.get(t.Context(), "k", f.fetch)
		time.Sleep(maxCacheAge - time.Second)
		c.get(t.Context(), "k", f.fetch)
		f.want(t, 1)
		time.Sleep(time.Second)
		c.get(t.Context(), "k", f.fetch)
		f.want(t, 2)
	})
}

func TestCacheKeepsNeitherFailuresNorWhatIsNotInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		failing := &counting{valid: time.Minute, err: errors.New("down")}
		expired := &counting{}
		large := &counting{valid: time.Minute, size: maxCached + 1}
		for range 2 {
			if _, err := c.get(t.Context(), "failing", failing.fetch); err == nil {
				t.Error("no error")
			}
			c.get(t.Context(), "expired", expired.fetch)
			c.get(t.Context(), "large", large.fetch)
		}
		failing.want(t, 2)
		expired.want(t, 2)
		large.want(t, 2)
		if len(c.entries) != 0 || c.size != 0 {
			t.Errorf("%d entries of %d bytes are left", len(c.entries), c.size)
		}
	})
}

// Who goes away does not take the others along: one of them fetches again. And who
// waits may go away.
func TestCacheSurvivesWhoGoesAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		f := &counting{valid: time.Minute}
		impatient, leave := context.WithCancel(t.Context())
		var wait sync.WaitGroup
		wait.Go(func() {
			if _, err := c.get(impatient, "k", f.fetch); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		synctest.Wait()
		for range 5 {
			wait.Go(func() {
				if v, err := c.get(t.Context(), "k", f.fetch); v != 2 || err != nil {
					t.Errorf("%d, %v", v, err)
				}
			})
		}
		synctest.Wait()
		leave()
		synctest.Wait()
		wait.Go(func() {
			if _, err := c.get(impatient, "k", f.fetch); !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		})
		wait.Wait()
		f.want(t, 2)
	})
}

func TestCacheSurvivesAPanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		var wait sync.WaitGroup
		wait.Go(func() {
			defer func() { recover() }()
			c.get(t.Context(), "k", func(context.Context) (fetched[int], error) { time.Sleep(time.Second); panic("bug") })
		})
		synctest.Wait()
		if _, err := c.get(t.Context(), "k", nil); !errors.Is(err, errIncomplete) {
			t.Error(err)
		}
		wait.Wait()
	})
}

// Large values push out what goes first anyway, and the count of bytes stays right.
func TestCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		for i := range 40 {
			f := &counting{size: maxCached / 8, valid: time.Hour + time.Duration(i)*time.Minute}
			c.get(t.Context(), fmt.Sprint(i), f.fetch)
		}
		if len(c.entries) != 8 || c.size != maxCached {
			t.Errorf("%d entries of %d bytes", len(c.entries), c.size)
		}
		last := &counting{valid: time.Hour}
		c.get(t.Context(), "39", last.fetch)
		last.want(t, 0)
	})
}
