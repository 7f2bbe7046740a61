package delivery

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Attempts is the log of a subscription, the latest attempt first, as far back as Sweep has left it.
func (s *Service) Attempts(ctx context.Context, subscription string) iter.Seq2[Attempt, error] {
	return func(yield func(Attempt, error) bool) {
		for a, err := range s.store.Attempts(ctx, subscription) {
			if !yield(a, fault("reading the log", err)) {
				return
			}
		}
	}
}

// Dropped are the events that were given up for a subscription, in the order in which they were,
// without their bodies: there are people in these.
func (s *Service) Dropped(ctx context.Context, subscription string) ([]Dropped, error) {
	list, err := s.store.Dropped(ctx, subscription)
	return list, fault("reading dropped events", err)
}

// SendAgain has an event that was given up sent once more, from the first attempt on, under the same
// webhook-id. [ErrNotFound], [ErrInactive].
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
		delivery, err := target{to.ID, to.Generation}.delivery(again.Event, again.Type, string(again.Body), s.now(ctx))
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

// sweepAtOnce is how many records of a sort one transaction removes.
const sweepAtOnce = 1000

// Sweep removes a bounded number of attempts and dropped events from before the time given, and of
// keys that have ended, and says how many.
func (s *Service) Sweep(ctx context.Context, before time.Time) (int, error) {
	removed := 0
	for _, remove := range []func(context.Context, time.Time, int) (int, error){s.store.DeleteAttempts, s.store.DeleteDropped} {
		n := 0
		err := s.tx.InTx(ctx, func(ctx context.Context) (err error) {
			n, err = remove(ctx, before, sweepAtOnce)
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

// OldestDue says since when, or from when on, the delivery is due that is due first; the zero time
// when there is none.
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
