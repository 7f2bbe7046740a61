package sealed

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

const (
	subscriptionSecret kind = "webhook subscription"
	signingKey         kind = "webhook key"
)

// Webhooks returns a store that seals the secrets of subscriptions and the private signing keys.
func Webhooks(store delivery.Store, keys *Keys) delivery.Store { return webhookStore{store, keys} }

type webhookStore struct {
	store delivery.Store
	keys  *Keys
}

var _ delivery.Store = webhookStore{}

func (s webhookStore) CreateSubscription(ctx context.Context, sub delivery.Subscription, limit int) error {
	return s.store.CreateSubscription(ctx, s.seal(sub), limit)
}

func (s webhookStore) UpdateSubscription(ctx context.Context, sub delivery.Subscription) error {
	return s.store.UpdateSubscription(ctx, s.seal(sub))
}

func (s webhookStore) DeleteSubscription(ctx context.Context, id string) error {
	return s.store.DeleteSubscription(ctx, id)
}

func (s webhookStore) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	return s.open(s.store.Subscription(ctx, id))
}

// Subscriptions drops secrets that do not open, so that one subscription does not prevent listing the others, or
// finding the subscriptions of an event.
func (s webhookStore) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	list, err := s.store.Subscriptions(ctx, account)
	for i, sub := range list {
		list[i].Secret, _ = s.keys.open(subscriptionSecret, sub.ID, sub.Secret)
	}
	return list, err
}

func (s webhookStore) seal(sub delivery.Subscription) delivery.Subscription {
	sub.Secret = s.keys.seal(subscriptionSecret, sub.ID, sub.Secret)
	return sub
}

func (s webhookStore) open(sub delivery.Subscription, err error) (delivery.Subscription, error) {
	if err != nil {
		return sub, err
	}
	if sub.Secret, err = s.keys.open(subscriptionSecret, sub.ID, sub.Secret); err != nil {
		return delivery.Subscription{}, err
	}
	return sub, nil
}

func (s webhookStore) CreateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.store.CreateKey(ctx, s.sealKey(k))
}

func (s webhookStore) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.store.UpdateKey(ctx, s.sealKey(k))
}

func (s webhookStore) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	list, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return s.keys.OpenSigningKeys(list)
}

func (s webhookStore) DeleteKey(ctx context.Context, number int) error {
	return s.store.DeleteKey(ctx, number)
}

func (s webhookStore) sealKey(k delivery.SigningKey) delivery.SigningKey {
	k.Private = s.keys.seal(signingKey, strconv.Itoa(k.Number), k.Private)
	return k
}

// OpenSigningKeys opens signing keys that were read from a backend's store. Errors: [ErrKey], [ErrDamaged].
func (k *Keys) OpenSigningKeys(stored []delivery.SigningKey) ([]delivery.SigningKey, error) {
	opened := slices.Clone(stored)
	for i, one := range stored {
		var err error
		if opened[i], err = k.openSigningKey(one); err != nil {
			return nil, err
		}
	}
	return opened, nil
}

func (k *Keys) openSigningKey(one delivery.SigningKey) (delivery.SigningKey, error) {
	private, err := k.open(signingKey, strconv.Itoa(one.Number), one.Private)
	if err != nil {
		return delivery.SigningKey{}, err
	}
	one.Private = private
	return one, nil
}

func (s webhookStore) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return s.store.AddAttempt(ctx, a)
}

func (s webhookStore) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	return s.store.Attempts(ctx, subscription)
}

func (s webhookStore) DeleteAttempts(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DeleteAttempts(ctx, before, limit)
}

func (s webhookStore) DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (int, error) {
	return s.store.DeleteAttemptsOf(ctx, subscription, limit)
}

func (s webhookStore) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return s.store.AddDropped(ctx, d)
}

func (s webhookStore) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	return s.store.Dropped(ctx, subscription)
}

func (s webhookStore) RemoveDropped(ctx context.Context, subscription, event string) (delivery.Dropped, error) {
	return s.store.RemoveDropped(ctx, subscription, event)
}

func (s webhookStore) DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DeleteDropped(ctx, before, limit)
}

// ResealWebhooks seals the secrets of the subscriptions in list and the signing keys with the first key, where they
// are sealed with another key, and returns how many it sealed. store is the backend's store, and list
// has all of its subscriptions.
//
// Several servers may call it at the same time, and while other servers are running.
func ResealWebhooks(ctx context.Context, tx storage.Transactor, store delivery.Store, list iter.Seq2[delivery.Subscription, error], keys *Keys) (n int, err error) {
	s := webhookStore{store, keys}
	n, err = s.resealKeys(ctx, tx)
	if err != nil {
		return n, fmt.Errorf("encrypting the keys of webhooks with the first master key: %w", err)
	}
	more, err := s.resealSubscriptions(ctx, tx, list)
	if err != nil {
		err = fmt.Errorf("encrypting the secrets of webhooks with the first master key: %w", err)
	}
	return n + more, err
}

func (s webhookStore) resealKeys(ctx context.Context, tx storage.Transactor) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		list, err := s.store.Keys(ctx)
		if err != nil {
			return err
		}
		for _, k := range list {
			if s.keys.isCurrent(k.Private) {
				continue
			}
			if k, err = s.keys.openSigningKey(k); err != nil {
				return err
			}
			if err := s.UpdateKey(ctx, k); err != nil {
				return err
			}
			n++
		}
		return nil
	})
	return n, err
}

// resealSubscriptions uses a short transaction for each subscription, so that it does not block other writers.
func (s webhookStore) resealSubscriptions(ctx context.Context, tx storage.Transactor, list iter.Seq2[delivery.Subscription, error]) (n int, err error) {
	for sub, err := range list {
		if err != nil {
			return n, err
		}
		if s.keys.isCurrent(sub.Secret) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			sub, err := s.Subscription(ctx, sub.ID) // again, in the transaction
			if err != nil {
				return err
			}
			return s.UpdateSubscription(ctx, sub)
		})
		if errors.Is(err, storage.ErrNotFound) || errors.Is(err, ErrPlain) {
			continue // deleted meanwhile, or reported
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
