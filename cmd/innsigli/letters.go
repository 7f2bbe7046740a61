package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// letterKind is the kind of jobs that send mail about a process, to one person each.
const letterKind = "process.mail"

// letters tell people by mail of processes that concern them (decisions.md 6.10).
type letters struct {
	post      mailJobs
	processes portal.Store
	accounts  interface {
		Account(ctx context.Context, id string) (account.Account, error)
	}
	baseURL string // before the paths of links
}

var _ portal.Mail = (*letters)(nil)

// letter is what a job carries. It is written when it is sent, from what the process is then: a
// link is a credential, which is sealed in the process and nowhere else.
type letter struct {
	Version     int       `json:"version"`
	Topic       topic     `json:"topic"`
	Process     string    `json:"process"`
	Participant string    `json:"participant"` // whom it goes to, or who declined
	To          string    `json:"to"`          // address
	Since       time.Time `json:"since"`       // of an invitation: when it was made
}

const letterVersion = 1

// topic is what a letter is about.
type topic string

const (
	invitation topic = "invitation"
	completion topic = "completion"
	refusal    topic = "decline"
)

// Invite implements [portal.Mail].
func (l *letters) Invite(ctx context.Context, p portal.Process, to portal.Participant) error {
	return l.enqueue(ctx, letter{Topic: invitation, Process: p.ID, Participant: to.ID, To: to.Email, Since: to.Link.InvitedAt})
}

// Completed implements [portal.Mail].
func (l *letters) Completed(ctx context.Context, p portal.Process) error {
	var list []letter
	for _, one := range p.Participants {
		list = append(list, letter{Topic: completion, Process: p.ID, Participant: one.ID, To: one.Email, Since: time.Now()})
	}
	return l.enqueue(ctx, list...)
}

// Declined implements [portal.Mail].
func (l *letters) Declined(ctx context.Context, p portal.Process, by portal.Participant) error {
	owner, err := l.accounts.Account(ctx, p.Account)
	if err != nil {
		return err
	}
	var list []letter
	for _, admin := range owner.Admins {
		list = append(list, letter{Topic: refusal, Process: p.ID, Participant: by.ID, To: admin, Since: time.Now()})
	}
	return l.enqueue(ctx, list...)
}

// Withdraw implements [portal.Mail].
func (l *letters) Withdraw(ctx context.Context, process string) error {
	return l.post.tx.InTx(ctx, func(ctx context.Context) error { return l.post.jobs.Drop(ctx, letterKind, process) })
}

func (l *letters) enqueue(ctx context.Context, list ...letter) error {
	var jobs []storage.Job
	for _, one := range list {
		one.Version = letterVersion
		payload, err := json.Marshal(one)
		if err != nil {
			return err
		}
		jobs = append(jobs, storage.Job{Kind: letterKind, Group: one.Process, Due: time.Now(), Payload: payload})
	}
	return l.post.tx.InTx(ctx, func(ctx context.Context) error { return l.post.jobs.Enqueue(ctx, jobs...) })
}

// errOutdated: what a letter would tell is not so any more.
var errOutdated = errors.New("the letter is outdated")

// send does a job. A letter that is outdated is not sent.
func (l *letters) send(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	var carried letter
	if err := json.Unmarshal(job.Payload, &carried); err != nil || carried.Version != letterVersion {
		return retry, errors.Join(fmt.Errorf("a letter of version %d cannot be read", carried.Version), err)
	}
	n, err := l.write(ctx, carried)
	if errors.Is(err, errOutdated) {
		return retry, nil
	}
	if err != nil {
		return retry, err
	}
	m, err := n.message(job.ID)
	if err != nil {
		return retry, err
	}
	m.To = []string{carried.To}
	return l.post.deliver(ctx, m, carried.Since)
}

// write writes a letter.
func (l *letters) write(ctx context.Context, of letter) (notice, error) {
	p, err := l.processes.Process(ctx, of.Process)
	if errors.Is(err, storage.ErrNotFound) {
		return notice{}, errOutdated
	}
	if err != nil {
		return notice{}, err
	}
	i := slices.IndexFunc(p.Participants, func(one portal.Participant) bool { return one.ID == of.Participant })
	if i < 0 {
		return notice{}, errOutdated
	}
	sender, err := l.accounts.Account(ctx, p.Account)
	if err != nil {
		return notice{}, err
	}
	w := writer{p, p.Participants[i], sender.Name, l.baseURL}
	switch of.Topic {
	case invitation:
		return w.invitation(of.Since, time.Now())
	case completion:
		return w.completion(time.Now())
	case refusal:
		return w.refusal()
	}
	return notice{}, fmt.Errorf("a letter about %q cannot be written", of.Topic)
}
