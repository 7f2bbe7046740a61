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

// MessageKind is the kind of jobs that send a message to one recipient. Each recipient has a job of their own, so
// that an address that is refused keeps the message from no other.
const MessageKind = "mail"

// giveUpAfter is how long a message is tried to be sent (RFC 5321 4.5.4.1).
const giveUpAfter = 5 * 24 * time.Hour

// MaxAttempts is how many attempts of a job of this package may fail before it is parked: more than there are in the time
// for which a message is tried to be sent, with pauses of up to five minutes.
const MaxAttempts = 2000

// Queue sends messages in the background.
type Queue struct {
	Tx       storage.Transactor
	Jobs     storage.Jobs
	Out      mail.Transport
	Log      *slog.Logger
	Evidence storage.EvidenceLog // of what became of mail about processes
	Now      storage.Clock       // nil: the machine's clock
}

// messageJob is what a job carries.
type messageJob struct {
	Version int          `json:"version"`
	Message mail.Message `json:"message"`
	Since   time.Time    `json:"since"`
}

const messageVersion = 1

// Enqueue has a message about an account sent to each of its recipients. Its jobs are of the account's group, by which they are
// deleted with it. While a message is still to be sent to somebody, another
// with its ID is not sent to them.
func (q Queue) Enqueue(ctx context.Context, account string, message mail.Message) error {
	var list []storage.Job
	now := q.Now.Now(ctx)
	for _, to := range message.To {
		one := message
		one.To = []string{to}
		payload, err := json.Marshal(messageJob{messageVersion, one, now})
		if err != nil {
			return err
		}
		list = append(list, storage.Job{Kind: MessageKind, Group: account, Unique: message.ID + " " + to, Due: now, Payload: payload})
	}
	return q.Tx.InTx(ctx, func(ctx context.Context) error { return q.Jobs.Enqueue(ctx, list...) })
}

// Send does a job of [MessageKind].
func (q Queue) Send(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	var carried messageJob
	if err := json.Unmarshal(job.Payload, &carried); err != nil || carried.Version != messageVersion {
		return retry, errors.Join(fmt.Errorf("a message of version %d cannot be read", carried.Version), err)
	}
	result, err := q.deliver(ctx, carried.Message, carried.Since, job.Attempt)
	if result == delayed {
		return retry, err
	}
	return retry, nil
}

// result is what became of a message.
type result string

const (
	sent    result = "sent"    // taken by the mail server
	delayed result = "delayed" // it is tried again
	refused result = "refused" // for good
	gaveUp  result = "gaveup"  // it was tried for long enough
)

// deliver tries to send a message that was made at the time since, and returns why it was not sent. What became of it
// is logged, without its recipients.
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
