package storagetest

import (
	"context"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

var jobs = tests{
	"a job is claimed as it was enqueued": func(t *testing.T, open func(*testing.T) Backend) {
		b, want := open(t), unique("k", "g", "u")
		enqueue(t, b, want)
		l := claimOne(t, b, after(5))
		if l.ID == "" || l.Token == "" {
			t.Errorf("a lease without an ID or a token: %+v", l)
		}
		want.ID, want.Attempt = l.ID, 1
		if diff := cmp.Diff(storage.Lease{Job: want, Token: l.Token, Until: after(5).Add(lease)}, l); diff != "" {
			t.Errorf("the lease (-want +got):\n%s", diff)
		}
	},

	"a job may have no payload, and an ID is given to each": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		bare := storage.Job{ID: "mine", Kind: "k", Group: "g", Attempt: 7, Due: base}
		enqueue(t, b, bare, bare)
		leases := claim(t, b, base, 10, 10)
		if len(leases) != 2 || leases[0].ID == leases[1].ID || leases[0].Token == leases[1].Token {
			t.Fatalf("the leases are %+v", leases)
		}
		for _, l := range leases {
			if len(l.Payload) != 0 || l.ID == "mine" || l.Attempt != 1 {
				t.Errorf("the job became %+v", l.Job)
			}
		}
	},

	"a job is not claimed before it is due": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "g", 10))
		claimNone(t, b, after(10).Add(-time.Microsecond))
		claimOne(t, b, after(10))
	},

	"a dropped group is gone, and its leases are lost": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, work("k", "gone", 0), work("k", "gone", 1), work("k", "gone2", 2), work("k2", "gone", 2))
		l := claimOne(t, b, base)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Drop(ctx, "k", "gone") })
		lost(t, b, l)
		if left := claimOne(t, b, after(1000)); left.Group != "gone2" {
			t.Errorf("left is %+v", left.Job)
		}
	},

	"the next is due when it is, or when its lease runs out": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		next := func(want map[string]time.Time) {
			t.Helper()
			due, err := b.Jobs.NextDue(t.Context(), "k", "k2", "none")
			found(t, due, err, want)
		}
		next(map[string]time.Time{})
		enqueue(t, b, work("k", "g", 200), work("k", "h", 10), work("k2", "g", 5), work("another", "g", 0))
		next(map[string]time.Time{"k": after(10), "k2": after(5)})
		l := claimOne(t, b, after(10))
		next(map[string]time.Time{"k": l.Until, "k2": after(5)})
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, after(300)) })
		next(map[string]time.Time{"k": after(200), "k2": after(5)})
		due, err := b.Jobs.NextDue(t.Context())
		found(t, due, err, map[string]time.Time{})
	},

	"what is undone was not enqueued, claimed or finished": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		undone := func(fn func(ctx context.Context) error) {
			t.Helper()
			refused(t, b, errRefused, func(ctx context.Context) error {
				if err := fn(ctx); err != nil {
					return err
				}
				return errRefused
			})
		}
		undone(func(ctx context.Context) error { return b.Jobs.Enqueue(ctx, work("k", "g", 0)) })
		claimNone(t, b, base)
		enqueue(t, b, work("k", "g", 0))
		undone(func(ctx context.Context) error {
			_, err := b.Jobs.Claim(ctx, "k", base, 1, 1, lease)
			return err
		})
		l := claimOne(t, b, base)
		if l.Attempt != 1 {
			t.Errorf("attempt %d", l.Attempt)
		}
		undone(func(ctx context.Context) error { return b.Jobs.Finish(ctx, l) })
		finish(t, b, l)
	},

	"a committed transaction is announced, another is not": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		do(t, b, func(ctx context.Context) error {
			if err := b.Jobs.Enqueue(ctx, work("k", "g", 0), work("k", "g", 0)); err != nil {
				return err
			}
			quiet(t, b)
			return nil
		})
		heard(t, b)
		quiet(t, b)
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Jobs.Enqueue(ctx, work("k", "g", 0)); err != nil {
				return err
			}
			return errRefused
		})
		quiet(t, b)
		for range 3 {
			enqueue(t, b, work("k", "g", 0)) // nobody listens, and nobody waits for that
		}
		heard(t, b)
		l := claim(t, b, base, 1, 1)[0]
		quiet(t, b)
		do(t, b, func(ctx context.Context) error { return b.Jobs.Retry(ctx, l, base) })
		heard(t, b)
	},

	"jobs and leases outlive the process": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		enqueue(t, b, unique("k", "g", "u"), work("k", "h", 10))
		l := claimOne(t, b, base)
		b = b.Reopen(t)
		enqueue(t, b, unique("k", "g", "u"))
		if other := claimOne(t, b, after(10)); other.Group != "h" {
			t.Errorf("claimed %+v", other.Job)
		}
		finish(t, b, l)
	},
}
