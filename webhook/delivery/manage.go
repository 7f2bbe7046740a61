package delivery

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// Create creates an inactive subscription. Its Secret is not shown again to its owner. Errors: [*InvalidError],
// [ErrTooMany], and one that wraps the error of [Options].CheckAccount.
func (s *Service) Create(ctx context.Context, account, url string, eventTypes []string) (Subscription, error) {
	if err := invalidError(append(s.urlFaults(url), s.typeFaults(eventTypes)...)); err != nil {
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

// Subscriptions returns the subscriptions of an account in the order of their creation.
func (s *Service) Subscriptions(ctx context.Context, account string) ([]Subscription, error) {
	list, err := s.store.Subscriptions(ctx, account)
	if err != nil {
		return nil, fault("reading subscriptions", err)
	}
	return list, nil
}

// Subscription returns a subscription of an account. Error: [ErrNotFound].
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

// Update makes all of a change or, if it returns an error, nothing of it. A change that makes a subscription
// inactive also drops its queued deliveries. Errors: [*InvalidError], [ErrNotFound], [ErrActivate].
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

// Delete deletes a subscription and its queued deliveries, also if its secret cannot be read. Error: [ErrNotFound].
func (s *Service) Delete(ctx context.Context, account, id string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		list, err := s.Subscriptions(ctx, account)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(list, func(one Subscription) bool { return one.ID == id }) {
			return ErrNotFound
		}
		err = errors.Join(s.dropJobs(ctx, id), s.store.DeleteSubscription(ctx, id))
		if errors.Is(err, storage.ErrNotFound) { // by another call
			return ErrNotFound
		}
		return err
	})
	return fault("deleting the subscription", err)
}

// change calls f with a subscription of an account, in a transaction that excludes other changes of it.
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

// save stores a changed subscription. If its generation changed, save drops the jobs of the generation before.
func (s *Service) save(ctx context.Context, was, is Subscription) error {
	if is.Generation != was.Generation {
		if err := s.dropJobs(ctx, is.ID); err != nil {
			return err
		}
	}
	return fault("storing the subscription", s.store.UpdateSubscription(ctx, is))
}

// storedTime returns a time with the precision with which it is stored.
func storedTime(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// InvalidError reports a URL or event types that are not valid.
type InvalidError struct {
	Faults []Fault // at least one
}

// Fault is what is wrong with a field.
type Fault struct {
	Field   string // "url", "eventTypes" or "eventTypes[0]"
	Message string // a sentence
}

func (e *InvalidError) Error() string {
	var list []string
	for _, f := range e.Faults {
		list = append(list, f.Field+": "+f.Message)
	}
	return "webhook: " + strings.Join(list, " ")
}

// Validate checks a URL and event types as Update does. It ignores nil. Error: [*InvalidError].
func (s *Service) Validate(url *string, eventTypes []string) error {
	var faults []Fault
	if url != nil {
		faults = s.urlFaults(*url)
	}
	if eventTypes != nil {
		faults = append(faults, s.typeFaults(eventTypes)...)
	}
	return invalidError(faults)
}

// invalidError returns the error for the faults, or nil if there are none.
func invalidError(faults []Fault) error {
	if faults == nil {
		return nil
	}
	return &InvalidError{faults}
}

func (s *Service) urlFaults(url string) []Fault {
	if fault := checkURL(url, s.options.Endpoints.AllowPrivate); fault != "" {
		return []Fault{{"url", fault}}
	}
	return nil
}

func (s *Service) typeFaults(eventTypes []string) (faults []Fault) {
	if len(eventTypes) == 0 {
		return []Fault{{"eventTypes", "At least one is required."}}
	}
	for i, t := range eventTypes {
		if !slices.Contains(s.options.EventTypes, t) {
			faults = append(faults, Fault{fmt.Sprintf("eventTypes[%d]", i), "Must be one of: " + strings.Join(s.options.EventTypes, ", ") + "."})
		}
	}
	return faults
}
