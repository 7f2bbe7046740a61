package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/storage"
)

// mailKind is the kind of jobs that send a message to one recipient. Each has a job of its own: one
// whose mailbox is gone keeps it from nobody else.
const mailKind = "mail"

// mailPatience is how long a message is tried to be sent (RFC 5321 4.5.4.1).
const mailPatience = 5 * 24 * time.Hour

// mailJobs sends messages in the background.
type mailJobs struct {
	tx   storage.Transactor
	jobs storage.Jobs
	out  mail.Transport
	log  *slog.Logger

	evidence storage.EvidenceLog // of what became of letters
}

// mailJob is what a job carries.
type mailJob struct {
	Version int          `json:"version"`
	Message mail.Message `json:"message"`
	Since   time.Time    `json:"since"`
}

const mailVersion = 1

// enqueue has a message sent to each of its recipients. One with that ID that is still to be sent to
// somebody is not sent twice.
func (m mailJobs) enqueue(ctx context.Context, message mail.Message) error {
	var list []storage.Job
	now := time.Now()
	for _, to := range message.To {
		one := message
		one.To = []string{to}
		payload, err := json.Marshal(mailJob{mailVersion, one, now})
		if err != nil {
			return err
		}
		list = append(list, storage.Job{Kind: mailKind, Unique: message.ID + " " + to, Due: now, Payload: payload})
	}
	return m.tx.InTx(ctx, func(ctx context.Context) error { return m.jobs.Enqueue(ctx, list...) })
}

// send does a job.
func (m mailJobs) send(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	var carried mailJob
	if err := json.Unmarshal(job.Payload, &carried); err != nil || carried.Version != mailVersion {
		return retry, errors.Join(fmt.Errorf("a message of version %d cannot be read", carried.Version), err)
	}
	fate, err := m.deliver(ctx, carried.Message, carried.Since, job.Attempt)
	if fate == mailDelayed {
		return retry, err
	}
	return retry, nil
}

// fate is what became of a message.
type fate string

const (
	mailSent    fate = "sent"    // taken by the server
	mailDelayed fate = "delayed" // it is tried again
	mailRefused fate = "refused" // for good
	mailGaveUp  fate = "gaveup"  // it was tried for long enough
)

// deliver tries to send a message that is there to be sent since that time, and says why it was not
// sent. What became of it is in the log, which names nobody.
func (m mailJobs) deliver(ctx context.Context, message mail.Message, since time.Time, attempt int) (fate, error) {
	err := m.out.Send(ctx, message)
	switch {
	case err == nil:
		m.log.Info("a message was sent", "message", message.ID, "attempts", attempt)
		return mailSent, nil
	case errors.Is(err, mail.ErrRefused):
		m.log.Error("a message was not sent", "message", message.ID, "attempts", attempt, "error", err)
		return mailRefused, err
	case time.Since(since) > mailPatience:
		m.log.Error("a message was not sent", "message", message.ID, "attempts", attempt, "error", err)
		return mailGaveUp, err
	}
	return mailDelayed, fmt.Errorf("message %s, attempt %d: %w", message.ID, attempt, err)
}
