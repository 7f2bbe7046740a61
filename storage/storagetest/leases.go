package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var leases = tests{
	"a job under lease is claimed again when the lease has run out": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0))
		first := claimOne(t, b, base)
		claimNone(t, b, first.Until.Add(-time.Microsecond))
		second := claimOne(t, b, first.Until)
		if second.ID != first.ID || second.Attempt != 2 || second.Token == first.Token {
			t.Errorf("claimed as %+v, then as %+v", first, second)
		}
		lost(t, b, first)
		finish(t, b, second)
	},

	"a lease that has run out is good until another is taken": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0))
		l := claimOne(t, b, base) // which ran out long ago
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, after(1)) })
		finish(t, b, claimOne(t, b, after(1)))
		claimNone(t, b, after(1000))
	},

	"a finished job is gone": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0))
		l := claimOne(t, b, base)
		finish(t, b, l)
		claimNone(t, b, after(1000))
		lost(t, b, l)
	},

	"a job that is retried is due at the time given": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0))
		first := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, first, after(3)) })
		lost(t, b, first)
		claimNone(t, b, after(2))
		second := claimOne(t, b, after(3))
		if second.Attempt != 2 || !second.Due.Equal(after(3)) {
			t.Errorf("claimed as %+v", second)
		}
	},

	"a lease that nobody was given is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0), work("k", "h", 0))
		l := claim(t, b, base, 1, 1)[0]
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, base) })
		for _, token := range []string{"", "made up", id("t"), "\x00"} {
			l.Token = token
			lost(t, b, l)
		}
		lost(t, b, storage.Lease{Job: storage.Job{ID: id("none")}, Token: id("t")})
		if n := len(claim(t, b, base, 10, 10)); n != 2 {
			t.Errorf("%d jobs are left", n)
		}
	},

	"several are finished at once, but for those whose lease was lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 0), work("k", "h", 0), work("k", "i", 0))
		leases := claim(t, b, base, 10, 10)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, leases[1], after(3)) })
		made := storage.Lease{Job: storage.Job{ID: "made up"}, Token: "\x00"}
		do(t, b, func(ctx context.Context) error {
			finished, err := b.Jobs.FinishAll(ctx, append(leases, made))
			if diff := cmp.Diff([]bool{true, false, true, false}, finished); diff != "" {
				t.Errorf("finished (-want +got):\n%s", diff)
			}
			return err
		})
		for _, l := range leases {
			lost(t, b, l)
		}
		if left := claimOne(t, b, after(1000)); left.ID != leases[1].ID {
			t.Errorf("left is %+v", left.Job)
		}
		do(t, b, func(ctx context.Context) error {
			finished, err := b.Jobs.FinishAll(ctx, nil)
			if len(finished) != 0 {
				t.Errorf("of none, %v", finished)
			}
			return err
		})
	},
}
