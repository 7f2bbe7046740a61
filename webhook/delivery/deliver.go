package delivery

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// maxBody is the longest body of a request in bytes.
const maxBody = 512 << 10

// timestampLayout is the layout of times in bodies (spec 1.5).
const timestampLayout = "2006-01-02T15:04:05.000-07:00"

// Emit enqueues an event for the active subscriptions of the account that want its type. It is sent to those of them that
// are still active, and still want its type, at the first attempt (spec 5.7). data must be a JSON object, and becomes the
// member data. Emit joins the transaction of its context, so that the event is sent if and only if the change that it
// reports is stored. An event type that cannot be subscribed to, or a body longer than 512 KiB, is an error.
func (s *Service) Emit(ctx context.Context, account, eventType string, at time.Time, data any) error {
	if !slices.Contains(s.options.EventTypes, eventType) {
		return fmt.Errorf("webhook: event type %q cannot be subscribed to", eventType)
	}
	body, err := encodeBody(eventType, at, data)
	if err != nil {
		return err
	}
	targets, err := s.subscribers(ctx, account, eventType)
	if err != nil {
		return err
	}
	if len(targets) == 0 {
		return nil
	}
	job, err := withPayload(
		storage.Job{Kind: eventKind, Group: account, Due: s.now(ctx)},
		payload{Event: uuid.NewString(), Type: eventType, Body: string(body), To: targets})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// subscribers returns the active subscriptions to an event type. A subscription that becomes active later does not
// receive the event (spec 5.1). Therefore an event without subscribers, which may contain personal data, is not stored.
func (s *Service) subscribers(ctx context.Context, account, eventType string) (targets []target, err error) {
	list, err := s.store.Subscriptions(ctx, account)
	if err != nil {
		return nil, fault("reading subscriptions", err)
	}
	for _, subscription := range list {
		if subscription.wants(eventType) {
			targets = append(targets, target{subscription.ID, subscription.Generation})
		}
	}
	return targets, nil
}

// encodeBody returns the body of a request (spec 1.5 and 5.4).
func encodeBody(eventType string, at time.Time, data any) ([]byte, error) {
	content, err := marshalPlain(data)
	if err == nil && !bytes.HasPrefix(content, []byte("{")) {
		err = errors.New("not an object")
	}
	if err != nil {
		return nil, fmt.Errorf("webhook: encoding the data of an event: %w", err)
	}
	body, err := marshalPlain(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{eventType, at.UTC().Format(timestampLayout), content})
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("%d bytes are more than %d", len(body), maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("webhook: encoding an event: %w", err)
	}
	return body, nil
}

// marshalPlain encodes JSON without escapes for HTML.
func marshalPlain(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// fanOut does a job of eventKind. The function that it returns enqueues a delivery for each subscription that gets the
// event. It runs in the transaction that finishes the job (see [Work]), so that no delivery is enqueued twice if the job runs
// again.
func (s *Service) fanOut(ctx context.Context, job storage.Job) (then func(context.Context) error, err error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	var deliveries []storage.Job
	for _, target := range p.To {
		delivery, err := target.delivery(p, s.now(ctx))
		if err != nil {
			return nil, err
		}
		deliveries = append(deliveries, delivery)
	}
	return func(ctx context.Context) error { return s.enqueue(ctx, deliveries...) }, nil
}

// delivery returns the job of the first attempt to deliver the event of a payload to the subscription.
func (t target) delivery(p payload, now time.Time) (storage.Job, error) {
	return withPayload(
		storage.Job{Kind: deliveryKind, Group: t.Subscription, Due: now},
		payload{Event: p.Event, Type: p.Type, Body: p.Body, Attempt: 1, Generation: t.Generation})
}

// deliver does a job of deliveryKind or retryKind: it makes an attempt to deliver the event. The function that it returns
// stores the attempt, in the transaction that finishes the job (see [Work]). If the job was deleted during the attempt, that
// function is not called, and the attempt is not stored.
func (s *Service) deliver(ctx context.Context, job storage.Job) (then func(context.Context) error, err error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	subscription, ok, err := s.activeSubscription(ctx, job.Group, p.Generation) // spec 5.1; the group is the subscription's ID
	if err != nil {
		return nil, err
	}
	if !ok || p.Attempt == 1 && !subscription.wants(p.Type) { // the type counts at the first attempt only (spec 5.7)
		return nil, nil // the job is done without a delivery
	}
	attempt, err := s.send(ctx, subscription, message{
		purpose: ForDelivery, id: p.Event, eventType: p.Type, body: []byte(p.Body),
		verifiable: true, number: p.Attempt, nextPause: pauseAfter(p.Attempt),
	})
	if err != nil {
		return nil, err
	}
	failpoint.Here("webhook.sent")
	return func(ctx context.Context) error {
		// Both calls are made even if the first fails: an error of either rolls the transaction back.
		return errors.Join(s.store.AddAttempt(ctx, attempt), s.scheduleNext(ctx, p, attempt))
	}, nil
}

// scheduleNext enqueues the attempt after one that failed. If that was the last one, it stores the event as dropped (spec
// 5.7). After a success it does nothing.
func (s *Service) scheduleNext(ctx context.Context, p payload, attempt Attempt) error {
	switch {
	case !attempt.failed():
		return nil
	case attempt.Next.IsZero(): // it was the last one
		return s.store.AddDropped(ctx, Dropped{
			Subscription: attempt.Subscription, Event: attempt.Event, Type: attempt.Type, At: attempt.end(), Body: []byte(p.Body),
		})
	}
	p.Attempt++
	job, err := withPayload(storage.Job{Kind: retryKind, Group: attempt.Subscription, Due: attempt.Next}, p)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}
