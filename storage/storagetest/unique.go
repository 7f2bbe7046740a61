package storagetest

import (
	"context"
	"testing"

	"github.com/innsigli/innsigli/storage"
)

var uniqueJobs = tests{
	"one that there is already is left out": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "first", "u"))
		enqueue(t, b, unique("k", "second", "u"), unique("k", "other", "v"))
		enqueue(t, b, unique("k", "other", "w"), unique("k", "other", "w"))
		groups := map[string]int{}
		for _, l := range claim(t, b, base, 10, 10) {
			groups[l.Group]++
		}
		found(t, groups, nil, map[string]int{"first": 1, "other": 2})
	},

	"also while it is being done": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"))
		l := claimOne(t, b, base)
		enqueue(t, b, unique("k", "g", "u"))
		claimNone(t, b, base)
		finish(t, b, l)
		claimNone(t, b, after(1000))
	},

	"one that is done or dropped makes room for another": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"))
		finish(t, b, claimOne(t, b, base))
		enqueue(t, b, unique("k", "g", "u"))
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "g") })
		enqueue(t, b, unique("k", "g", "u"))
		claimOne(t, b, base)
	},

	"one can be dropped alone, and its lease is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"))
		l := claimOne(t, b, base)
		enqueue(t, b, unique("k", "g", "another"), unique("k2", "g", "u"))
		drop := func(ctx context.Context) error { return b.Jobs.DropUnique(ctx, "k", "u") }
		do(t, b, drop)
		do(t, b, drop)
		lost(t, b, l)
		if left := claimOne(t, b, base); left.Unique != "another" {
			t.Errorf("left is %+v", left.Job)
		}
		enqueue(t, b, unique("k", "g", "u"))
		claimOne(t, b, base)
	},

	"also in the same transaction": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error {
			if err := b.Jobs.Finish(ctx, l); err != nil {
				return err
			}
			return b.Jobs.Enqueue(ctx, unique("k", "g", "u"))
		})
		if again := claimOne(t, b, base); again.ID == l.ID {
			t.Error("the finished job is there again")
		}
	},

	"of two transactions one adds it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		add := func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, unique("k", "g", "u")) }
		o := &overlap{b: b, fn: add}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return add(ctx)
		})
		o.wait(t)
		claimOne(t, b, base)
	},

	"one that is being finished makes room when it is": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"))
		l := claimOne(t, b, base)
		o := &overlap{b: b, fn: func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, unique("k", "g", "u")) }}
		do(t, b, func(ctx context.Context) error {
			defer o.meanwhile(t)
			return b.Jobs.Finish(ctx, l)
		})
		o.wait(t)
		claimOne(t, b, base)
	},

	"kinds have nothing to do with each other": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"), unique("k2", "g", "u"), unique("k2", "g", ""), unique("k2", "g", ""))
		claimOne(t, b, base)
		claimOther(t, b, "k2", 3)
	},

	"names that run into each other stay apart": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "ab", "ac"), unique("ka", "b", "c"), unique("", "kab", "kac"), unique("kab", "", "c"))
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "a") })
		claimOne(t, b, base)
		for _, kind := range []string{"ka", "", "kab"} {
			claimOther(t, b, kind, 1)
		}
	},
}

// claimOther claims jobs of another kind and fails the test unless there are so many.
func claimOther(t *testing.T, b Backend, kind string, want int) {
	t.Helper()
	var leases []storage.Lease
	do(t, b, func(ctx context.Context) (err error) {
		leases, err = b.Jobs.Claim(ctx, kind, base, 10, 10, lease)
		return err
	})
	if len(leases) != want {
		t.Errorf("%d jobs of the kind %q were claimed, want %d", len(leases), kind, want)
	}
}
