package delivery

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// payload is what the jobs of this package carry. Each kind has what it needs of it.
type payload struct {
	Version    int         `json:"version"`
	Event      string      `json:"event,omitempty"` // the webhook-id
	Type       string      `json:"type,omitempty"`  // of the event
	Body       string      `json:"body,omitempty"`  // of its requests; it is text in UTF-8
	To         []target    `json:"to,omitempty"`    // whom the event goes to; whom the digest before told of
	At         time.Time   `json:"at,omitzero"`     // since when a check waits for an endpoint; when the digest before was sent
	Attempt    int         `json:"attempt,omitempty"`
	Generation int         `json:"generation,omitempty"` // of the subscription that the job was begun for
	Alert      queuedAlert `json:"alert,omitzero"`       // with its members named as its fields are
}

const payloadVersion = 1

// target is a subscription as it was when an event happened.
type target struct {
	Subscription string `json:"subscription"`
	Generation   int    `json:"generation"`
}

// payloadOf reads what a job carries.
func payloadOf(job storage.Job) (p payload, err error) {
	err = json.Unmarshal(job.Payload, &p)
	if err == nil && p.Version != payloadVersion {
		err = fmt.Errorf("version %d is not known", p.Version)
	}
	if err != nil {
		return payload{}, fmt.Errorf("webhook: payload of job %s: %w", job.ID, err)
	}
	return p, nil
}

// carry is the job with what it is to carry.
func carry(job storage.Job, p payload) (storage.Job, error) {
	p.Version = payloadVersion
	encoded, err := marshal(p)
	if err != nil {
		return storage.Job{}, fmt.Errorf("webhook: encoding a job: %w", err)
	}
	job.Payload = encoded
	return job, nil
}

// enqueue adds jobs to the transaction of its context.
func (s *Service) enqueue(ctx context.Context, jobs ...storage.Job) error {
	return fault("enqueueing", s.jobs.Enqueue(ctx, jobs...))
}
