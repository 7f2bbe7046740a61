package sealed

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"time"

	"github.com/innsigli/innsigli/webhook/delivery"
)

const (
	subscriptionSecret kind = "webhook subscription"
	signingKey         kind = "webhook key"
)

// Webhooks is a store in which the secrets of subscriptions and the private keys that sign are
// sealed.
func Webhooks(store delivery.Store, keys *Keys) delivery.Store { return webhooks{store, keys} }

// webhooks embeds no store either.
type webhooks struct {
	store delivery.Store
	keys  *Keys
}

var _ delivery.Store = webhooks{}

func (s webhooks) CreateSubscription(ctx context.Context, sub delivery.Subscription, limit int) error {
	return s.store.CreateSubscription(ctx, s.sealed(sub), limit)
}

func (s webhooks) UpdateSubscription(ctx context.Context, sub delivery.Subscription) error {
	return s.store.UpdateSubscription(ctx, s.sealed(sub))
}

func (s webhooks) DeleteSubscription(ctx context.Context, id string) error {
	return s.store.DeleteSubscription(ctx, id)
}

func (s webhooks) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	return s.opened(s.store.Subscription(ctx, id))
}

// Subscriptions leaves out secrets that do not open: what is listed to be shown, or to see whom an
// event goes to, is not to fail because of one of them.
func (s webhooks) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	list, err := s.store.Subscriptions(ctx, account)
	for i, sub := range list {
		list[i].Secret, _ = s.keys.open(subscriptionSecret, sub.ID, sub.Secret)
	}
	return list, err
}

func (s webhooks) sealed(sub delivery.Subscription) delivery.Subscription {
	sub.Secret = s.keys.seal(subscriptionSecret, sub.ID, sub.Secret)
	return sub
}

func (s webhooks) opened(sub delivery.Subscription, err error) (delivery.Subscription, error) {
	if err != nil {
		return sub, err
	}
	if sub.Secret, err = s.keys.open(subscriptionSecret, sub.ID, sub.Secret); err != nil {
		return delivery.Subscription{}, err
	}
	return sub, nil
}

func (s webhooks) CreateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.store.CreateKey(ctx, s.sealedKey(k))
}

func (s webhooks) UpdateKey(ctx context.Context, k delivery.SigningKey) error {
	return s.store.UpdateKey(ctx, s.sealedKey(k))
}

func (s webhooks) Keys(ctx context.Context) ([]delivery.SigningKey, error) {
	list, err := s.store.Keys(ctx)
	if err != nil {
		return nil, err
	}
	return s.keys.OpenSigningKeys(list)
}

func (s webhooks) DeleteKey(ctx context.Context, number int) error {
	return s.store.DeleteKey(ctx, number)
}

func (s webhooks) sealedKey(k delivery.SigningKey) delivery.SigningKey {
	k.Private = s.keys.seal(signingKey, strconv.Itoa(k.Number), k.Private)
	return k
}

// OpenSigningKeys opens keys that are as a store has them. [ErrKey], [ErrDamaged].
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

func (s webhooks) AddAttempt(ctx context.Context, a delivery.Attempt) error {
	return s.store.AddAttempt(ctx, a)
}

func (s webhooks) Attempts(ctx context.Context, subscription string) iter.Seq2[delivery.Attempt, error] {
	return s.store.Attempts(ctx, subscription)
}

func (s webhooks) DeleteAttempts(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DeleteAttempts(ctx, before, limit)
}

func (s webhooks) DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (int, error) {
	return s.store.DeleteAttemptsOf(ctx, subscription, limit)
}

func (s webhooks) AddDropped(ctx context.Context, d delivery.Dropped) error {
	return s.store.AddDropped(ctx, d)
}

func (s webhooks) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	return s.store.Dropped(ctx, subscription)
}

func (s webhooks) RemoveDropped(ctx context.Context, subscription, event string) (delivery.Dropped, error) {
	return s.store.RemoveDropped(ctx, subscription, event)
}

func (s webhooks) DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error) {
	return s.store.DeleteDropped(ctx, before, limit)
}
