package storagetest

import (
	"context"
	"fmt"
	"sync"
	"testing"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
)

var claimsAtOnce = tests{
	"a job that is being finished or given back is not claimed": func(t *testing.T, open func(*testing.T) Backend) {
		for name, end := range map[string]func(ctx context.Context, b Backend, l storage.Lease) error{
			"finished":   func(ctx context.Context, b Backend, l storage.Lease) error { return b.Jobs.Finish(ctx, l) },
			"given back": func(ctx context.Context, b Backend, l storage.Lease) error { return b.Jobs.Retry(ctx, l, after(1000)) },
			"dropped":    func(ctx context.Context, b Backend, _ storage.Lease) error { return b.Jobs.Drop(ctx, "k", "g") },
		} {
			t.Run(name, func(t *testing.T) {
				b := open(t)
				enqueue(t, b, work("k", "g", 0))
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
				ofGroups(t, taken, map[string]int{})
			})
		}
	},

	"transactions that claim at the same time keep the bound together": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 1))
		claimInto := func(leases *[]storage.Lease) func(ctx context.Context) error {
			return func(ctx context.Context) (err error) {
				*leases, err = b.Jobs.Claim(ctx, "k", after(1), 1, 1, lease)
				return err
			}
		}
		var first, second []storage.Lease
		o := &overlap{b: b, fn: func(ctx context.Context) error {
			if err := b.Jobs.Enqueue(ctx, work("k", "g", 0)); err != nil { // which would come before
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
			t.Errorf("%d and %d jobs of the group are in work", len(first), len(second))
		}
	},

	"several that claim at once do each job once, and keep the bound": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const groups, each, workers, perGroup = 5, 12, 6, 2
		for i := range groups * each {
			enqueue(t, b, work("k", fmt.Sprint(i%groups), 0))
		}
		u := &underLease{perGroup: perGroup, done: map[string]bool{}, now: map[string]int{}}
		var group errgroup.Group
		for range workers {
			group.Go(func() error { return u.work(t.Context(), b, groups*each) })
		}
		if err := group.Wait(); err != nil {
			t.Error(err)
		}
	},
}

// underLease is what several workers know to be in work. It may know of less than there
// is, and never of more.
type underLease struct {
	perGroup int
	mu       sync.Mutex
	now      map[string]int  // by group
	done     map[string]bool // by ID
}

// work does jobs until so many are done.
func (u *underLease) work(ctx context.Context, b Backend, all int) error {
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

func (u *underLease) count() int {
	u.mu.Lock()
	defer u.mu.Unlock()
	return len(u.done)
}

func (u *underLease) begin(l storage.Lease) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.done[l.ID] {
		return fmt.Errorf("job %s is done twice", l.ID)
	}
	u.done[l.ID] = true
	if u.now[l.Group]++; u.now[l.Group] > u.perGroup {
		return fmt.Errorf("%d jobs of the group %s are in work", u.now[l.Group], l.Group)
	}
	return nil
}

func (u *underLease) end(l storage.Lease) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.now[l.Group]--
}
