package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// attempt has something in every field. It was of the event of that name, so many seconds after base.
func attempt(subscription, name string, seconds int) delivery.Attempt {
	return delivery.Attempt{
		Subscription: id(subscription), Event: id(name), Type: "process.completed", Purpose: delivery.ForDelivery,
		Number: 3, At: after(seconds), Duration: 1500*time.Millisecond + 1, Status: 503,
		Failure: delivery.BadStatus, Detail: "Svar með stöðu „503“.\n", Next: after(seconds + 300),
	}
}

// try adds attempts, each in a transaction of its own.
func try(t *testing.T, b Backend, attempts ...delivery.Attempt) {
	t.Helper()
	for _, a := range attempts {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.AddAttempt(ctx, a) })
	}
}

// attempted are the attempts of a subscription.
func attempted(ctx context.Context, t *testing.T, b Backend, subscription string) (list []delivery.Attempt) {
	t.Helper()
	for a, err := range b.Webhooks.Attempts(ctx, subscription) {
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, a)
	}
	return list
}

var webhookAttempts = tests{
	"an attempt is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, failure, success := open(t), attempt("s", "failure", 1), delivery.Attempt{Subscription: id("s"), Event: id("e"), Type: webhook.PingType, Purpose: delivery.ForPing, At: base, Status: 200}
		try(t, b, failure, success)
		b = b.Reopen(t)
		found(t, attempted(t.Context(), t, b, id("s")), nil, []delivery.Attempt{failure, success})
	},

	"the latest is first, and of those at the same time the last that was added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		try(t, b, attempt("s", "z", 2), attempt("s", "b", 1), attempt("other", "x", 5), attempt("s", "a", 1))
		b = b.Reopen(t)
		try(t, b, attempt("s", "c", 1), attempt("s", "y", 0))
		found(t, attempted(t.Context(), t, b, id("s")), nil, []delivery.Attempt{
			attempt("s", "z", 2), attempt("s", "c", 1), attempt("s", "a", 1), attempt("s", "b", 1), attempt("s", "y", 0),
		})
		for _, unknown := range unknowns("s") {
			found(t, attempted(t.Context(), t, b, unknown), nil, nil)
		}
	},

	"a long log has no gap": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const many = 700
		var want []delivery.Attempt
		for i := range many {
			want = append(want, attempt("s", fmt.Sprint(i), -i/300)) // most at the same time as others
		}
		do(t, b, func(ctx context.Context) error {
			for i := range many {
				for _, a := range []delivery.Attempt{want[many-1-i], attempt("r", "x", -i), attempt("t", "x", -i)} {
					if err := b.Webhooks.AddAttempt(ctx, a); err != nil {
						return err
					}
				}
			}
			return nil
		})
		found(t, attempted(t.Context(), t, b, id("s")), nil, want)
		n := 0
		for a, err := range b.Webhooks.Attempts(t.Context(), id("s")) { // a reader may stop
			found(t, a, err, want[n])
			if n++; n == 300 {
				break
			}
		}
	},

	"the log is read while it changes": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const kept = 600
		do(t, b, func(ctx context.Context) error {
			for i := range kept {
				if err := b.Webhooks.AddAttempt(ctx, attempt("s", fmt.Sprint(i), i)); err != nil {
					return err
				}
			}
			return nil
		})
		n := 0
		for a, err := range b.Webhooks.Attempts(t.Context(), id("s")) {
			if err != nil {
				t.Fatal(err)
			}
			if want := after(kept - 1 - n); !a.At.Equal(want) {
				t.Fatalf("the one of %v, want %v", a.At, want)
			}
			if n++; n%100 != 0 {
				continue
			}
			try(t, b, attempt("s", "later", kept+n))
			do(t, b, func(ctx context.Context) error {
				_, err := b.Webhooks.DeleteAttempts(ctx, after(20), 1)
				return err
			})
		}
		if n < kept-20 || n > kept {
			t.Errorf("%d of %d were read", n, kept)
		}
	},

	"a transaction reads what it added, and what is undone was not added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		try(t, b, attempt("s", "1", 1))
		refused(t, b, errRefused, func(ctx context.Context) error {
			if err := b.Webhooks.AddAttempt(ctx, attempt("s", "2", 2)); err != nil {
				return err
			}
			found(t, attempted(ctx, t, b, id("s")), nil, []delivery.Attempt{attempt("s", "2", 2), attempt("s", "1", 1)})
			return errRefused
		})
		found(t, attempted(t.Context(), t, b, id("s")), nil, []delivery.Attempt{attempt("s", "1", 1)})
	},

	"several add at once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers, rounds, each = 8, 5, 10
		var group errgroup.Group
		for range writers {
			group.Go(func() error {
				return repeat(rounds, func() error {
					return b.InTx(t.Context(), func(ctx context.Context) error {
						return repeat(each, func() error { return b.Webhooks.AddAttempt(ctx, attempt("s", "a", 0)) })
					})
				})
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		if n := len(attempted(t.Context(), t, b, id("s"))); n != writers*rounds*each {
			t.Errorf("%d attempts", n)
		}
	},

	"a list ends with its error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		try(t, b, attempt("s", "1", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range b.Webhooks.Attempts(ctx, id("s")) {
			n++
			failed(t, err, context.Canceled)
		}
		if n != 1 {
			t.Errorf("%d times", n)
		}
	},

	"those of before are deleted, the earliest first and so many at a time": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		try(t, b, attempt("r", "3", 3), attempt("s", "1", 1), attempt("t", "2", 2))
		sweepBefore(t, b, after(3), b.Webhooks.DeleteAttempts, func() (left []string) {
			for _, subscription := range []string{"s", "t", "r"} {
				for _, a := range attempted(t.Context(), t, b, id(subscription)) {
					left = append(left, a.Event)
				}
			}
			return left
		}, id("1"), id("2"), id("3"))
	},
}
