package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var leases = tests{
	"a job is claimed again when its lease has expired": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		first := claimOne(t, b, base)
		claimNone(t, b, first.Until.Add(-time.Microsecond))
		second := claimOne(t, b, first.Until)
		if second.ID != first.ID || second.Attempt != 1 || !second.Interrupted || first.Interrupted || second.Token == first.Token {
			t.Errorf("claimed as %+v, then as %+v", first, second)
		}
		checkLost(t, b, first)
		finish(t, b, second)
	},

	"an expired lease is valid until the job is claimed again": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		l := claimOne(t, b, base) // expired long ago
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, after(1)) })
		finish(t, b, claimOne(t, b, after(1)))
		claimNone(t, b, after(1000))
	},

	"a finished job is deleted": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		l := claimOne(t, b, base)
		finish(t, b, l)
		claimNone(t, b, after(1000))
		checkLost(t, b, l)
	},

	"a job that is retried is due at the time given": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		first := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, first, after(3)) })
		checkLost(t, b, first)
		claimNone(t, b, after(2))
		second := claimOne(t, b, after(3))
		if second.Attempt != 2 || !second.Due.Equal(after(3)) {
			t.Errorf("claimed as %+v", second)
		}
	},

	"a lease that was never given is lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0), exampleJob("k", "h", 0))
		l := claim(t, b, base, 1, 1)[0]
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, base) })
		for _, token := range []string{"", "made up", id("t"), "\x00"} {
			l.Token = token
			checkLost(t, b, l)
		}
		checkLost(t, b, storage.Lease{Job: storage.Job{ID: id("none")}, Token: id("t")})
		if n := len(claim(t, b, base, 10, 10)); n != 2 {
			t.Errorf("%d jobs are left", n)
		}
	},

	"FinishAll finishes the jobs whose leases are held": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0), exampleJob("k", "h", 0), exampleJob("k", "i", 0))
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
			checkLost(t, b, l)
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

	"Extend extends the leases that are held": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0), exampleJob("k", "h", 0), exampleJob("k", "i", 0))
		leases := claim(t, b, base, 10, 10)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, leases[1], after(3)) })
		extended := leases[0].Until.Add(lease)
		made := storage.Lease{Job: storage.Job{ID: "made up"}, Token: "\x00"}
		do(t, b, func(ctx context.Context) error {
			held, err := b.Jobs.Extend(ctx, append(leases[:2:2], made), extended)
			checkRead(t, held, err, []bool{true, false, false})
			none, err := b.Jobs.Extend(ctx, nil, extended)
			if len(none) != 0 {
				t.Errorf("of none, %v", none)
			}
			return err
		})
		finish(t, b, claimOne(t, b, after(3))) // the one that was retried
		due, err := b.Jobs.NextDue(t.Context(), "k")
		checkRead(t, due, err, map[string]time.Time{"k": leases[2].Until})
		if again := claimOne(t, b, extended.Add(-time.Microsecond)); again.ID != leases[2].ID {
			t.Errorf("claimed %+v", again.Job)
		}
		finish(t, b, leases[0])
	},

	"an expired lease is extended unless the job was claimed again": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error {
			held, err := b.Jobs.Extend(ctx, []storage.Lease{l}, l.Until.Add(lease))
			checkRead(t, held, err, []bool{true})
			return err
		})
		claimNone(t, b, l.Until)
		claimOne(t, b, l.Until.Add(lease))
		checkLost(t, b, l)
	},

	"ExpireLeases ends all leases": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, exampleJob("k", "g", 0), exampleJob("k2", "h", 0))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error {
			_, err := b.Jobs.Claim(ctx, "k2", base, 1, 1, lease)
			return err
		})
		b = b.Reopen(t)
		expire := func(seconds int) {
			t.Helper()
			do(t, b, func(ctx context.Context) error { return b.Jobs.ExpireLeases(ctx, after(seconds)) })
		}
		expire(1)
		waitEnqueued(t, b)
		claimNone(t, b, base)
		expire(2) // extends no lease
		if again := claimOne(t, b, after(1)); again.ID != l.ID || again.Attempt != 1 || !again.Interrupted || !again.Due.Equal(base) {
			t.Errorf("claimed %+v", again)
		}
		checkLost(t, b, l)
		do(t, b, func(ctx context.Context) error {
			leases, err := b.Jobs.Claim(ctx, "k2", after(1), 1, 1, lease)
			if len(leases) != 1 {
				t.Errorf("of the other kind, %d jobs were claimed", len(leases))
			}
			return err
		})
	},
}
