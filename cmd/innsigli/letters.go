package main

import (
	"context"
	"encoding/json"
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
	head    letterhead
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
