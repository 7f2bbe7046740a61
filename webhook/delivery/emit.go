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

	"github.com/innsigli/innsigli/storage"
)

// maxBody is the most bytes that the body of a request may have.
const maxBody = 512 << 10

// Emit has an event sent to the subscriptions of an account that want it and are active when it is
// sent first (spec 5.7). data becomes the member data and is an object in JSON. It joins the
// transaction of its context, so that the event is sent if and only if the change is stored that it
// tells of. An event whose type cannot be subscribed to, or whose body is longer than 512 KiB, is an
// error.
func (s *Service) Emit(ctx context.Context, account, eventType string, at time.Time, data any) error {
	if !slices.Contains(s.options.EventTypes, eventType) {
		return fmt.Errorf("webhook: event type %q cannot be subscribed to", eventType)
	}
	body, err := encode(eventType, at, data)
	if err != nil {
		return err
	}
	to, err := s.wanting(ctx, account, eventType)
	if err != nil || to == nil {
		return err
	}
	job, err := carry(
		storage.Job{Kind: eventKind, Group: account, Due: s.now(ctx)},
		payload{Event: uuid.NewString(), Type: eventType, Body: string(body), To: to})
	if err != nil {
		return err
	}
	return s.enqueue(ctx, job)
}

// wanting are the subscriptions that an event goes to which happens now. One that becomes active later
// does not receive it (spec 5.1), so that what nobody wants need not be kept: there are people
// in it.
func (s *Service) wanting(ctx context.Context, account, eventType string) (to []target, err error) {
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

// encode makes the body of a request (spec 1.5 and 5.4).
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

// marshal leaves characters as they are that mean something only within HTML.
func marshal(value any) ([]byte, error) {
	var text bytes.Buffer
	e := json.NewEncoder(&text)
	e.SetEscapeHTML(false)
	err := e.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n")), err
}
