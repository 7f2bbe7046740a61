package storagetest

import (
	"context"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// sweepBefore fails the test unless what is there goes by its time: three, of which the first two
// are of before.
func sweepBefore(t *testing.T, b Backend, before time.Time, sweep func(ctx context.Context, before time.Time, limit int) (int, error), left func() []string, first, second, third string) {
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
			t.Errorf("before %v at most %d: %d went, want %d", step.before, step.limit, n, step.deleted)
		}
		found(t, left(), nil, step.left)
	}
}

// givenUp is an event that was given up for a subscription, so many seconds after base.
func givenUp(subscription, event string, seconds int) delivery.Dropped {
	return delivery.Dropped{
		Subscription: id(subscription), Event: id(event), Type: "process.completed", At: after(seconds),
		Body: []byte("{ \"b\":1.50, \"a\":\"<Þór> \\u00fe\" }\n\x00\xff"),
	}
}

func giveUp(t *testing.T, b Backend, list ...delivery.Dropped) {
	t.Helper()
	for _, d := range list {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.AddDropped(ctx, d) })
	}
}

// dropped fails the test unless those of a subscription are the ones wanted, in this order and without their bodies.
func dropped(t *testing.T, b Backend, subscription string, want ...delivery.Dropped) {
	t.Helper()
	got, err := b.Webhooks.Dropped(t.Context(), subscription)
	found(t, got, err, withoutBodies(want))
}

func withoutBodies(all []delivery.Dropped) []delivery.Dropped {
	all = slices.Clone(all)
	for i := range all {
		all[i].Body = nil
	}
	return all
}

var droppedEvents = tests{
	"those of a subscription are in the order in which they were given up": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third, other := givenUp("s", "c", 1), givenUp("s", "b", 2), givenUp("s", "a", 2), givenUp("other", "c", 0)
		giveUp(t, b, second, other, first, third)
		b = b.Reopen(t)
		dropped(t, b, id("s"), first, second, third)
		dropped(t, b, id("other"), other)
		for _, unknown := range unknowns("s") {
			dropped(t, b, unknown)
		}
	},

	"one that is given up again is there once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, again := givenUp("s", "1", 1), givenUp("s", "2", 2), givenUp("s", "1", 3)
		again.Type, again.Body = "participant.signed", []byte("another")
		giveUp(t, b, first, second, again)
		dropped(t, b, id("s"), second, again)
	},

	"one is removed by its subscription and its event": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, other := givenUp("s", "1", 1), givenUp("s", "2", 2), givenUp("other", "1", 1)
		giveUp(t, b, first, second, other)
		remove := func(subscription, event string) func(ctx context.Context) error {
			return func(ctx context.Context) error {
				got, err := b.Webhooks.RemoveDropped(ctx, subscription, event)
				if err == nil {
					found(t, got, err, first)
				}
				return err
			}
		}
		do(t, b, remove(first.Subscription, first.Event))
		refused(t, b, storage.ErrNotFound, remove(first.Subscription, first.Event))
		for _, unknown := range unknowns("2") {
			refused(t, b, storage.ErrNotFound, remove(id("s"), unknown))
			refused(t, b, storage.ErrNotFound, remove(unknown, id("2")))
		}
		dropped(t, b, id("s"), second)
		dropped(t, b, id("other"), other)
	},

	"those of before are deleted, the earliest first and so many at a time": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		giveUp(t, b, givenUp("s", "3", 3), givenUp("s", "1", 1), givenUp("s", "2", 2))
		sweepBefore(t, b, after(3), b.Webhooks.DeleteDropped, func() (left []string) {
			list, err := b.Webhooks.Dropped(t.Context(), id("s"))
			for _, d := range list {
				left = append(left, d.Event)
			}
			failed(t, err, nil)
			return left
		}, id("1"), id("2"), id("3"))
	},
}
