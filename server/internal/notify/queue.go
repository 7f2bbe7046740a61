package notify

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

// MessageKind is the kind of jobs that send a message to one recipient. Each recipient has its own job, so that a refused
// address does not affect the others.
const MessageKind = "mail"

// giveUpAfter is how long the server tries to send a message (RFC 5321 4.5.4.1).
const giveUpAfter = 5 * 24 * time.Hour

// MaxAttempts is how many attempts of a job of this package may fail before it is parked: more than there are in
// giveUpAfter, with pauses of up to five minutes.
const MaxAttempts = 2000

// Queue sends messages in the background.
type Queue struct {
	Tx       storage.Transactor
	Jobs     storage.Jobs
	Out      mail.Transport
	Log      *slog.Logger
	Evidence storage.EvidenceLog // for the results of mail about processes
	Now      storage.Clock       // nil: the machine's clock
}

// messageJob is the payload of a job.
type messageJob struct {
	Version int          `json:"version"`
	Message mail.Message `json:"message"`
	Since   time.Time    `json:"since"`
}

const messageVersion = 1

// Enqueue enqueues a job for each recipient of a message. It ignores a recipient who has a job for a message with the
// same ID.
func (q Queue) Enqueue(ctx context.Context, message mail.Message) error {
	var list []storage.Job
	now := q.Now.Now(ctx)
	for _, to := range message.To {
		one := message
		one.To = []string{to}
		payload, err := json.Marshal(messageJob{messageVersion, one, now})
		if err != nil {
			return err
		}
		list = append(list, storage.Job{Kind: MessageKind, Unique: message.ID + " " + to, Due: now, Payload: payload})
	}
	return q.Tx.InTx(ctx, func(ctx context.Context) error { return q.Jobs.Enqueue(ctx, list...) })
}

// Send runs a job of [MessageKind].
func (q Queue) Send(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	var payload messageJob
	if err := json.Unmarshal(job.Payload, &payload); err != nil || payload.Version != messageVersion {
		return retry, errors.Join(fmt.Errorf("a message of version %d cannot be read", payload.Version), err)
	}
	result, err := q.deliver(ctx, payload.Message, payload.Since, job.Attempt)
	if result == delayed {
		return retry, err
	}
	return retry, nil
}

// result is the result of an attempt to send a message.
type result string

const (
	sent    result = "sent"    // the mail server accepted it
	delayed result = "delayed" // it will be tried again
	refused result = "refused" // the mail server refused it for good
	gaveUp  result = "gaveup"  // giveUpAfter has passed
)

// deliver tries to send a message that was enqueued at the time since. It logs the final result, without recipients, and
// returns why the message was not sent.
func (q Queue) deliver(ctx context.Context, message mail.Message, since time.Time, attempt int) (result, error) {
	err := q.Out.Send(ctx, message)
	switch {
	case err == nil:
		q.Log.Info("message sent", "message", message.ID, "attempts", attempt)
		return sent, nil
	case errors.Is(err, mail.ErrRefused):
		q.Log.Error("message not sent", "message", message.ID, "attempts", attempt, "error", err)
		return refused, err
	case q.Now.Now(ctx).Sub(since) > giveUpAfter:
		q.Log.Error("message not sent", "message", message.ID, "attempts", attempt, "error", err)
		return gaveUp, err
	}
	return delayed, fmt.Errorf("message %s, attempt %d: %w", message.ID, attempt, err)
}
