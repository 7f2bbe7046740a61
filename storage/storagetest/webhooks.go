package storagetest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// exampleSubscription has something in every field.
func exampleSubscription(name string) delivery.Subscription {
	return delivery.Subscription{
		ID: id(name), Account: id("a"), URL: "https://þór.example/" + name + "?漢=字#", EventTypes: []string{"process.completed", "participant.signed"},
		Active: true, Reason: delivery.PingsFailed, CreatedAt: base, UpdatedAt: after(1),
		Secret: []byte{0, 1, 255, 'a'}, Generation: 7, ActivatedAt: after(2), FailingSince: after(3), AlertedAt: after(4),
	}
}

// manySubscriptions is a limit that no test comes to.
const manySubscriptions = 100

func subscribe(t *testing.T, b Backend, list ...delivery.Subscription) {
	t.Helper()
	for _, s := range list {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateSubscription(ctx, s, manySubscriptions) })
	}
}

// subscribed fails the test unless an account's subscriptions are those wanted, in this order.
func subscribed(t *testing.T, b Backend, account string, want ...delivery.Subscription) {
	t.Helper()
	got, err := b.Webhooks.Subscriptions(t.Context(), account)
	found(t, got, err, want)
}

var subscriptions = tests{
	"a subscription is kept whole": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), exampleSubscription("s")
		fresh := delivery.Subscription{ID: id("fresh"), Account: id("a"), URL: "https://x.example", EventTypes: []string{"e"}, CreatedAt: base, UpdatedAt: base, Secret: []byte{1}}
		subscribe(t, b, s, fresh)
		b = b.Reopen(t)
		for _, want := range []delivery.Subscription{s, fresh} {
			got, err := b.Webhooks.Subscription(t.Context(), want.ID)
			found(t, got, err, want)
		}
		subscribed(t, b, id("a"), s, fresh)
	},

	"an unknown subscription is not found": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		subscribe(t, b, exampleSubscription("s"))
		for _, unknown := range unknowns("s") {
			_, err := b.Webhooks.Subscription(t.Context(), unknown)
			failed(t, err, storage.ErrNotFound)
			refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Webhooks.DeleteSubscription(ctx, unknown) })
			s := exampleSubscription("s")
			s.ID = unknown
			refused(t, b, storage.ErrNotFound, func(ctx context.Context) error { return b.Webhooks.UpdateSubscription(ctx, s) })
			subscribed(t, b, unknown)
		}
		subscribed(t, b, id("a"), exampleSubscription("s"))
	},

	"subscriptions are listed in the order of their creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []delivery.Subscription{exampleSubscription("c"), exampleSubscription("a"), exampleSubscription("b")}
		elsewhere := exampleSubscription("elsewhere")
		elsewhere.Account = id("a") + "0"
		subscribe(t, b, want[0], elsewhere, want[1])
		b = b.Reopen(t)
		subscribe(t, b, want[2])
		subscribed(t, b, id("a"), want...)
		subscribed(t, b, elsewhere.Account, elsewhere)
	},

	"updating replaces and keeps the order of creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		changed, other := exampleSubscription("s"), exampleSubscription("other")
		subscribe(t, b, changed, other)
		changed.URL, changed.EventTypes, changed.Secret = "https://other.example", []string{"participant.declined"}, []byte{2}
		changed.Active, changed.Reason, changed.Generation, changed.UpdatedAt = false, "", 8, after(9)
		changed.ActivatedAt, changed.FailingSince, changed.AlertedAt = time.Time{}, time.Time{}, time.Time{}
		do(t, b, func(ctx context.Context) error { return b.Webhooks.UpdateSubscription(ctx, changed) })
		subscribed(t, b, id("a"), changed, other)
	},

	"one that was deleted is gone, and its ID is free": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		s, other := exampleSubscription("s"), exampleSubscription("other")
		subscribe(t, b, s, other)
		remove := func(ctx context.Context) error { return b.Webhooks.DeleteSubscription(ctx, s.ID) }
		do(t, b, remove)
		_, err := b.Webhooks.Subscription(t.Context(), s.ID)
		failed(t, err, storage.ErrNotFound)
		refused(t, b, storage.ErrNotFound, remove)
		subscribe(t, b, s)
		subscribed(t, b, id("a"), other, s)
	},

	"an ID is taken once, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), exampleSubscription("s")
		subscribe(t, b, s)
		again, other := s, exampleSubscription("other")
		again.Account = id("b")
		do(t, b, func(ctx context.Context) error {
			failed(t, b.Webhooks.CreateSubscription(ctx, again, manySubscriptions), storage.ErrExists)
			return b.Webhooks.CreateSubscription(ctx, other, manySubscriptions)
		})
		subscribed(t, b, id("a"), s, other)
		subscribed(t, b, id("b"))
	},

	"an account has no more than the limit, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := exampleSubscription("1"), exampleSubscription("2"), exampleSubscription("3")
		elsewhere := exampleSubscription("elsewhere")
		elsewhere.Account = id("b")
		subscribe(t, b, first)
		do(t, b, func(ctx context.Context) error {
			for _, limit := range []int{-1, 0, 1} {
				failed(t, b.Webhooks.CreateSubscription(ctx, second, limit), delivery.ErrTooMany)
			}
			failed(t, b.Webhooks.CreateSubscription(ctx, second, 2), nil)
			failed(t, b.Webhooks.CreateSubscription(ctx, third, 2), delivery.ErrTooMany)
			return b.Webhooks.CreateSubscription(ctx, elsewhere, 1)
		})
		subscribed(t, b, id("a"), first, second)
		do(t, b, func(ctx context.Context) error {
			return errors.Join(b.Webhooks.DeleteSubscription(ctx, first.ID), b.Webhooks.CreateSubscription(ctx, third, 2))
		})
		subscribed(t, b, id("a"), second, third)
	},

	"the limit holds when several are added at once": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const limit, each, writers = 5, 3, 8
		var added, refused atomic.Int64
		var group errgroup.Group
		for i := range writers {
			group.Go(func() error {
				for j := range each {
					s := exampleSubscription(string(rune('a'+i)) + string(rune('a'+j)))
					err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Webhooks.CreateSubscription(ctx, s, limit) })
					switch {
					case err == nil:
						added.Add(1)
					case errors.Is(err, delivery.ErrTooMany):
						refused.Add(1)
					default:
						return err
					}
				}
				return nil
			})
		}
		if err := group.Wait(); err != nil {
			t.Fatal(err)
		}
		list, err := b.Webhooks.Subscriptions(t.Context(), id("a"))
		if err != nil || len(list) != limit || added.Load() != limit || refused.Load() != writers*each-limit {
			t.Errorf("%d subscriptions, %d were added and %d refused, error %v", len(list), added.Load(), refused.Load(), err)
		}
	},
}

// unknowns are IDs that are not the one of that name, though some resemble it.
func unknowns(name string) []string {
	return []string{"", name, id(name)[1:], id(name) + "0", id("unknown"), "\x00", "\xff", "þ"}
}
