package operator

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// PublicKey is the public half of a key that signs webhooks.
type PublicKey struct {
	Number    int
	CreatedAt time.Time
	EndsAt    time.Time // zero: it is the latest
	Line      string    // in OpenSSH's format
}

// hooks returns the server's service, or one on what the store keeps: secrets stay sealed in that one, and
// it stores nothing that has one.
func (s *Service) hooks() *delivery.Service {
	if s.options.Webhooks != nil {
		return s.options.Webhooks
	}
	return delivery.New(s.store.Webhooks(), s.store, s.store.Jobs(), delivery.Options{})
}

// Subscriptions implements [Operator].
func (s *Service) Subscriptions(ctx context.Context, owner string) ([]delivery.Subscription, error) {
	if _, err := s.Account(ctx, owner); errors.Is(err, account.ErrNotFound) {
		return nil, noAccount(owner)
	} else if err != nil {
		return nil, err
	}
	list, err := s.hooks().Subscriptions(ctx, owner)
	for i := range list {
		list[i].Secret = nil
	}
	return list, err
}

// Attempts implements [Operator].
func (s *Service) Attempts(ctx context.Context, subscription string, most int) (list []delivery.Attempt, err error) {
	for a, err := range s.hooks().Attempts(ctx, subscription) {
		if err != nil {
			return nil, err
		}
		if list = append(list, a); len(list) == most {
			break
		}
	}
	if list == nil { // of one that was deleted the log stays for a while
		err = s.mustHave(ctx, subscription)
	}
	return list, err
}

// Dropped implements [Operator].
func (s *Service) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	list, err := s.hooks().Dropped(ctx, subscription)
	if err == nil && len(list) == 0 {
		err = s.mustHave(ctx, subscription)
	}
	return list, err
}

func (s *Service) mustHave(ctx context.Context, subscription string) error {
	_, err := s.store.Webhooks().Subscription(ctx, subscription)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no subscription %q", subscription)
	}
	return err
}

// SendAgain implements [Operator].
func (s *Service) SendAgain(ctx context.Context, subscription, event string) error {
	err := s.hooks().SendAgain(ctx, subscription, event)
	switch {
	case errors.Is(err, delivery.ErrNotFound):
		return fmt.Errorf("event %q was not dropped for subscription %q, or is no longer stored", event, subscription)
	case errors.Is(err, delivery.ErrInactive):
		return fmt.Errorf("subscription %s is not active: activate it first", subscription)
	}
	return err
}

// WebhookKeys implements [Operator].
func (s *Service) WebhookKeys(ctx context.Context) (list []PublicKey, err error) {
	if stored, err := s.SealedKeys(ctx); err != nil || len(stored) == 0 {
		return nil, err
	}
	keys, err := s.hooks().Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		line, err := k.PublicLine()
		if err != nil {
			return nil, err
		}
		list = append(list, PublicKey{k.Number, k.CreatedAt, k.EndsAt, line})
	}
	return list, nil
}

// SealedKeys implements [Operator].
func (s *Service) SealedKeys(ctx context.Context) ([]delivery.SigningKey, error) {
	return s.store.Webhooks().Keys(ctx)
}

// RotateWebhookKey implements [Operator].
func (s *Service) RotateWebhookKey(ctx context.Context, masterKeyFile string, overlap time.Duration) error {
	hooks := s.options.Webhooks
	if hooks == nil {
		keys, err := sealed.ReadFile(masterKeyFile)
		if err != nil {
			return fmt.Errorf("--master-key-file: %w", err)
		}
		hooks = delivery.New(sealed.Webhooks(s.store.Webhooks(), keys), s.store, s.store.Jobs(), delivery.Options{})
	}
	_, err := hooks.RotateKey(ctx, overlap)
	return err
}
