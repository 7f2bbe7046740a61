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

// fetcher counts its calls, returns their number, and takes a second.
type fetcher struct {
	mu    sync.Mutex
	calls int
	size  int64
	valid time.Duration
	err   error
}

func (f *fetcher) fetch(ctx context.Context) (fetched[int], error) {
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

// TestCacheValidity calls get once after each wait, in virtual time. An entry is cached until it expires,
// for a day at most, and not at all if it failed or is larger than the cache.
func TestCacheValidity(t *testing.T) {
	type step struct {
		wait  time.Duration
		calls int // so far
	}
	for name, row := range map[string]struct {
		fetcher *fetcher
		steps   []step
	}{
		"valid for a minute": {&fetcher{valid: time.Minute}, []step{{0, 1}, {59 * time.Second, 1}, {time.Second, 2}, {0, 2}, {time.Hour, 3}}},
		"valid for long":     {&fetcher{valid: 1000 * time.Hour}, []step{{0, 1}, {maxCacheAge - time.Second, 1}, {time.Second, 2}}},
		"failure":            {&fetcher{valid: time.Minute, err: errors.New("down")}, []step{{0, 1}, {0, 2}}},
		"expired":            {&fetcher{}, []step{{0, 1}, {0, 2}}},
		"too large":          {&fetcher{valid: time.Minute, size: maxCached + 1}, []step{{0, 1}, {0, 2}}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var c cache[int]
				for _, s := range row.steps {
					time.Sleep(s.wait)
					v, err := c.get(t.Context(), "k", row.fetcher.fetch)
					if v != s.calls || row.fetcher.calls != s.calls || !errors.Is(err, row.fetcher.err) {
						t.Errorf("after %v: got %d, %v after %d calls; want %d", s.wait, v, err, row.fetcher.calls, s.calls)
					}
				}
				if kept := row.fetcher.valid > 0 && row.fetcher.err == nil && row.fetcher.size == 0; !kept && (len(c.entries) != 0 || c.size != 0) {
					t.Errorf("%d entries of %d bytes are left", len(c.entries), c.size)
				}
			})
		})
	}
}

// TestCacheSharesFetches checks that concurrent callers share one fetch. If the caller that fetches gives
// up, one of the others fetches again. A caller that waits may give up too.
func TestCacheSharesFetches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		f := &fetcher{valid: time.Minute}
		ctx, cancel := context.WithCancel(t.Context())
		var all sync.WaitGroup
		get := func(ctx context.Context, value int, want error) {
			all.Go(func() {
				if v, err := c.get(ctx, "k", f.fetch); v != value || !errors.Is(err, want) {
					t.Errorf("got %d, %v; want %d, %v", v, err, value, want)
				}
			})
			synctest.Wait()
		}
		get(ctx, 0, context.Canceled)
		for range 50 {
			get(t.Context(), 2, nil)
		}
		cancel()
		synctest.Wait()
		get(ctx, 0, context.Canceled)
		all.Wait()
		if f.calls != 2 {
			t.Errorf("%d fetches, want 2", f.calls)
		}
	})
}

// TestCachePanic checks that callers get an error when the fetch that they wait for panics.
func TestCachePanic(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		var all sync.WaitGroup
		all.Go(func() {
			defer func() { recover() }()
			c.get(t.Context(), "k", func(context.Context) (fetched[int], error) { time.Sleep(time.Second); panic("bug") })
		})
		synctest.Wait()
		if _, err := c.get(t.Context(), "k", nil); !errors.Is(err, errIncomplete) {
			t.Errorf("got %v, want %v", err, errIncomplete)
		}
		all.Wait()
	})
}

// TestCacheIsBounded checks that the entries that expire first are evicted.
func TestCacheIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c cache[int]
		for i := range 40 {
			f := &fetcher{size: maxCached/8 - entrySize - 2, valid: time.Hour + time.Duration(i)*time.Minute}
			c.get(t.Context(), fmt.Sprint(i), f.fetch)
		}
		if len(c.entries) != 8 || c.size != maxCached {
			t.Errorf("got %d entries of %d bytes, want 8 of %d", len(c.entries), c.size, maxCached)
		}
		last := &fetcher{valid: time.Hour}
		if c.get(t.Context(), "39", last.fetch); last.calls != 0 {
			t.Error("the last entry was evicted")
		}
		for i := range maxEntries + 10 {
			f := &fetcher{valid: 2 * time.Hour}
			c.get(t.Context(), fmt.Sprint("small ", i), f.fetch)
		}
		if len(c.entries) != maxEntries || c.count != maxEntries || c.size > maxCached {
			t.Errorf("got %d entries, counted %d, of %d bytes; want %d", len(c.entries), c.count, c.size, maxEntries)
		}
	})
}
