package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook"
)

// ping sends a ping with a new ID, stores the attempt in the log, and returns it. The error is one of the store.
func (s *Service) ping(ctx context.Context, to Subscription, purpose Purpose, verifiable bool) (Attempt, error) {
	made, err := s.sendPing(ctx, to, purpose, verifiable)
	if err != nil {
		return Attempt{}, err
	}
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		if err := s.addAttempt(ctx, made); err != nil || !verifiable || made.failed() {
			return err
		}
		return s.clearFailing(ctx, to)
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

// sendPing sends a ping. Pings differ only in their IDs and times, and in the signatures of those that cannot
// verify.
func (s *Service) sendPing(ctx context.Context, to Subscription, purpose Purpose, verifiable bool) (Attempt, error) {
	body, err := encodeBody(webhook.PingType, s.now(ctx), struct{}{})
	if err != nil {
		return Attempt{}, err
	}
	return s.send(ctx, to, message{purpose: purpose, id: uuid.NewString(), eventType: webhook.PingType, body: body, verifiable: verifiable})
}

// clearFailing records that a ping outside the schedule succeeded, so that not all pings have failed.
func (s *Service) clearFailing(ctx context.Context, to Subscription) error {
	if to.FailingSince.IsZero() {
		return nil
	}
	is, ok, err := s.activeSubscription(ctx, to.ID, to.Generation)
	if err != nil || !ok {
		return err
	}
	was := is
	is.FailingSince = time.Time{}
	return s.save(ctx, was, is)
}

// doPing sends the hourly ping.
func (s *Service) doPing(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	return s.doProbe(ctx, job, ForPing, func(was Subscription, _ time.Time, made Attempt) outcome {
		is := was.afterPing(made, job.Due)
		switch {
		case !is.Active:
			return outcome{is: is, since: was.FailingSince}
		case made.failed():
			return outcome{is: is, since: is.FailingSince, next: made.At.Add(retryInterval)}
		default:
			return outcome{is: is, next: nextPing(made.At)}
		}
	})
}

// An active subscription has one job that pings it and one that checks it. Each enqueues the next one. In the
// payload of a check, At is when an outage of the endpoint began.

// outcome is the result of a ping or check.
type outcome struct {
	is    Subscription // after the request
	since time.Time    // when the failure began that admins are alerted about; zero: there is none
	next  time.Time    // when the next job is due; there is none for a subscription that was switched off
}

// scheduleProbes enqueues the first ping and check of an active subscription (spec 5.6).
func (s *Service) scheduleProbes(ctx context.Context, active Subscription, now time.Time) error {
	return errors.Join(
		s.enqueueProbe(ctx, pingKind, active, outcome{next: nextPing(now)}),
		s.enqueueProbe(ctx, checkKind, active, outcome{next: nextCheck(now)}))
}

func (s *Service) enqueueProbe(ctx context.Context, kind string, to Subscription, o outcome) error {
	job, err := withPayload(
		storage.Job{Kind: kind, Group: to.ID, Unique: to.ID, Due: o.next},
		payload{Generation: to.Generation, At: o.since})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// doProbe sends the ping or check of a job. judge determines the outcome from the subscription at the time of the
// transaction that stores it, because its owner or another server may have changed it during the request.
func (s *Service) doProbe(ctx context.Context, job storage.Job, purpose Purpose, judge func(was Subscription, since time.Time, made Attempt) outcome) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	to, ok, err := s.activeSubscription(ctx, job.Group, p.Generation)
	if err != nil || !ok {
		return nil, err
	}
	made, err := s.sendPing(ctx, to, purpose, purpose != ForCheck)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		was, ok, err := s.activeSubscription(ctx, to.ID, p.Generation)
		if err != nil {
			return err
		}
		if !ok {
			return s.addAttempt(ctx, made)
		}
		return s.finishProbe(ctx, job.Kind, was, made, judge(was, p.At, made))
	}, nil
}

// finishProbe stores the outcome of a ping or check, and enqueues the next one.
func (s *Service) finishProbe(ctx context.Context, kind string, was Subscription, made Attempt, o outcome) error {
	if made.failed() {
		made.Next = o.next
	}
	is, err := s.scheduleAlert(ctx, o.is, o.since, made.At)
	if err != nil {
		return err
	}
	if err := errors.Join(s.store.AddAttempt(ctx, made), s.save(ctx, was, is)); err != nil || !is.Active {
		return err
	}
	return s.enqueueProbe(ctx, kind, is, o)
}

// activeSubscription returns a subscription. ok reports whether it exists, is active, and has the given generation.
func (s *Service) activeSubscription(ctx context.Context, id string, generation int) (is Subscription, ok bool, err error) {
	is, err = s.store.Subscription(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return Subscription{}, false, nil
	}
	return is, err == nil && is.Active && is.Generation == generation, fault("reading the subscription", err)
}

// doCheck sends a security check. 401 passes it, and 2xx fails it. Any other result is an outage of the endpoint,
// and the check is repeated (spec 5.6).
func (s *Service) doCheck(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	return s.doProbe(ctx, job, ForCheck, func(was Subscription, since time.Time, made Attempt) outcome {
		switch {
		case !made.failed():
			return outcome{is: was, next: nextCheck(made.At)}
		case isSuccess(made.Status):
			return outcome{is: was.switchedOff(SecurityCheckFailed, made.At), since: made.At}
		case since.IsZero():
			since = made.At
		}
		return outcome{is: was, since: since, next: made.At.Add(retryInterval)}
	})
}
