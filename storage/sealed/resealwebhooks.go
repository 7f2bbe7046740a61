package sealed

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// ResealWebhooks seals with the first key the secrets of the subscriptions in a list and the keys
// that sign, as far as they are sealed with another, or not at all, and says how many there were.
// store is the backend's own, and the list has all of its subscriptions.
//
// Several servers may do it at once, and while others serve.
func ResealWebhooks(ctx context.Context, tx storage.Transactor, store delivery.Store, list iter.Seq2[delivery.Subscription, error], keys *Keys) (n int, err error) {
	s := webhooks{store, keys}
	n, err = s.resealKeys(ctx, tx)
	if err != nil {
		return n, fmt.Errorf("sealing the keys of webhooks with the first master key: %w", err)
	}
	more, err := s.resealSubscriptions(ctx, tx, list)
	if err != nil {
		err = fmt.Errorf("sealing the secrets of webhooks with the first master key: %w", err)
	}
	return n + more, err
}

func (s webhooks) resealKeys(ctx context.Context, tx storage.Transactor) (n int, err error) {
	err = tx.InTx(ctx, func(ctx context.Context) error {
		n = 0
		list, err := s.store.Keys(ctx)
		if err != nil {
			return err
		}
		for _, k := range list {
			if s.keys.current(k.Private) {
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

// resealSubscriptions takes a transaction for each, so that it holds up nobody.
func (s webhooks) resealSubscriptions(ctx context.Context, tx storage.Transactor, list iter.Seq2[delivery.Subscription, error]) (n int, err error) {
	for sub, err := range list {
		if err != nil {
			return n, err
		}
		if s.keys.current(sub.Secret) {
			continue
		}
		err := tx.InTx(ctx, func(ctx context.Context) error {
			now, err := s.Subscription(ctx, sub.ID)
			if err != nil {
				return err
			}
			return s.UpdateSubscription(ctx, now)
		})
		if errors.Is(err, storage.ErrNotFound) {
			continue // it was deleted meanwhile
		}
		if err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}
