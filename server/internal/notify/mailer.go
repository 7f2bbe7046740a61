package notify

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	netmail "net/mail"
	"slices"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// ProcessKind is the kind of jobs that send mail about a signing process, to one person each.
const ProcessKind = "process.mail"

// Mailer sends mail about signing processes to participants and to admins of the account (spec 4.6).
type Mailer struct {
	Queue     Queue
	Processes portal.Store
	Accounts  interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	BaseURL    string // of links
	Letterhead Letterhead
}

var _ portal.Mail = (*Mailer)(nil)

// processJob is the payload of a job. The message is written when it is sent, from the process at that time: a link is a
// credential, which is stored only in the process, encrypted.
type processJob struct {
	Version     int       `json:"version"`
	Topic       topic     `json:"topic"`
	Process     string    `json:"process"`
	Participant string    `json:"participant"` // recipient, or who declined
	To          string    `json:"to"`          // address
	Since       time.Time `json:"since"`       // when the job was enqueued; for an invitation, InvitedAt of its link
}

const processVersion = 1

// topic is the subject of a message.
type topic string

const (
	invitation topic = "invitation"
	completion topic = "completion"
	refusal    topic = "decline"
)

// Invite implements [portal.Mail].
func (m *Mailer) Invite(ctx context.Context, p portal.Process, to portal.Participant) error {
	return m.enqueue(ctx, processJob{Topic: invitation, Process: p.ID, Participant: to.ID, To: to.Email, Since: to.Link.InvitedAt})
}

// Completed implements [portal.Mail].
func (m *Mailer) Completed(ctx context.Context, p portal.Process) error {
	var list []processJob
	for _, one := range p.Participants {
		list = append(list, processJob{Topic: completion, Process: p.ID, Participant: one.ID, To: one.Email, Since: m.Queue.Now.Now(ctx)})
	}
	return m.enqueue(ctx, list...)
}

// Declined implements [portal.Mail].
func (m *Mailer) Declined(ctx context.Context, p portal.Process, by portal.Participant) error {
	owner, err := m.Accounts.Account(ctx, p.Account)
	if err != nil {
		return err
	}
	var list []processJob
	for _, admin := range owner.Admins {
		list = append(list, processJob{Topic: refusal, Process: p.ID, Participant: by.ID, To: admin, Since: m.Queue.Now.Now(ctx)})
	}
	return m.enqueue(ctx, list...)
}

// Withdraw implements [portal.Mail].
func (m *Mailer) Withdraw(ctx context.Context, process string) error {
	return m.Queue.withdraw(ctx, process)
}

func (q Queue) withdraw(ctx context.Context, process string) error {
	return q.Tx.InTx(ctx, func(ctx context.Context) error { return q.Jobs.Drop(ctx, ProcessKind, process) })
}

func (m *Mailer) enqueue(ctx context.Context, list ...processJob) error {
	var jobs []storage.Job
	for _, one := range list {
		one.Version = processVersion
		payload, err := json.Marshal(one)
		if err != nil {
			return err
		}
		jobs = append(jobs, storage.Job{Kind: ProcessKind, Group: one.Process, Due: m.Queue.Now.Now(ctx), Payload: payload})
	}
	return m.Queue.Tx.InTx(ctx, func(ctx context.Context) error { return m.Queue.Jobs.Enqueue(ctx, jobs...) })
}

// errOutdated is the error of a message that is no longer true.
var errOutdated = errors.New("the message is outdated")

// Send runs a job of [ProcessKind]. It does not send an outdated message. It records the final result of a message in the
// evidence log, in the transaction that ends the job.
func (m *Mailer) Send(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error) {
	var payload processJob
	if err := json.Unmarshal(job.Payload, &payload); err != nil || payload.Version != processVersion {
		return nil, errors.Join(fmt.Errorf("mail of version %d about a process cannot be read", payload.Version), err)
	}
	w, n, err := m.write(ctx, payload)
	if errors.Is(err, errOutdated) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n.Head = m.Letterhead
	message, err := n.message(job.ID)
	if err != nil {
		return nil, err
	}
	message.To = []string{payload.address(w.participant)}
	result, sendErr := m.Queue.deliver(ctx, message, payload.Since, job.Attempt)
	entry, err := payload.entry(w.process, result, job, sendErr, m.Queue.Now.Now(ctx))
	record := func(ctx context.Context) error { return m.record(ctx, entry) }
	if result != delayed {
		return record, err
	}
	if err == nil && isRecorded(job.Attempt) {
		err = m.Queue.Tx.InTx(context.WithoutCancel(ctx), record)
	}
	return nil, errors.Join(sendErr, err)
}

// address returns the address of a message, with the name of the participant. The names of admins are not known.
func (j processJob) address(one portal.Participant) string {
	to := netmail.Address{Address: j.To}
	if j.Topic != refusal {
		to.Name = Plain(one.Name)
	}
	return to.String()
}

// write writes the message of a job.
func (m *Mailer) write(ctx context.Context, j processJob) (writer, notice, error) {
	p, err := m.Processes.Process(ctx, j.Process)
	if errors.Is(err, storage.ErrNotFound) {
		err = errOutdated
	}
	if err != nil {
		return writer{}, notice{}, err
	}
	i := slices.IndexFunc(p.Participants, func(one portal.Participant) bool { return one.ID == j.Participant })
	if i < 0 {
		return writer{}, notice{}, errOutdated
	}
	sender, err := m.Accounts.Account(ctx, p.Account)
	if err != nil {
		return writer{}, notice{}, err
	}
	w := writer{p, p.Participants[i], sender.Name, m.BaseURL}
	n, err := w.notice(j, m.Queue.Now.Now(ctx))
	return w, n, err
}

// entryPrefix is the prefix of the kinds of entries in the evidence log about the mail of a process: mail.sent,
// mail.delayed, mail.refused and mail.gaveup. Their subject is the ID of the process. They have no address; those of
// participants are in the entry about the creation of the process.
const entryPrefix = "mail."

// mailFacts are the facts of an entry about a message.
type mailFacts struct {
	Topic       topic  `json:"topic"`
	Participant string `json:"participant"`     // recipient, or who declined
	Admin       bool   `json:"admin,omitempty"` // the recipient is an admin of the account
	Message     string `json:"message"`         // part of its Message-ID before the @
	Attempts    int    `json:"attempts"`
	failureFacts
}

// failureFacts are the reasons why the last attempt failed.
type failureFacts struct {
	Step     mail.Step `json:"step,omitempty"`     // of the conversation with the server
	Code     int       `json:"code,omitempty"`     // reply code of the server
	Enhanced string    `json:"enhanced,omitempty"` // enhanced status code (RFC 3463)
	Says     string    `json:"says,omitempty"`     // what happened if the server sent no reply
	// MaybeSent reports whether the server got the whole message and sent no reply. The message is sent again, since a
	// duplicate is better than a lost message.
	MaybeSent bool `json:"maybeSent,omitempty"`
}

func factsOf(err error) failureFacts {
	f := new(mail.Failure)
	switch {
	case errors.As(err, &f):
		return failureFacts{f.Step, f.Code, f.Enhanced, f.Reason, f.Unclear}
	case err != nil:
		return failureFacts{Says: err.Error()}
	}
	return failureFacts{}
}

// entry returns an entry of the evidence log about the result of a message.
func (j processJob) entry(p portal.Process, r result, job storage.Job, err error, at time.Time) (storage.Entry, error) {
	facts, encodingErr := json.Marshal(mailFacts{
		Topic: j.Topic, Participant: j.Participant, Admin: j.Topic == refusal, Message: job.ID, Attempts: job.Attempt,
		failureFacts: factsOf(err),
	})
	if encodingErr != nil {
		return storage.Entry{}, fmt.Errorf("encoding the result of a message: %w", encodingErr)
	}
	return storage.Entry{Subject: p.ID, Account: p.Account, Kind: entryPrefix + string(r), At: at, Facts: facts}, nil
}

// isRecorded reports whether a delay is recorded: that of the first attempt, the second, the fourth, the eighth and so on,
// since a mail server may be unavailable for days.
func isRecorded(attempt int) bool { return bits.OnesCount(uint(attempt)) == 1 }

// record records the result of a message.
func (m *Mailer) record(ctx context.Context, entry storage.Entry) error {
	if err := m.Queue.Evidence.Record(ctx, entry); err != nil {
		return fmt.Errorf("recording the result of a message: %w", err)
	}
	return nil
}

// NoMail is the mail of a server that sends none. It enqueues no messages, but drops those that commands of an operator
// have enqueued, which do not know whether a server sends mail.
type NoMail struct {
	Queue Queue
	Log   *slog.Logger // for messages that are dropped
}

var _ portal.Mail = NoMail{}

// Invite implements [portal.Mail].
func (NoMail) Invite(context.Context, portal.Process, portal.Participant) error { return nil }

// Completed implements [portal.Mail].
func (NoMail) Completed(context.Context, portal.Process) error { return nil }

// Declined implements [portal.Mail].
func (NoMail) Declined(context.Context, portal.Process, portal.Participant) error { return nil }

// Withdraw implements [portal.Mail].
func (n NoMail) Withdraw(ctx context.Context, process string) error {
	return n.Queue.withdraw(ctx, process)
}

// Drop runs a job of [ProcessKind] without sending its message.
func (n NoMail) Drop(_ context.Context, job storage.Job) (retry time.Time, err error) {
	n.Log.Warn("message not sent: no mail server is configured (--mail)", "process", job.Group)
	return retry, nil
}
