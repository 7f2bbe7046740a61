package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// Create adds a subscription, which is inactive. Its Secret is not readable again for its owner.
// [*InvalidError], [ErrTooMany]; or an error that wraps that of [Options].CheckAccount.
func (s *Service) Create(ctx context.Context, account, url string, eventTypes []string) (Subscription, error) {
	if err := refusal(append(s.urlFaults(url), s.typeFaults(eventTypes)...)); err != nil {
		return Subscription{}, err
	}
	now := s.now(ctx)
	made := Subscription{
		ID: uuid.NewString(), Account: account, URL: url, EventTypes: distinct(eventTypes),
		CreatedAt: now, UpdatedAt: now, Secret: make([]byte, webhook.SecretSize),
	}
	rand.Read(made.Secret)
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.store.CreateSubscription(ctx, made, s.options.MaxSubscriptions); err != nil {
			return err
		}
		if check := s.options.CheckAccount; check != nil { // accounts are locked after subscriptions
			return check(ctx, account)
		}
		return nil
	})
	if err != nil {
		return Subscription{}, fault("creating the subscription", err)
	}
	return made, nil
}

// Subscriptions are those of an account in the order of their creation.
func (s *Service) Subscriptions(ctx context.Context, account string) ([]Subscription, error) {
	list, err := s.store.Subscriptions(ctx, account)
	if err != nil {
		return nil, fault("reading subscriptions", err)
	}
	return list, nil
}

// Subscription is one of an account; [ErrNotFound].
func (s *Service) Subscription(ctx context.Context, account, id string) (Subscription, error) {
	found, err := s.store.Subscription(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && found.Account != account {
		return Subscription{}, ErrNotFound
	}
	if err != nil {
		return Subscription{}, fault("reading the subscription", err)
	}
	return found, nil
}

// Update changes a subscription, all of the change or nothing of it. What makes it inactive also
// drops what was to be sent to it. [*InvalidError], [ErrNotFound], [ErrActivate].
func (s *Service) Update(ctx context.Context, account, id string, c Change) (updated Subscription, err error) {
	if err := s.Validate(c.URL, c.EventTypes); err != nil {
		return Subscription{}, err
	}
	now := s.now(ctx)
	err = s.change(ctx, account, id, func(ctx context.Context, was Subscription) error {
		if c.Active != nil && *c.Active {
			return ErrActivate
		}
		updated = was.changed(c, now)
		return s.save(ctx, was, updated)
	})
	return updated, err
}

// Delete removes a subscription and what was to be sent to it, also one whose secret cannot be read;
// [ErrNotFound].
func (s *Service) Delete(ctx context.Context, account, id string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		list, err := s.Subscriptions(ctx, account)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(one Subscription) bool { return one.ID == id }) {
			return ErrNotFound
		}
		err = errors.Join(s.drop(ctx, id), s.store.DeleteSubscription(ctx, id))
		if errors.Is(err, storage.ErrNotFound) { // by another call
			return ErrNotFound
		}
		return err
	})
	return fault("deleting the subscription", err)
}

// change calls f with an account's subscription in a transaction in which nobody else changes it.
func (s *Service) change(ctx context.Context, account, id string, f func(context.Context, Subscription) error) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		was, err := s.Subscription(ctx, account, id)
		if err != nil {
			return err
		}
		return f(ctx, was)
	})
	return fault("changing the subscription", err)
}

// save stores what became of a subscription. One of another generation has nothing in the queue
// that was begun for the one before.
func (s *Service) save(ctx context.Context, was, is Subscription) error {
	if is.Generation != was.Generation {
		if err := s.drop(ctx, is.ID); err != nil {
			return err
		}
	}
	return fault("storing the subscription", s.store.UpdateSubscription(ctx, is))
}

// instant is a time as it is stored.
func instant(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }
