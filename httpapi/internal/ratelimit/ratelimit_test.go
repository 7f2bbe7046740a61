package ratelimit

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var rate = storage.Rate{PerSecond: 20, Burst: 60}

// allowed is how many of n calls at once go through.
func allowed(t *testing.T, l *Limiter, key string, n int) (through int) {
	t.Helper()
	for range n {
		if l.Take(t.Context(), key).Allowed {
			through++
		}
	}
	return through
}

// spec 1.9: 20 a second with a burst of 60. With a store the same, to the token.
func TestRate(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(rate, store())
				var got []int
				for _, pause := range []time.Duration{0, 50 * time.Millisecond, time.Second, 3 * time.Second, time.Hour} {
					time.Sleep(pause)
					got = append(got, allowed(t, l, "a", 100))
				}
				if diff := cmp.Diff([]int{60, 1, 20, 60, 60}, got); diff != "" {
					t.Error(diff)
				}
				if n := allowed(t, l, "b", 100); n != 60 {
					t.Errorf("another client has %d", n)
				}
			})
		})
	}
}

// The fields of a decision: a call is allowed after RetryAfter, and not earlier.
func TestDecision(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(rate, store())
				for i := range 60 {
					d := l.Take(t.Context(), "a")
					want := Decision{Allowed: true, Rate: rate, Remaining: 59 - i, Reset: d.Reset}
					if diff := cmp.Diff(want, d); diff != "" {
						t.Fatalf("%d: %s", i, diff)
					}
				}
				d := l.Take(t.Context(), "a")
				if diff := cmp.Diff(Decision{Rate: rate, Reset: 3 * time.Second, RetryAfter: 50 * time.Millisecond}, d); diff != "" {
					t.Error(diff)
				}
				time.Sleep(d.RetryAfter - 1)
				if l.Take(t.Context(), "a").Allowed {
					t.Error("a call is allowed before RetryAfter")
				}
				time.Sleep(1 * time.Nanosecond)
				if !l.Take(t.Context(), "a").Allowed {
					t.Error("no call is allowed after RetryAfter")
				}
			})
		})
	}
}

// Peek takes no token, and returns what Take would.
func TestPeek(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(rate, store())
				for range 100 {
					if !l.Peek("a").Allowed {
						t.Fatal("no token was taken, and no call is allowed")
					}
				}
				if n := allowed(t, l, "a", 100); n != 60 {
					t.Errorf("%d calls are allowed after Peek", n)
				}
				if d := l.Peek("a"); d.Allowed || d.RetryAfter != 50*time.Millisecond {
					t.Errorf("of an empty bucket: %+v", d)
				}
				time.Sleep(50 * time.Millisecond)
				if !l.Peek("a").Allowed {
					t.Error("no call is allowed after RetryAfter")
				}
			})
		})
	}
}

func TestNoLimit(t *testing.T) {
	l := New(storage.Rate{}, nil)
	if allowed(t, l, "a", 1000) != 1000 || !l.Peek("a").Allowed {
		t.Error("calls are refused")
	}
}

// Two servers with one store share the rate, and each gets its part.
func TestServersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared()
		servers := []*Limiter{New(rate, store), New(rate, store)}
		began := time.Now()
		through := make([]int, 2)
		for n := 0; time.Since(began) < 10*time.Second; n++ {
			for i := range servers {
				server := (n + i) % 2 // so that none is always the first
				through[server] += allowed(t, servers[server], "a", 1)
			}
			time.Sleep(10 * time.Millisecond) // 200 calls a second
		}
		if sum := through[0] + through[1]; sum > 260 || sum < 240 {
			t.Errorf("%d of 260 go through", sum)
		}
		if through[0] < 80 || through[1] < 80 {
			t.Errorf("%v of them at each", through)
		}
	})
}

// A busy client causes far fewer statements than calls, a client that is refused causes few, and a client that calls
// rarely is always allowed to.
func TestStatements(t *testing.T) {
	for _, test := range []struct {
		name              string
		every             time.Duration
		calls             int
		through, maxDraws int
	}{
		{"as often as it may", 50 * time.Millisecond, 400, 400, 110},
		{"far too often", time.Millisecond, 5000, 160, 140},
		{"now and then", 5 * time.Second, 50, 50, 50},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				store := newShared()
				l := New(rate, store)
				through := 0
				for range test.calls {
					through += allowed(t, l, "a", 1)
					time.Sleep(test.every)
				}
				if through < test.through*95/100 || store.draws > test.maxDraws {
					t.Errorf("%d of %d calls went through, of %d that may, with %d statements", through, test.calls, test.through, store.draws)
				}
			})
		})
	}
}

// While the store is unavailable, the server applies the rate by itself and rarely calls the store.
func TestStoreIsUnavailable(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared()
		l := New(rate, store)
		allowed(t, l, "a", 100)
		time.Sleep(time.Second)
		store.err = errors.New("unavailable")
		store.draws = 0
		if n := allowed(t, l, "a", 1000); n != 60 || store.draws != 1 {
			t.Errorf("%d go through, %d statements", n, store.draws)
		}
		time.Sleep(outageTime)
		if n := allowed(t, l, "a", 1000); n != 20 || store.draws != 2 {
			t.Errorf("a second later %d go through, %d statements", n, store.draws)
		}
		store.err = nil
		time.Sleep(time.Minute)
		if n := allowed(t, l, "a", 1000); n != 60 {
			t.Errorf("when the store is available again, %d go through", n)
		}
	})
}

// A store that does not answer delays calls by no more than drawTimeout.
func TestStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(rate, hanging{})
		began := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { allowed(t, l, "a", 1) })
		}
		all.Wait()
		if took := time.Since(began); took > drawTimeout {
			t.Errorf("it took %v", took)
		}
	})
}

// The number of stored keys is bounded, and those in use are not removed.
func TestNumberOfKeysIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in a bubble no time passes, so no tokens are added
		l := New(rate, nil)
		for i := range 5 * maxKeys {
			l.Take(t.Context(), fmt.Sprint(i))
			if i%(maxKeys/2) == 0 {
				allowed(t, l, "busy", 60)
			}
			if n := len(l.buckets.current) + len(l.buckets.previous); n > 2*maxKeys {
				t.Fatalf("%d keys are stored", n)
			}
		}
		if n := allowed(t, l, "busy", 60); n > 0 {
			t.Errorf("a busy client was removed: %d more go through", n)
		}
	})
}

// Keys that are not used are removed, also if there are few.
func TestUnusedKeysAreRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(rate, nil)
		for i := range 100 {
			l.Take(t.Context(), fmt.Sprint(i))
		}
		for range 2 {
			time.Sleep(time.Hour)
			l.Take(t.Context(), "another")
		}
		if n := len(l.buckets.current) + len(l.buckets.previous); n != 1 {
			t.Errorf("%d keys are stored", n)
		}
	})
}

// stores are the stores of a limiter, by name.
var stores = map[string]func() storage.Buckets{
	"none":   func() storage.Buckets { return nil },
	"shared": func() storage.Buckets { return newShared() },
}

// shared is a store in memory that follows the contract of storagetest.
type shared struct {
	mu    sync.Mutex
	full  map[string]time.Time
	draws int
	err   error
}

func newShared() *shared { return &shared{full: make(map[string]time.Time)} }

func (s *shared) Draw(_ context.Context, key string, r storage.Rate, n int) (int, time.Duration, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.draws++
	if s.err != nil {
		return 0, 0, s.err
	}
	deficit := max(0, time.Until(s.full[key]))
	available := r.Burst - int((deficit+r.Cost()-1)/r.Cost())
	n = max(0, min(n, available))
	deficit += time.Duration(n) * r.Cost()
	s.full[key] = time.Now().Add(deficit)
	return n, deficit, nil
}

func (s *shared) DeleteFull(context.Context, int) (int, error) { return 0, nil }

// hanging is a store that does not answer.
type hanging struct{}

func (hanging) Draw(ctx context.Context, _ string, _ storage.Rate, _ int) (int, time.Duration, error) {
	<-ctx.Done()
	return 0, 0, ctx.Err()
}

func (hanging) DeleteFull(context.Context, int) (int, error) { return 0, nil }
