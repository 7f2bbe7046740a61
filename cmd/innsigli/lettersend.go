package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	netmail "net/mail"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
)

// errOutdated: what a letter would tell is not so any more.
var errOutdated = errors.New("the letter is outdated")

// send does a job. A letter that is outdated is not sent. What became of one that is not tried again is
// recorded together with the end of the job.
func (l *letters) send(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error) {
	var carried letter
	if err := json.Unmarshal(job.Payload, &carried); err != nil || carried.Version != letterVersion {
		return nil, errors.Join(fmt.Errorf("a letter of version %d cannot be read", carried.Version), err)
	}
	w, n, err := l.write(ctx, carried)
	if errors.Is(err, errOutdated) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	n.Head = l.head
	m, err := n.message(job.ID)
	if err != nil {
		return nil, err
	}
	m.To = []string{carried.addressed(w.participant)}
	became, why := l.post.deliver(ctx, m, carried.Since, job.Attempt)
	entry, err := carried.entryOf(w.process, became, job, why)
	record := func(ctx context.Context) error { return l.record(ctx, entry) }
	if became != mailDelayed {
		return record, err
	}
	if err == nil && worthAnEntry(job.Attempt) {
		err = l.post.tx.InTx(context.WithoutCancel(ctx), record)
	}
	return nil, errors.Join(why, err)
}

// addressed is the address of a letter, with the name of a participant. Those of admins are not known.
func (of letter) addressed(one portal.Participant) string {
	to := netmail.Address{Address: of.To}
	if of.Topic != refusal {
		to.Name = plain(one.Name)
	}
	return to.String()
}

// write writes a letter.
func (l *letters) write(ctx context.Context, of letter) (writer, notice, error) {
	p, err := l.processes.Process(ctx, of.Process)
	if errors.Is(err, storage.ErrNotFound) {
		err = errOutdated
	}
	if err != nil {
		return writer{}, notice{}, err
	}
	i := slices.IndexFunc(p.Participants, func(one portal.Participant) bool { return one.ID == of.Participant })
	if i < 0 {
		return writer{}, notice{}, errOutdated
	}
	sender, err := l.accounts.Account(ctx, p.Account)
	if err != nil {
		return writer{}, notice{}, err
	}
	w := writer{p, p.Participants[i], sender.Name, l.baseURL}
	n, err := w.notice(of)
	return w, n, err
}

// notice is what a letter tells now.
func (w writer) notice(of letter) (notice, error) {
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
