package storagetest

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// exampleAttempt has a value in every field. It is an attempt to deliver the event of the name, so many seconds
// after base.
func exampleAttempt(subscription, name string, seconds int) delivery.Attempt {
	return delivery.Attempt{
		Subscription: id(subscription), Event: id(name), Type: "process.completed", Purpose: delivery.ForDelivery,
		Number: 3, At: after(seconds), Duration: 1500*time.Millisecond + 1, Status: 503,
		Failure: delivery.BadStatus, Detail: "Svar með stöðu „503“.\n", Next: after(seconds + 300),
	}
}

// addAttempts adds attempts, each in a transaction of its own.
func addAttempts(t *testing.T, b Backend, attempts ...delivery.Attempt) {
	t.Helper()
	for _, a := range attempts {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.AddAttempt(ctx, a) })
	}
}

// attemptsOf returns the attempts of a subscription.
func attemptsOf(ctx context.Context, t *testing.T, b Backend, subscription string) (list []delivery.Attempt) {
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
	"an attempt is stored with all fields": func(t *testing.T, open func(*testing.T) Backend) {
		b, failure, success := open(t), exampleAttempt("s", "failure", 1), delivery.Attempt{Subscription: id("s"), Event: id("e"), Type: webhook.PingType, Purpose: delivery.ForPing, At: base, Status: 200}
		addAttempts(t, b, failure, success)
		b = b.Reopen(t)
		checkRead(t, attemptsOf(t.Context(), t, b, id("s")), nil, []delivery.Attempt{failure, success})
	},

	"the latest attempt is first; of those with the same time, the last one added": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAttempts(t, b, exampleAttempt("s", "z", 2), exampleAttempt("s", "b", 1), exampleAttempt("other", "x", 5), exampleAttempt("s", "a", 1))
		b = b.Reopen(t)
		addAttempts(t, b, exampleAttempt("s", "c", 1), exampleAttempt("s", "y", 0))
		checkRead(t, attemptsOf(t.Context(), t, b, id("s")), nil, []delivery.Attempt{
			exampleAttempt("s", "z", 2), exampleAttempt("s", "c", 1), exampleAttempt("s", "a", 1), exampleAttempt("s", "b", 1), exampleAttempt("s", "y", 0),
		})
		for _, unknown := range otherIDs("s") {
			checkRead(t, attemptsOf(t.Context(), t, b, unknown), nil, nil)
		}
	},

	"a long list is complete": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const many = 700
		var want []delivery.Attempt
		for i := range many {
			want = append(want, exampleAttempt("s", fmt.Sprint(i), -i/300)) // many have the same time
		}
		do(t, b, func(ctx context.Context) error {
			for i := range many {
				for _, a := range []delivery.Attempt{want[many-1-i], exampleAttempt("r", "x", -i), exampleAttempt("t", "x", -i)} {
					if err := b.Webhooks.AddAttempt(ctx, a); err != nil {
						return err
					}
				}
			}
			return nil
		})
		checkRead(t, attemptsOf(t.Context(), t, b, id("s")), nil, want)
		n := 0
		for a, err := range b.Webhooks.Attempts(t.Context(), id("s")) { // the caller may stop
			checkRead(t, a, err, want[n])
			if n++; n == 300 {
				break
			}
		}
	},

	"the list is read while it changes": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const many = 600
		do(t, b, func(ctx context.Context) error {
			for i := range many {
				if err := b.Webhooks.AddAttempt(ctx, exampleAttempt("s", fmt.Sprint(i), i)); err != nil {
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
			if want := after(many - 1 - n); !a.At.Equal(want) {
				t.Fatalf("the one of %v, want %v", a.At, want)
			}
			if n++; n%100 != 0 {
				continue
			}
			addAttempts(t, b, exampleAttempt("s", "later", many+n))
			do(t, b, func(ctx context.Context) error {
				_, err := b.Webhooks.DeleteAttempts(ctx, after(20), 1)
				return err
			})
		}
		if n < many-20 || n > many {
			t.Errorf("%d of %d were read", n, many)
		}
	},

	"a transaction reads what it added, and a rollback removes it": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAttempts(t, b, exampleAttempt("s", "1", 1))
		rollBack(t, b, func(ctx context.Context) error {
			if err := b.Webhooks.AddAttempt(ctx, exampleAttempt("s", "2", 2)); err != nil {
				return err
			}
			checkRead(t, attemptsOf(ctx, t, b, id("s")), nil, []delivery.Attempt{exampleAttempt("s", "2", 2), exampleAttempt("s", "1", 1)})
			return nil
		})
		checkRead(t, attemptsOf(t.Context(), t, b, id("s")), nil, []delivery.Attempt{exampleAttempt("s", "1", 1)})
	},

	"concurrent transactions add attempts": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers, rounds, each = 8, 5, 10
		concurrently(t, writers, func(int) error {
			return repeat(rounds, func() error {
				return b.InTx(t.Context(), func(ctx context.Context) error {
					return repeat(each, func() error { return b.Webhooks.AddAttempt(ctx, exampleAttempt("s", "a", 0)) })
				})
			})
		})
		if n := len(attemptsOf(t.Context(), t, b, id("s"))); n != writers*rounds*each {
			t.Errorf("%d attempts", n)
		}
	},

	"a list ends with its error": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAttempts(t, b, exampleAttempt("s", "1", 1))
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		n := 0
		for _, err := range b.Webhooks.Attempts(ctx, id("s")) {
			n++
			checkError(t, err, context.Canceled)
		}
		if n != 1 {
			t.Errorf("%d times", n)
		}
	},

	"old attempts are deleted in batches, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addAttempts(t, b, exampleAttempt("r", "3", 3), exampleAttempt("s", "1", 1), exampleAttempt("t", "2", 2))
		checkDeleteBefore(t, b, after(3), b.Webhooks.DeleteAttempts, func() (left []string) {
			for _, subscription := range []string{"s", "t", "r"} {
				for _, a := range attemptsOf(t.Context(), t, b, id(subscription)) {
					left = append(left, a.Event)
				}
			}
			return left
		}, id("1"), id("2"), id("3"))
	},
}

// checkDeleteBefore checks a method that deletes records before a time. There are three records, of which the
// first two are before it.
func checkDeleteBefore(t *testing.T, b Backend, before time.Time, sweep func(ctx context.Context, before time.Time, limit int) (int, error), left func() []string, first, second, third string) {
	t.Helper()
	for _, step := range []struct {
		before  time.Time
		limit   int
		deleted int
		left    []string
	}{
		{before, -1, 0, []string{first, second, third}},
		{before, 0, 0, []string{first, second, third}},
		{before, 1, 1, []string{second, third}},
		{before, 10, 1, []string{third}},
		{before, 10, 0, []string{third}},
		{before.Add(time.Microsecond), 10, 1, nil},
	} {
		n := -1
		do(t, b, func(ctx context.Context) (err error) {
			n, err = sweep(ctx, step.before, step.limit)
			return err
		})
		if n != step.deleted {
			t.Errorf("before %v at most %d: %d were deleted, want %d", step.before, step.limit, n, step.deleted)
		}
		checkRead(t, left(), nil, step.left)
	}
}

// exampleDropped is an event that was dropped for a subscription, so many seconds after base.
func exampleDropped(subscription, event string, seconds int) delivery.Dropped {
	return delivery.Dropped{
		Subscription: id(subscription), Event: id(event), Type: "process.completed", At: after(seconds),
		Body: []byte("{ \"b\":1.50, \"a\":\"<Þór> \\u00fe\" }\n\x00\xff"),
	}
}

func addDropped(t *testing.T, b Backend, list ...delivery.Dropped) {
	t.Helper()
	for _, d := range list {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.AddDropped(ctx, d) })
	}
}

// checkDropped fails the test unless the events of a subscription are those wanted, in this order and without
// their bodies.
func checkDropped(t *testing.T, b Backend, subscription string, want ...delivery.Dropped) {
	t.Helper()
	got, err := b.Webhooks.Dropped(t.Context(), subscription)
	checkRead(t, got, err, withoutBodies(want))
}

func withoutBodies(all []delivery.Dropped) []delivery.Dropped {
	all = slices.Clone(all)
	for i := range all {
		all[i].Body = nil
	}
	return all
}

var droppedEvents = tests{
	"the events of a subscription are in the order in which they were dropped": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, other := exampleDropped("s", "c", 1), exampleDropped("s", "b", 2), exampleDropped("s", "a", 2), exampleDropped("other", "c", 0)
		addDropped(t, b, second, other, first, third)
		b = b.Reopen(t)
		checkDropped(t, b, id("s"), first, second, third)
		checkDropped(t, b, id("other"), other)
		for _, unknown := range otherIDs("s") {
			checkDropped(t, b, unknown)
		}
	},

	"an event that is dropped again is stored once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, again := exampleDropped("s", "1", 1), exampleDropped("s", "2", 2), exampleDropped("s", "1", 3)
		again.Type, again.Body = "participant.signed", []byte("another")
		addDropped(t, b, first, second, again)
		checkDropped(t, b, id("s"), second, again)
	},

	"an event is removed by its subscription and ID": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, other := exampleDropped("s", "1", 1), exampleDropped("s", "2", 2), exampleDropped("other", "1", 1)
		addDropped(t, b, first, second, other)
		remove := func(subscription, event string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				got, err := b.Webhooks.RemoveDropped(ctx, subscription, event)
				if err == nil {
					checkRead(t, got, err, first)
				}
				return err
			}
		}
		do(t, b, remove(first.Subscription, first.Event))
		doFailing(t, b, storage.ErrNotFound, remove(first.Subscription, first.Event))
		for _, unknown := range otherIDs("2") {
			doFailing(t, b, storage.ErrNotFound, remove(id("s"), unknown))
			doFailing(t, b, storage.ErrNotFound, remove(unknown, id("2")))
		}
		checkDropped(t, b, id("s"), second)
		checkDropped(t, b, id("other"), other)
	},

	"old events are deleted in batches, the earliest first": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		addDropped(t, b, exampleDropped("s", "3", 3), exampleDropped("s", "1", 1), exampleDropped("s", "2", 2))
		checkDeleteBefore(t, b, after(3), b.Webhooks.DeleteDropped, func() (left []string) {
			list, err := b.Webhooks.Dropped(t.Context(), id("s"))
			for _, d := range list {
				left = append(left, d.Event)
			}
			checkError(t, err, nil)
			return left
		}, id("1"), id("2"), id("3"))
	},
}
