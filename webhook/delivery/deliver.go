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

// Emit sends an event to the account's subscriptions to its type that are active now and at the first attempt (spec
// 5.7). data must be a JSON object, and becomes the member data. Emit joins the transaction of its context, so that
// the event is sent if and only if the change that it reports is stored. An event type that cannot be subscribed to,
// or a body longer than 512 KiB, is an error.
func (s *Service) Emit(ctx context.Context, account, eventType string, at time.Time, data any) error {
	if !slices.Contains(s.options.EventTypes, eventType) {
		return fmt.Errorf("webhook: event type %q cannot be subscribed to", eventType)
	}
	body, err := encode(eventType, at, data)
	if err != nil {
		return err
	}
	to, err := s.subscribers(ctx, account, eventType)
	if err != nil || to == nil {
		return err
	}
	job, err := withPayload(
		storage.Job{Kind: eventKind, Group: account, Due: s.now(ctx)},
		payload{Event: uuid.NewString(), Type: eventType, Body: string(body), To: to})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// subscribers returns the active subscriptions to an event type. A subscription that becomes active later does not
// receive the event (spec 5.1), so that an event without subscribers, which may contain personal data, need not be
// stored.
func (s *Service) subscribers(ctx context.Context, account, eventType string) (to []target, err error) {
	list, err := s.store.Subscriptions(ctx, account)
	if err != nil {
		return nil, fault("reading subscriptions", err)
	}
	for _, one := range list {
		if one.wants(eventType) {
			to = append(to, target{one.ID, one.Generation})
		}
	}
	return to, nil
}

// encode returns the body of a request (spec 1.5 and 5.4).
func encode(eventType string, at time.Time, data any) ([]byte, error) {
	content, err := marshal(data)
	if err == nil && !bytes.HasPrefix(content, []byte("{")) {
		err = errors.New("not an object")
	}
	if err != nil {
		return nil, fmt.Errorf("webhook: encoding the data of an event: %w", err)
	}
	body, err := marshal(struct {
		Type      string          `json:"type"`
		Timestamp string          `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}{eventType, at.UTC().Format("2006-01-02T15:04:05.000-07:00"), content})
	if err == nil && len(body) > maxBody {
		err = fmt.Errorf("%d bytes are more than %d", len(body), maxBody)
	}
	if err != nil {
		return nil, fmt.Errorf("webhook: encoding an event: %w", err)
	}
	return body, nil
}

// marshal encodes JSON without escapes for HTML.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}

// fanOut enqueues a delivery of an event for each subscription that gets it. It does so in the transaction that
// finishes the job, so that a repetition of the job enqueues none twice.
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

// delivery returns the job of the first attempt to deliver an event to the subscription.
func (t target) delivery(event, eventType, body string, now time.Time) (storage.Job, error) {
	return withPayload(
		storage.Job{Kind: deliveryKind, Group: t.Subscription, Due: now},
		payload{Event: event, Type: eventType, Body: body, Attempt: 1, Generation: t.Generation})
}

// deliver makes an attempt. The transaction that finishes the job stores the result, unless the job was dropped
// meanwhile.
func (s *Service) deliver(ctx context.Context, job storage.Job) (func(context.Context) error, error) {
	p, err := payloadOf(job)
	if err != nil {
		return nil, err
	}
	to, ok, err := s.unchanged(ctx, job.Group, p.Generation) // spec 5.1
	if err != nil {
		return nil, fault("reading the subscription of event "+p.Event, err)
	}
	if !ok || p.Attempt == 1 && !to.wants(p.Type) {
		return nil, nil
	}
	made, err := s.send(ctx, to, message{
		purpose: ForDelivery, id: p.Event, eventType: p.Type, body: []byte(p.Body),
		verifiable: true, number: p.Attempt, pause: pauseAfter(p.Attempt),
	})
	if err != nil {
		return nil, err
	}
	failpoint.Here("webhook.sent")
	return func(ctx context.Context) error {
		return errors.Join(s.store.AddAttempt(ctx, made), s.finishAttempt(ctx, p, made))
	}, nil
}

// finishAttempt enqueues the next attempt, or drops the event after the last one (spec 5.7).
func (s *Service) finishAttempt(ctx context.Context, p payload, made Attempt) error {
	switch {
	case made.Failure == "":
		return nil
	case made.Next.IsZero():
		return s.store.AddDropped(ctx, Dropped{made.Subscription, made.Event, made.Type, made.end(), []byte(p.Body)})
	}
	p.Attempt++
	job, err := withPayload(storage.Job{Kind: retryKind, Group: made.Subscription, Due: made.Next}, p)
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}
