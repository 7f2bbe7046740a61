package delivery

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

const (
	pingEvery  = time.Hour       // about (spec 5.6)
	pingJitter = 3 * time.Minute // so that endpoints activated together are not called together
	askAgain   = 5 * time.Minute // after a failure (spec 5.6)
	failLimit  = 72 * time.Hour  // of pings that all fail (spec 5.6)
)

// ping sends one ping with an ID of its own, notes it in the log, and says what came of it. The
// error is the store's.
func (s *Service) ping(ctx context.Context, to Subscription, purpose Purpose, verifiable bool) (Attempt, error) {
	made, err := s.sendPing(ctx, to, purpose, verifiable)
	if err != nil {
		return Attempt{}, err
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.addAttempt(ctx, made); err != nil || !verifiable || made.Failure != "" {
			return err
		}
		return s.answered(ctx, to)
	})
	return made, fault("noting a ping", err)
}

// addAttempt adds a ping to the log, unless its subscription was deleted while it was sent. It joins the transaction, in which
// the subscription then stays.
func (s *Service) addAttempt(ctx context.Context, made Attempt) error {
	_, err := s.store.Subscription(ctx, made.Subscription)
	switch {
	case errors.Is(err, storage.ErrNotFound):
		return nil
	case err != nil:
		return err
	}
	return s.store.AddAttempt(ctx, made)
}

// sendPing sends a ping. Pings are alike but for their ID and time, and for the signatures of those
// that cannot verify.
func (s *Service) sendPing(ctx context.Context, to Subscription, purpose Purpose, verifiable bool) (Attempt, error) {
	body, err := encode(webhook.PingType, s.now(ctx), struct{}{})
	if err != nil {
		return Attempt{}, err
	}
	return s.send(ctx, to, outgoing{purpose: purpose, id: uuid.NewString(), eventType: webhook.PingType, body: body, verifiable: verifiable})
}

// answered notes that a ping went well that was sent on the side: not every ping has failed.
func (s *Service) answered(ctx context.Context, to Subscription) error {
	if to.FailingSince.IsZero() {
		return nil
	}
	is, ok, err := s.still(ctx, to.ID, to.Generation)
	if err != nil || !ok {
		return err
	}
	was := is
	is.FailingSince = time.Time{}
	return s.save(ctx, was, is)
}

// doPing sends the hourly ping.
func (s *Service) doPing(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	return s.doRound(ctx, job, ForPing, func(was Subscription, _ time.Time, made Attempt) outcome {
		is := was.pinged(made, job.Due)
		switch {
		case !is.Active:
			return outcome{is: is, since: was.FailingSince}
		case made.Failure != "":
			return outcome{is: is, since: is.FailingSince, next: made.At.Add(askAgain)}
		default:
			return outcome{is: is, next: nextPing(made.At)}
		}
	})
}

// pinged is an active subscription after a ping that was due at the time given. One that comes more
// than an hour late begins the three days anew: nobody has pinged meanwhile, because the service was
// down itself.
func (s Subscription) pinged(a Attempt, due time.Time) Subscription {
	switch {
	case a.Failure == "":
		s.FailingSince = time.Time{}
	case s.FailingSince.IsZero() || a.At.Sub(due) > pingEvery:
		s.FailingSince = a.At
	case a.At.Sub(s.FailingSince) >= failLimit:
		s = s.switchedOff(PingsFailed, a.At)
	}
	return s
}

// nextPing is when the ping after one that went well is due.
func nextPing(at time.Time) time.Time {
	return instant(at.Add(pingEvery - pingJitter + rand.N(2*pingJitter)))
}
