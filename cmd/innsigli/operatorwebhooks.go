package main

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

// webhookOperator is what an operator's commands do with webhooks.
type webhookOperator interface {
	// Subscriptions are those of an account, without their secrets.
	Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error)
	// Attempts are those of a subscription, the latest first and at most so many.
	Attempts(ctx context.Context, subscription string, most int) ([]delivery.Attempt, error)
	// Dropped are the events that were given up for a subscription.
	Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error)
	// SendAgain has one of them sent again.
	SendAgain(ctx context.Context, subscription, event string) error
	// WebhookKeys are the keys that sign now; none before a server has started on the store.
	WebhookKeys(ctx context.Context) ([]publicKey, error)
	// SealedKeys are all keys as the store has them: sealed with the master key.
	SealedKeys(ctx context.Context) ([]delivery.SigningKey, error)
	// RotateWebhookKey makes another key, beside which those before it sign for as long as
	// overlap says. It is sealed with the first key of the file, or by the server.
	RotateWebhookKey(ctx context.Context, masterKey string, overlap time.Duration) error
}

// publicKey is a key that signs webhooks, as those may know it who verify them.
type publicKey struct {
	Number    int
	CreatedAt time.Time
	EndsAt    time.Time // zero: it is the latest
	Line      string    // in OpenSSH's format
}

// hooks is the server's service, or one on what the store keeps: secrets stay sealed in it, and
// nothing is to be stored with it that has one.
func (d direct) hooks() *delivery.Service {
	if d.webhooks != nil {
		return d.webhooks
	}
	return delivery.New(d.db.Webhooks(), d.db, d.db.Jobs(), delivery.Options{})
}

// Subscriptions implements [operator].
func (d direct) Subscriptions(ctx context.Context, owner string) ([]delivery.Subscription, error) {
	if _, err := d.Account(ctx, owner); errors.Is(err, account.ErrNotFound) {
		return nil, noAccount(owner)
	} else if err != nil {
		return nil, err
	}
	list, err := d.hooks().Subscriptions(ctx, owner)
	for i := range list {
		list[i].Secret = nil
	}
	return list, err
}

// Attempts implements [operator].
func (d direct) Attempts(ctx context.Context, subscription string, most int) (list []delivery.Attempt, err error) {
	for a, err := range d.hooks().Attempts(ctx, subscription) {
		if err != nil {
			return nil, err
		}
		if list = append(list, a); len(list) == most {
			break
		}
	}
	if list == nil { // of one that was deleted the log stays for a while
		err = d.mustHave(ctx, subscription)
	}
	return list, err
}

// Dropped implements [operator].
func (d direct) Dropped(ctx context.Context, subscription string) ([]delivery.Dropped, error) {
	list, err := d.hooks().Dropped(ctx, subscription)
	if err == nil && len(list) == 0 {
		err = d.mustHave(ctx, subscription)
	}
	return list, err
}

func (d direct) mustHave(ctx context.Context, subscription string) error {
	_, err := d.db.Webhooks().Subscription(ctx, subscription)
	if errors.Is(err, storage.ErrNotFound) {
		return fmt.Errorf("there is no subscription %q", subscription)
	}
	return err
}

// SendAgain implements [operator].
func (d direct) SendAgain(ctx context.Context, subscription, event string) error {
	err := d.hooks().SendAgain(ctx, subscription, event)
	switch {
	case errors.Is(err, delivery.ErrNotFound):
		return fmt.Errorf("event %q was not given up for subscription %q, or is not kept any more", event, subscription)
	case errors.Is(err, delivery.ErrInactive):
		return fmt.Errorf("subscription %s is not active", subscription)
	}
	return err
}

// WebhookKeys implements [operator].
func (d direct) WebhookKeys(ctx context.Context) (list []publicKey, err error) {
	if stored, err := d.SealedKeys(ctx); err != nil || len(stored) == 0 {
		return nil, err
	}
	keys, err := d.hooks().Keys(ctx)
	if err != nil {
		return nil, err
	}
	for _, k := range keys {
		line, err := k.PublicLine()
		if err != nil {
			return nil, err
		}
		list = append(list, publicKey{k.Number, k.CreatedAt, k.EndsAt, line})
	}
	return list, nil
}

// SealedKeys implements [operator].
func (d direct) SealedKeys(ctx context.Context) ([]delivery.SigningKey, error) {
	return d.db.Webhooks().Keys(ctx)
}

// RotateWebhookKey implements [operator].
func (d direct) RotateWebhookKey(ctx context.Context, masterKey string, overlap time.Duration) error {
	hooks := d.webhooks
	if hooks == nil {
		keys, err := sealed.ReadFile(masterKey)
		if err != nil {
			return fmt.Errorf("--master-key-file: %w", err)
		}
		hooks = delivery.New(sealed.Webhooks(d.db.Webhooks(), keys), d.db, d.db.Jobs(), delivery.Options{})
	}
	_, err := hooks.RotateKey(ctx, overlap)
	return err
}
