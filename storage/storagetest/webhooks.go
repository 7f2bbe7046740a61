package storagetest

import (
	"cmp"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// exampleSubscription has a value in every field.
func exampleSubscription(name string) delivery.Subscription {
	return delivery.Subscription{
		ID: id(name), Account: id("a"), URL: "https://þór.example/" + name + "?漢=字#", EventTypes: []string{"process.completed", "participant.signed"},
		Active: true, Reason: delivery.PingsFailed, CreatedAt: base, UpdatedAt: after(1),
		Secret: []byte{0, 1, 255, 'a'}, Generation: 7, ActivatedAt: after(2), FailingSince: after(3), AlertedAt: after(4),
	}
}

// manySubscriptions is a limit that no test reaches.
const manySubscriptions = 100

func addSubscriptions(t *testing.T, b Backend, list ...delivery.Subscription) {
	t.Helper()
	for _, s := range list {
		do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateSubscription(ctx, s, manySubscriptions) })
	}
}

// checkSubscriptions fails the test unless an account's subscriptions are those wanted, in this order.
func checkSubscriptions(t *testing.T, b Backend, account string, want ...delivery.Subscription) {
	t.Helper()
	got, err := b.Webhooks.Subscriptions(t.Context(), account)
	checkRead(t, got, err, want)
}

var subscriptions = recordType[delivery.Subscription]{
	examples: goldenExamples().subscriptions,
	changed: func(s delivery.Subscription) delivery.Subscription {
		return delivery.Subscription{ID: s.ID, Account: s.Account, URL: "https://other.example", EventTypes: []string{"participant.declined"}, CreatedAt: s.CreatedAt, UpdatedAt: after(9), Secret: []byte{2}, Generation: 8}
	},
	others: withOtherIDs("s", func(s *delivery.Subscription, id string) { s.ID = id }),
	get: func(ctx context.Context, b Backend, s delivery.Subscription) (delivery.Subscription, error) {
		return b.Webhooks.Subscription(ctx, s.ID)
	},
	add: func(ctx context.Context, b Backend, s delivery.Subscription) error {
		return b.Webhooks.CreateSubscription(ctx, s, manySubscriptions)
	},
	update: func(ctx context.Context, b Backend, s delivery.Subscription) error {
		return b.Webhooks.UpdateSubscription(ctx, s)
	},
	remove: func(ctx context.Context, b Backend, s delivery.Subscription) error {
		return b.Webhooks.DeleteSubscription(ctx, s.ID)
	},
	continues: true, unknown: storage.ErrNotFound,
}.and(tests{
	"subscriptions are listed in the order of their creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		want := []delivery.Subscription{exampleSubscription("c"), exampleSubscription("a"), exampleSubscription("b")}
		elsewhere := exampleSubscription("elsewhere")
		elsewhere.Account = id("a") + "0"
		addSubscriptions(t, b, want[0], elsewhere, want[1])
		b = b.Reopen(t)
		addSubscriptions(t, b, want[2])
		checkSubscriptions(t, b, id("a"), want...)
		checkSubscriptions(t, b, elsewhere.Account, elsewhere)
	},

	"an ID is unique over all accounts": func(t *testing.T, open func(*testing.T) Backend) {
		b, s := open(t), exampleSubscription("s")
		refused := s
		refused.Account = id("b")
		addSubscriptions(t, b, s)
		do(t, b, func(ctx context.Context) error {
			checkError(t, b.Webhooks.CreateSubscription(ctx, refused, manySubscriptions), storage.ErrExists)
			return nil
		})
		checkSubscriptions(t, b, id("a"), s)
		checkSubscriptions(t, b, id("b"))
	},

	"updating replaces and keeps the order of creation": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		changed, other := exampleSubscription("s"), exampleSubscription("other")
		addSubscriptions(t, b, changed, other)
		changed.URL, changed.EventTypes, changed.Secret = "https://other.example", []string{"participant.declined"}, []byte{2}
		changed.Active, changed.Reason, changed.Generation, changed.UpdatedAt = false, "", 8, after(9)
		changed.ActivatedAt, changed.FailingSince, changed.AlertedAt = time.Time{}, time.Time{}, time.Time{}
		do(t, b, func(ctx context.Context) error { return b.Webhooks.UpdateSubscription(ctx, changed) })
		checkSubscriptions(t, b, id("a"), changed, other)
	},

	"an account has at most the limit, and the transaction goes on": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		first, second, third := exampleSubscription("1"), exampleSubscription("2"), exampleSubscription("3")
		elsewhere := exampleSubscription("elsewhere")
		elsewhere.Account = id("b")
		addSubscriptions(t, b, first)
		do(t, b, func(ctx context.Context) error {
			for _, limit := range []int{-1, 0, 1} {
				checkError(t, b.Webhooks.CreateSubscription(ctx, second, limit), delivery.ErrTooMany)
			}
			checkError(t, b.Webhooks.CreateSubscription(ctx, second, 2), nil)
			checkError(t, b.Webhooks.CreateSubscription(ctx, third, 2), delivery.ErrTooMany)
			return b.Webhooks.CreateSubscription(ctx, elsewhere, 1)
		})
		checkSubscriptions(t, b, id("a"), first, second)
		do(t, b, func(ctx context.Context) error {
			return errors.Join(b.Webhooks.DeleteSubscription(ctx, first.ID), b.Webhooks.CreateSubscription(ctx, third, 2))
		})
		checkSubscriptions(t, b, id("a"), second, third)
	},

	"concurrent transactions keep the limit": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const limit, each, writers = 5, 3, 8
		var added, refused atomic.Int64
		concurrently(t, writers, func(i int) error {
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
		list, err := b.Webhooks.Subscriptions(t.Context(), id("a"))
		if err != nil || len(list) != limit || added.Load() != limit || refused.Load() != writers*each-limit {
			t.Errorf("%d subscriptions, %d were added and %d refused, error %v", len(list), added.Load(), refused.Load(), err)
		}
	},
})

// otherIDs returns IDs that are not the one of the name, though some resemble it.
func otherIDs(name string) []string {
	return []string{"", name, id(name)[1:], id(name) + "0", id("unknown"), "\x00", "\xff", "þ"}
}

// exampleKey has a value in every field.
func exampleKey(number int) delivery.SigningKey {
	return delivery.SigningKey{Number: number, Public: []byte{0, byte(number)}, Private: []byte{255, 0, byte(number)}, CreatedAt: after(number), EndsAt: after(number + 1)}
}

// checkKeys fails the test unless the keys are those wanted.
func checkKeys(t *testing.T, b Backend, want ...delivery.SigningKey) {
	t.Helper()
	got, err := b.Webhooks.Keys(t.Context())
	checkRead(t, got, err, want)
}

var signingKeys = recordType[delivery.SigningKey]{
	examples: goldenExamples().keys,
	changed: func(k delivery.SigningKey) delivery.SigningKey {
		return delivery.SigningKey{Number: k.Number, Public: []byte{1}, Private: []byte{2}, CreatedAt: after(5)}
	},
	others: func(k delivery.SigningKey) (all []delivery.SigningKey) {
		for _, k.Number = range []int{0, -1, 3, 10} {
			all = append(all, k)
		}
		return all
	},
	get: func(ctx context.Context, b Backend, k delivery.SigningKey) (delivery.SigningKey, error) {
		all, err := b.Webhooks.Keys(ctx)
		for _, one := range all {
			if one.Number == k.Number {
				return one, err
			}
		}
		return delivery.SigningKey{}, cmp.Or(err, storage.ErrNotFound)
	},
	add:    func(ctx context.Context, b Backend, k delivery.SigningKey) error { return b.Webhooks.CreateKey(ctx, k) },
	update: func(ctx context.Context, b Backend, k delivery.SigningKey) error { return b.Webhooks.UpdateKey(ctx, k) },
	remove: func(ctx context.Context, b Backend, k delivery.SigningKey) error {
		return b.Webhooks.DeleteKey(ctx, k.Number)
	},
	continues: true, unknown: storage.ErrNotFound,
}.and(tests{
	"keys are stored with all fields, and listed by number": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		checkKeys(t, b)
		latest := exampleKey(300)
		latest.EndsAt = time.Time{}
		want := []delivery.SigningKey{exampleKey(1), exampleKey(2), exampleKey(10), latest}
		for _, i := range []int{2, 0, 3, 1} {
			do(t, b, func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, want[i]) })
		}
		b = b.Reopen(t)
		checkKeys(t, b, want...)
	},

	"one of several concurrent transactions adds the first key": func(t *testing.T, open func(*testing.T) Backend) {
		b := open(t)
		const writers = 8
		added := make(chan delivery.SigningKey, writers)
		var group errgroup.Group
		for i := range writers {
			k := exampleKey(1)
			k.Public = []byte{byte(i)}
			group.Go(func() error {
				err := b.InTx(t.Context(), func(ctx context.Context) error { return b.Webhooks.CreateKey(ctx, k) })
				if err == nil {
					added <- k
					return nil
				}
				checkError(t, err, storage.ErrExists)
				return nil
			})
		}
		group.Wait()
		if len(added) != 1 {
			t.Fatalf("%d keys were added", len(added))
		}
		checkKeys(t, b, <-added)
	},
})
