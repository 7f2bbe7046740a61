package delivery

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Store stores subscriptions, what is sent to them, and the keys that sign. Methods that write join the transaction
// of their context. Times are whole microseconds in UTC.
type Store interface {
	// CreateSubscription creates a subscription, unless its account has limit of them or more: then the error is
	// [ErrTooMany], also for concurrent calls. storage.ErrExists: the ID is taken.
	CreateSubscription(ctx context.Context, s Subscription, limit int) error
	// UpdateSubscription replaces a subscription; storage.ErrNotFound.
	UpdateSubscription(ctx context.Context, s Subscription) error
	// DeleteSubscription removes a subscription; storage.ErrNotFound.
	DeleteSubscription(ctx context.Context, id string) error
	// Subscription returns a subscription; storage.ErrNotFound.
	Subscription(ctx context.Context, id string) (Subscription, error)
	// Subscriptions returns the subscriptions of an account in the order of their creation.
	Subscriptions(ctx context.Context, account string) ([]Subscription, error)

	// AddAttempt adds an attempt to the log.
	AddAttempt(ctx context.Context, a Attempt) error
	// Attempts returns the attempts of a subscription, the latest first. Of attempts at the same time, the one that
	// was added last comes first. Attempts that are added or deleted during the iteration may be in it or not.
	Attempts(ctx context.Context, subscription string) iter.Seq2[Attempt, error]
	// DeleteAttempts deletes at most limit attempts from before the given time, the earliest first, and returns
	// their number.
	DeleteAttempts(ctx context.Context, before time.Time, limit int) (int, error)
	// DeleteAttemptsOf removes up to limit attempts of a subscription and returns how many.
	DeleteAttemptsOf(ctx context.Context, subscription string, limit int) (int, error)

	// AddDropped adds a dropped event, or replaces the one of the same subscription and event.
	AddDropped(ctx context.Context, d Dropped) error
	// Dropped returns the dropped events of a subscription in the order in which they were dropped, without their
	// bodies.
	Dropped(ctx context.Context, subscription string) ([]Dropped, error)
	// RemoveDropped deletes a dropped event and returns it; storage.ErrNotFound.
	RemoveDropped(ctx context.Context, subscription, event string) (Dropped, error)
	// DeleteDropped is like DeleteAttempts, by the time at which events were dropped.
	DeleteDropped(ctx context.Context, before time.Time, limit int) (int, error)

	// CreateKey adds a key; storage.ErrExists if its number is taken.
	CreateKey(ctx context.Context, k SigningKey) error
	// UpdateKey replaces the key with that number; storage.ErrNotFound.
	UpdateKey(ctx context.Context, k SigningKey) error
	// Keys returns all keys by their numbers. Keys that are read in a transaction do not change until it ends.
	Keys(ctx context.Context) ([]SigningKey, error)
	// DeleteKey removes the key of that number; storage.ErrNotFound.
	DeleteKey(ctx context.Context, number int) error
}

// Purpose is what a request is made for.
type Purpose string

const (
	ForDelivery   Purpose = "delivery"
	ForPing       Purpose = "ping"
	ForCheck      Purpose = "check"      // signed so that it cannot verify; 401 is right
	ForActivation Purpose = "activation" // a ping
	ForTest       Purpose = "test"       // a ping
)

// Attempt is a request as the log stores it.
type Attempt struct {
	Subscription string
	Event        string // the webhook-id
	Type         string // of the event
	Purpose      Purpose
	Number       int       // of the attempt, from 1; 0 for a ping or check
	At           time.Time // when the attempt began
	Duration     time.Duration
	Status       int       // of the answer, or 0 if there was none
	Failure      Failure   // empty if the attempt succeeded
	Detail       string    // a sentence about the failure, without personal data
	Next         time.Time // when the next attempt is due, or zero
}

// Dropped is an event whose last attempt failed (spec 5.7).
type Dropped struct {
	Subscription string
	Event        string // the webhook-id
	Type         string
	At           time.Time // when it was dropped
	Body         []byte    // of its requests
}

// SigningKey is a key of v1a. All keys that have not ended sign, so that receivers need to know only one of them
// (spec 5.5).
type SigningKey struct {
	Number    int    // from 1, without gaps
	Public    []byte // 32 bytes
	Private   []byte // the seed of RFC 8032, 32 bytes
	CreatedAt time.Time
	EndsAt    time.Time // zero for the latest key
}

// Attempts returns the log of a subscription, the latest attempt first, without those that Sweep deleted.
func (s *Service) Attempts(ctx context.Context, subscription string) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		for a, err := range s.store.Attempts(ctx, subscription) {
			if !yield(a, fault("reading the log", err)) {
				return
			}
		}
	}
}

// Dropped returns the events that were dropped for a subscription, in that order, without their bodies, which may
// contain personal data.
func (s *Service) Dropped(ctx context.Context, subscription string) ([]Dropped, error) {
	list, err := s.store.Dropped(ctx, subscription)
	return list, fault("reading dropped events", err)
}

// SendAgain enqueues a dropped event again, from the first attempt on, with the same webhook-id. Errors:
// [ErrNotFound], [ErrInactive].
func (s *Service) SendAgain(ctx context.Context, subscription, event string) error {
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		to, err := s.store.Subscription(ctx, subscription)
		if err != nil {
			return err
		}
		if !to.Active {
			return ErrInactive
		}
		again, err := s.store.RemoveDropped(ctx, subscription, event)
		if err != nil {
			return err
		}
		delivery, err := target{to.ID, to.Generation}.delivery(payload{Event: again.Event, Type: again.Type, Body: string(again.Body)}, s.now(ctx))
		if err != nil {
			return err
		}
		return s.enqueue(ctx, delivery)
	})
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return ErrNotFound
	case err == nil || errors.Is(err, ErrInactive):
		return err
	}
	return fault("sending event "+event+" again", err)
}

// sweepBatch is how many records of a kind one transaction deletes.
const sweepBatch = 1000

// Sweep deletes a bounded number of attempts and dropped events from before the given time, and the keys that have
// ended. It returns the number of records deleted.
func (s *Service) Sweep(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	for _, remove := range []func(context.Context, time.Time, int) (int, error){s.store.DeleteAttempts, s.store.DeleteDropped} {
		n := 0
		err := s.tx.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = remove(ctx, before, sweepBatch)
			return err
		})
		if err != nil {
			return removed, fault("sweeping", err)
		}
		removed += n
	}
	n, err := s.sweepKeys(ctx, s.now(ctx))
	return removed + n, err
}

// OldestDue returns the earliest time at which a delivery is due, which may be in the past or in the future, and the
// zero time if there is none.
func (s *Service) OldestDue(ctx context.Context) (oldest time.Time, err error) {
	all, err := s.jobs.NextDue(ctx, eventKind, deliveryKind, retryKind)
	if err != nil {
		return time.Time{}, fault("reading when a delivery is due", err)
	}
	for _, due := range all {
		if oldest.IsZero() || due.Before(oldest) {
			oldest = due
		}
	}
	return oldest, nil
}
