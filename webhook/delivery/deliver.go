package delivery

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// fanOut makes a delivery for each subscription that an event goes to. They are stored in the
// transaction in which the job ends, so that a repetition makes none twice.
func (s *Service) fanOut(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	var deliveries []storage.Job
	for _, to := range p.To {
		delivery, err := to.delivery(p.Event, p.Type, p.Body, s.now(ctx))
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, delivery)
	}
	return func(ctx context.Context) error { return s.enqueue(ctx, deliveries...) }, nil
}

// delivery is the job that makes the first attempt to send the subscription an event.
func (t target) delivery(event, eventType, body string, now time.Time) (storage.Job, error) {
	return carry(
		storage.Job{Kind: deliveryKind, Group: t.Subscription, Due: now},
		payload{Event: event, Type: eventType, Body: body, Attempt: 1, Generation: t.Generation})
}

// deliver makes an attempt. The end of the job stores what follows from it, unless what was queued
// for the subscription was dropped meanwhile: then the job is gone, and so is what follows.
func (s *Service) deliver(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	to, ok, err := s.still(ctx, job.Group, p.Generation) // spec 5.1
	if err != nil {
		return nil, fault("reading the subscription of event "+p.Event, err)
	}
	if !ok || p.Attempt == 1 && !to.wants(p.Type) {
		return nil, nil
	}
	made, err := s.send(ctx, to, outgoing{
		purpose: ForDelivery, id: p.Event, eventType: p.Type, body: []byte(p.Body),
		verifiable: true, number: p.Attempt, pause: pauseAfter(p.Attempt),
	})
	if err != nil {
		return nil, err
	}
	failpoint.Here("webhook.sent")
	return func(ctx context.Context) error {
		return errors.Join(s.store.AddAttempt(ctx, made), s.goOn(ctx, p, made))
	}, nil
}

// goOn leaves the next attempt to a job, or gives the event up after the last (spec 5.7).
func (s *Service) goOn(ctx context.Context, p payload, made Attempt) error {
	switch {
	case made.Failure == "":
		return nil
	case made.Next.IsZero():
		return s.store.AddDropped(ctx, Dropped{made.Subscription, made.Event, made.Type, made.end(), []byte(p.Body)})
	}
	p.Attempt++
	job, err := carry(storage.Job{Kind: retryKind, Group: made.Subscription, Due: made.Next}, p)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}
