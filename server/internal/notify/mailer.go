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

// Mailer sends mail about signing processes to those whom they concern (spec 4.6).
type Mailer struct {
	Queue     Queue
	Processes portal.Store
	Accounts  interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	BaseURL    string // before the paths of links
	Letterhead Letterhead
}

var _ portal.Mail = (*Mailer)(nil)

// processJob is what a job carries. The message is written when it is sent, from what the process is then: a
// link is a credential, which is sealed in the process and nowhere else.
type processJob struct {
	Version     int       `json:"version"`
	Topic       topic     `json:"topic"`
	Process     string    `json:"process"`
	Participant string    `json:"participant"` // whom it goes to, or who declined
	To          string    `json:"to"`          // address
	Since       time.Time `json:"since"`       // of an invitation: when it was made
}

const processVersion = 1

// topic is what a message is about.
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

// errOutdated is returned for a message whose news is no longer true.
var errOutdated = errors.New("the message is outdated")

// Send does a job of [ProcessKind]. A message that is outdated is not sent. What became of one that is not tried again is
// recorded together with the end of the job.
func (m *Mailer) Send(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error) {
	var carried processJob
	if err := json.Unmarshal(job.Payload, &carried); err != nil || carried.Version != processVersion {
		return nil, errors.Join(fmt.Errorf("mail of version %d about a process cannot be read", carried.Version), err)
	}
	w, n, err := m.write(ctx, carried)
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
	message.To = []string{carried.address(w.participant)}
	became, why := m.Queue.deliver(ctx, message, carried.Since, job.Attempt)
	entry, err := carried.entry(w.process, became, job, why, m.Queue.Now.Now(ctx))
	record := func(ctx context.Context) error { return m.record(ctx, entry) }
	if became != delayed {
		return record, err
	}
	if err == nil && isRecorded(job.Attempt) {
		err = m.Queue.Tx.InTx(context.WithoutCancel(ctx), record)
	}
	return nil, errors.Join(why, err)
}

// address is the address of a message, with the name of the participant. The names of admins are not known.
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

// entryPrefix begins the kinds of entries in the evidence log about the mail of a process, whose ID is
// their subject: mail.sent, mail.delayed, mail.refused and mail.gaveup. They name no address: that of a
// participant is in the entry about the creation.
const entryPrefix = "mail."

// mailFacts are what became of a message.
type mailFacts struct {
	Topic       topic  `json:"topic"`
	Participant string `json:"participant"`     // whom it went to, or who declined
	Admin       bool   `json:"admin,omitempty"` // it went to an admin of the account
	Message     string `json:"message"`         // what is before the @ of its Message-ID
	Attempts    int    `json:"attempts"`
	failureFacts
}

// failureFacts are why the last attempt failed.
type failureFacts struct {
	Step     mail.Step `json:"step,omitempty"`     // of the conversation with the server
	Code     int       `json:"code,omitempty"`     // the server's answer
	Enhanced string    `json:"enhanced,omitempty"` // what it says more exactly
	Says     string    `json:"says,omitempty"`     // what happened in place of an answer
	// MaybeSent: the server had the whole message and did not say that it takes it. It is sent again, since
	// one that comes twice is better than one that never comes.
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

// entry is an entry of the evidence log about a message.
func (j processJob) entry(p portal.Process, became result, job storage.Job, err error, at time.Time) (storage.Entry, error) {
	facts, encodingErr := json.Marshal(mailFacts{
		Topic: j.Topic, Participant: j.Participant, Admin: j.Topic == refusal, Message: job.ID, Attempts: job.Attempt,
		failureFacts: factsOf(err),
	})
	if encodingErr != nil {
		return storage.Entry{}, fmt.Errorf("encoding what became of a message: %w", encodingErr)
	}
	return storage.Entry{Subject: p.ID, Account: p.Account, Kind: entryPrefix + string(became), At: at, Facts: facts}, nil
}

// isRecorded reports whether a delay is recorded: at the first attempt, the second, the fourth, the eighth and so
// on, since a mail server may be away for days.
func isRecorded(attempt int) bool { return bits.OnesCount(uint(attempt)) == 1 }

// record records what became of a message.
func (m *Mailer) record(ctx context.Context, entry storage.Entry) error {
	if err := m.Queue.Evidence.Record(ctx, entry); err != nil {
		return fmt.Errorf("recording what became of a message: %w", err)
	}
	return nil
}

// NoMail is the mail of a server that sends none. It writes no messages, but there may be some: the commands of an
// operator that invite again do not know whether a server sends mail.
type NoMail struct {
	Queue Queue
	Log   *slog.Logger // of messages that are dropped
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

// Drop does a job of [ProcessKind] by not sending its message.
func (n NoMail) Drop(_ context.Context, job storage.Job) (retry time.Time, err error) {
	n.Log.Warn("message not sent: no mail server is configured (--mail)", "process", job.Group)
	return retry, nil
}
