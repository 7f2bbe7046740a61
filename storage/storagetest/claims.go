package storagetest

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

var claims = tests{
	"the earliest due jobs of a group are claimed first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 3), exampleJob("k", "g", 1), exampleJob("k", "g", 2), exampleJob("k", "g", 1))
		var seconds []float64
		for range 4 {
			for _, l := range claim(t, b, after(10), 1, 4) {
				seconds = append(seconds, l.Due.Sub(base).Seconds())
			}
		}
		checkRead(t, seconds, nil, []float64{1, 1, 2, 3})
	},

	"jobs claimed together are in the order of their due times": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "a", 3), exampleJob("k", "b", 1), exampleJob("k", "c", 4), exampleJob("k", "a", 2))
		var seconds []float64
		for _, l := range claim(t, b, after(10), 10, 10) {
			seconds = append(seconds, l.Due.Sub(base).Seconds())
		}
		checkRead(t, seconds, nil, []float64{1, 2, 3, 4})
	},

	"there are never more than the limit": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for i := range 5 {
			enqueue(t, b, exampleJob("k", fmt.Sprint(i), i), exampleJob("k", fmt.Sprint(i), i))
		}
		for _, want := range []struct{ limit, perGroup, claimed int }{{0, 1, 0}, {-1, 1, 0}, {1, 0, 0}, {1, -1, 0}, {3, 2, 3}, {100, 2, 7}, {100, 2, 0}} {
			if n := len(claim(t, b, after(10), want.limit, want.perGroup)); n != want.claimed {
				t.Errorf("limit %d, per group %d: %d jobs were claimed, want %d", want.limit, want.perGroup, n, want.claimed)
			}
		}
	},

	"leases count towards the group's limit until they expire or are returned": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 5 {
			enqueue(t, b, exampleJob("k", "g", 0))
		}
		first := claim(t, b, base, 10, 2)
		checkGroups(t, first, map[string]int{"g": 2})
		checkClaimed(t, b, base, 2, 0)
		checkClaimed(t, b, base, 3, 1)
		finish(t, b, first[0])
		checkClaimed(t, b, base, 3, 1)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, first[1], after(1000)) })
		checkClaimed(t, b, base, 3, 1)
		checkClaimed(t, b, base.Add(lease), 2, 2) // all leases have expired
	},

	"a group at its limit does not delay others": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 30 {
			enqueue(t, b, exampleJob("k", "huge", 0))
		}
		enqueue(t, b, exampleJob("k", "a", 1), exampleJob("k", "b", 2), exampleJob("k", "b", 3), exampleJob("k", "b", 4))
		checkGroups(t, claim(t, b, after(10), 4, 2), map[string]int{"huge": 2, "a": 1, "b": 1})
		checkGroups(t, claim(t, b, after(10), 4, 2), map[string]int{"b": 1})
	},

	"a group without leases is first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		for range 30 {
			enqueue(t, b, exampleJob("k", "huge", 0))
		}
		checkGroups(t, claim(t, b, base, 2, 10), map[string]int{"huge": 2})
		enqueue(t, b, exampleJob("k", "small", 9))
		checkGroups(t, claim(t, b, after(10), 1, 10), map[string]int{"small": 1})
	},

	"a group that always has jobs does not starve others": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const small, slots = 20, 4
		for i := range small {
			enqueue(t, b, exampleJob("k", fmt.Sprint(i), 0))
		}
		left := small
		for round := 0; left > 0; round++ {
			if round > small {
				t.Fatalf("%d small groups still wait", left)
			}
			for range slots {
				enqueue(t, b, exampleJob("k", "huge", -1000)) // due before all others
			}
			leases := claim(t, b, base, slots, slots)
			left -= len(slices.DeleteFunc(slices.Clone(leases), func(l storage.Lease) bool { return l.Group == "huge" }))
			finish(t, b, leases...)
		}
	},
}

// checkClaimed claims jobs that are all of one group, and fails the test unless there are so many.
func checkClaimed(t *testing.T, b Backend, now time.Time, perGroup, want int) {
	t.Helper()
	if n := len(claim(t, b, now, 10, perGroup)); n != want {
		t.Errorf("%d jobs were claimed, want %d", n, want)
	}
}

// checkGroups fails the test unless there are so many leases of each group.
func checkGroups(t *testing.T, leases []storage.Lease, want map[string]int) {
	t.Helper()
	got := map[string]int{}
	for _, l := range leases {
		got[l.Group]++
	}
	checkRead(t, got, nil, want)
}

var claimsAtOnce = tests{
	"a job that is being finished or returned is not claimed": func(t *testing.T, open func(*testing.T) Backend) {
		for name, end := range map[string]func(ctx context.Context, b Backend, l storage.Lease) error{
			"finished": func(ctx context.Context, b Backend, l storage.Lease) error { return b.Jobs.Finish(ctx, l) },
			"returned": func(ctx context.Context, b Backend, l storage.Lease) error { return b.Jobs.Retry(ctx, l, after(1000)) },
			"dropped":  func(ctx context.Context, b Backend, _ storage.Lease) error { return b.Jobs.Drop(ctx, "k", "g") },
		} {
			t.Run(name, func(t *testing.T) {
				b := open(t)
				enqueue(t, b, exampleJob("k", "g", 0))
				l := claimOne(t, b, base)
				var taken []storage.Lease
				o := &overlap{b: b, fn: func(ctx context.Context) (err error) {
					taken, err = b.Jobs.Claim(ctx, "k", l.Until, 10, 10, lease)
					return err
				}}
				do(t, b, func(ctx context.Context) error {
					if err := end(ctx, b, l); err != nil {
						return err
					}
					o.meanwhile(t)
					return nil
				})
				o.wait(t)
				checkGroups(t, taken, map[string]int{})
			})
		}
	},

	"concurrent transactions together keep the limit of a group": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 1))
		claimInto := func(leases *[]storage.Lease) func(ctx context.Context) error {
			return func(ctx context.Context) (err error) {
				*leases, err = b.Jobs.Claim(ctx, "k", after(1), 1, 1, lease)
				return err
			}
		}
		var first, second []storage.Lease
		o := &overlap{b: b, fn: func(ctx context.Context) error {
			if err := b.Jobs.Enqueue(ctx, exampleJob("k", "g", 0)); err != nil { // due earlier
				return err
			}
			return claimInto(&second)(ctx)
		}}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return claimInto(&first)(ctx)
		})
		o.wait(t)
		if len(first) != 1 || len(second) != 0 {
			t.Errorf("%d and %d jobs of the group are leased", len(first), len(second))
		}
	},

	"several workers claim each job once, and keep the limit": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const groups, each, workers, perGroup = 5, 12, 6, 2
		for i := range groups * each {
			enqueue(t, b, exampleJob("k", fmt.Sprint(i%groups), 0))
		}
		u := &leaseTracker{perGroup: perGroup, done: map[string]bool{}, now: map[string]int{}}
		concurrently(t, workers, func(int) error { return u.run(t.Context(), b, groups*each) })
	},
}

// leaseTracker counts the leases that several workers hold. It may count fewer than there are, never more.
type leaseTracker struct {
	perGroup int
	mu       sync.Mutex
	now      map[string]int  // by group
	done     map[string]bool // by ID
}

// run claims and finishes jobs until so many have been claimed.
func (u *leaseTracker) run(ctx context.Context, b Backend, all int) error {
	for u.count() < all {
		var leases []storage.Lease
		err := b.InTx(ctx, func(ctx context.Context) (err error) {
			leases, err = b.Jobs.Claim(ctx, "k", base, 3, u.perGroup, lease)
			return err
		})
		if err != nil {
			return err
		}
		for _, l := range leases {
			if err := u.begin(l); err != nil {
				return err
			}
		}
		for _, l := range leases {
			u.end(l)
			if err := b.InTx(ctx, func(ctx context.Context) error { return b.Jobs.Finish(ctx, l) }); err != nil {
				return err
			}
		}
	}
	return nil
}

func (u *leaseTracker) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.done)
}

func (u *leaseTracker) begin(l storage.Lease) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done[l.ID] {
		return fmt.Errorf("job %s was claimed twice", l.ID)
	}
	u.done[l.ID] = true
	if u.now[l.Group]++; u.now[l.Group] > u.perGroup {
		return fmt.Errorf("%d jobs of the group %s are leased", u.now[l.Group], l.Group)
	}
	return nil
}

func (u *leaseTracker) end(l storage.Lease) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[l.Group]--
}
