package ratelimit

import (
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

// What a limiter says of itself: who waits as long as it is told may go on then, and not a moment before.
func TestWhatIsSaid(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(rate, store())
				for i := range 60 {
					d := l.Take(t.Context(), "a")
					want := Decision{Allowed: true, Rate: rate, Left: 59 - i, Full: d.Full}
					if diff := cmp.Diff(want, d); diff != "" {
						t.Fatalf("%d: %s", i, diff)
					}
				}
				d := l.Take(t.Context(), "a")
				if diff := cmp.Diff(Decision{Rate: rate, Full: 3 * time.Second, Wait: 50 * time.Millisecond}, d); diff != "" {
					t.Error(diff)
				}
				time.Sleep(d.Wait - 1)
				if l.Take(t.Context(), "a").Allowed {
					t.Error("it may go on before")
				}
				time.Sleep(1 * time.Nanosecond)
				if !l.Take(t.Context(), "a").Allowed {
					t.Error("it may not go on then")
				}
			})
		})
	}
}

// Looking takes nothing, and says what taking would.
func TestLook(t *testing.T) {
	for name, store := range stores {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := New(rate, store())
				for range 100 {
					if !l.Look("a").Allowed {
						t.Fatal("nothing was taken, and nothing may happen")
					}
				}
				if n := allowed(t, l, "a", 100); n != 60 {
					t.Errorf("%d go on after looking", n)
				}
				if d := l.Look("a"); d.Allowed || d.Wait != 50*time.Millisecond {
					t.Errorf("when nothing is left: %+v", d)
				}
				time.Sleep(50 * time.Millisecond)
				if !l.Look("a").Allowed {
					t.Error("nor after the wait")
				}
			})
		})
	}
}

func TestNoLimit(t *testing.T) {
	l := New(storage.Rate{}, nil)
	if allowed(t, l, "a", 1000) != 1000 || !l.Look("a").Allowed {
		t.Error("there is one")
	}
}

// Two servers of one store have one rate together, and each the part of it that it asks for.
func TestServersTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared()
		servers := []*Limiter{New(rate, store), New(rate, store)}
		began := time.Now()
		through := make([]int, 2)
		for n := 0; time.Since(began) < 10*time.Second; n++ {
			for i := range servers {
				turn := (n + i) % 2 // none is always the first
				through[turn] += allowed(t, servers[turn], "a", 1)
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

// A busy client costs far fewer statements than calls, one that is refused hardly any, and one that calls now
// and then never loses what it may have.
func TestStatements(t *testing.T) {
	for _, test := range []struct {
		name          string
		every         time.Duration
		calls         int
		through, most int
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
				if through < test.through*95/100 || store.draws > test.most {
					t.Errorf("%d of %d calls went through, of %d that may, with %d statements", through, test.calls, test.through, store.draws)
				}
			})
		})
	}
}

// While the store does not answer each server limits by itself, and hardly asks; afterwards they share again.
func TestWhileTheStoreIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := newShared()
		l := New(rate, store)
		allowed(t, l, "a", 100)
		time.Sleep(time.Second)
		store.err = errors.New("away")
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
			t.Errorf("when it is back, %d go through", n)
		}
	})
}

// A store that does not answer at all holds nobody up for longer than drawTime.
func TestAStoreThatHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(rate, hanging{})
		began := time.Now()
		var all sync.WaitGroup
		for range 50 {
			all.Go(func() { allowed(t, l, "a", 1) })
		}
		all.Wait()
		if took := time.Since(began); took > drawTime {
			t.Errorf("it took %v", took)
		}
	})
}

// However many keys there are, not more than some are remembered; those in use are.
func TestMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // in no time, in which nothing comes back
		l := New(rate, nil)
		for i := range 5 * most {
			l.Take(t.Context(), fmt.Sprint(i))
			if i%(most/2) == 0 {
				allowed(t, l, "busy", 60)
			}
			if n := len(l.buckets.young) + len(l.buckets.old); n > 2*most {
				t.Fatalf("%d keys are remembered", n)
			}
		}
		if n := allowed(t, l, "busy", 60); n > 0 {
			t.Errorf("a busy client was forgotten: %d more go through", n)
		}
	})
}

// What is over is forgotten, also where there are few.
func TestForgetting(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := New(rate, nil)
		for i := range 100 {
			l.Take(t.Context(), fmt.Sprint(i))
		}
		for range 2 {
			time.Sleep(time.Hour)
			l.Take(t.Context(), "another")
		}
		if n := len(l.buckets.young) + len(l.buckets.old); n != 1 {
			t.Errorf("%d are remembered", n)
		}
	})
}
