package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// An active subscription has one job that pings it and one that checks it. Each enqueues the one
// after it. Of its payload, At is when an outage began that a check waits out.

// outcome is what such a job comes to.
type outcome struct {
	is    Subscription // what has become of it
	since time.Time    // when the trouble began that admins hear of; zero: there is none
	next  time.Time    // when the next job is due; there is none when it was switched off
}

// watch has an active subscription pinged and checked from now on (spec 5.6).
func (s *Service) watch(ctx context.Context, active Subscription, now time.Time) error {
	return errors.Join(
		s.enqueueRound(ctx, pingKind, active, outcome{next: nextPing(now)}),
		s.enqueueRound(ctx, checkKind, active, outcome{next: nextCheck(now)}))
}

func (s *Service) enqueueRound(ctx context.Context, kind string, to Subscription, o outcome) error {
	job, err := carry(
		storage.Job{Kind: kind, Group: to.ID, Unique: to.ID, Due: o.next},
		payload{Generation: to.Generation, At: o.since})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// doRound sends the ping that a job asks for. What it comes to is judged by the subscription as it
// is when that is stored: its owner or another server may have changed it meanwhile.
func (s *Service) doRound(ctx context.Context, job storage.Job, purpose Purpose, judge func(was Subscription, since time.Time, made Attempt) outcome) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	to, ok, err := s.still(ctx, job.Group, p.Generation)
	if err != nil || !ok {
		return nil, err
	}
	made, err := s.sendPing(ctx, to, purpose, purpose != ForCheck)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context) error {
		was, ok, err := s.still(ctx, to.ID, p.Generation)
		if err != nil {
			return err
		}
		if !ok {
			return s.addAttempt(ctx, made)
		}
		return s.settle(ctx, job.Kind, was, made, judge(was, p.At, made))
	}, nil
}

// settle stores what a job comes to.
func (s *Service) settle(ctx context.Context, kind string, was Subscription, made Attempt, o outcome) error {
	if made.Failure != "" {
		made.Next = o.next
	}
	is, err := s.tell(ctx, o.is, o.since, made.At)
	if err != nil {
		return err
	}
	if err := errors.Join(s.store.AddAttempt(ctx, made), s.save(ctx, was, is)); err != nil || !is.Active {
		return err
	}
	return s.enqueueRound(ctx, kind, is, o)
}

// still returns a subscription as it is, unless it is gone, inactive, or of another generation.
func (s *Service) still(ctx context.Context, id string, generation int) (is Subscription, ok bool, err error) {
	is, err = s.store.Subscription(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		return Subscription{}, false, nil
	}
	return is, err == nil && is.Active && is.Generation == generation, fault("reading the subscription", err)
}
