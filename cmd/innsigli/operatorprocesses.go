package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
)

// processOperator is what an operator's commands do with signing processes, of any account and
// origin.
type processOperator interface {
	// ShowProcess is a process as it is now.
	ShowProcess(ctx context.Context, id string) (shownProcess, error)
	// ResendProcess makes the invitations of a process again, and says how many. The links are
	// sealed with the first key of the file, or by the server.
	ResendProcess(ctx context.Context, masterKey, id string) (int, error)
	// ProcessEvents calls each with the entries of the evidence log about a process and the
	// signing requests of it, in their order.
	ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error
}

// ShowProcess implements [operator]. Links stay sealed in it.
func (d direct) ShowProcess(ctx context.Context, id string) (shownProcess, error) {
	p, err := d.db.Processes().Process(ctx, id)
	if err == nil {
		var document storage.Blob
		if document, err = d.db.Documents().Open(ctx, p.Document); err == nil {
			defer document.Close()
			return showProcess(p, document.Size(), time.Now()), nil
		}
	}
	if errors.Is(err, storage.ErrNotFound) { // also when it is deleted between the two
		err = noProcess(id)
	}
	return shownProcess{}, err
}

func noProcess(id string) error { return fmt.Errorf("there is no process %q", id) }

// ResendProcess implements [operator].
func (d direct) ResendProcess(ctx context.Context, masterKey, id string) (int, error) {
	processes := d.processes
	if processes == nil {
		var err error
		if processes, err = d.inviting(ctx, masterKey); err != nil {
			return 0, err
		}
	}
	n, err := processes.Resend(ctx, id)
	switch {
	case errors.Is(err, portal.ErrNotFound):
		err = noProcess(id)
	case errors.Is(err, portal.ErrNotWaiting):
		err = fmt.Errorf("process %s is completed or declined, and all its viewers have opened their links: there is nobody to invite", id)
	}
	return n, err
}

// inviting is a service that only invites. The mail is a server's to send. Links that it sealed with a
// key of another store no server could open, nor start with: the key has to open what servers sealed.
func (d direct) inviting(ctx context.Context, masterKey string) (*portal.Service, error) {
	keys, err := sealed.ReadFile(masterKey)
	if err == nil {
		_, err = sealed.Webhooks(d.db.Webhooks(), keys).Keys(ctx)
	}
	if err != nil {
		return nil, fmt.Errorf("--master-key-file: %w", err)
	}
	mail := &letters{post: mailJobs{tx: d.db, jobs: d.db.Jobs()}}
	return portal.New(sealed.Processes(d.db.Processes(), keys), d.db, d.db.Documents(), d.db.EvidenceLog(), terms{d.Service}, nil, portal.Options{Mail: mail}), nil
}

// ProcessEvents implements [operator]. The log outlives a process that was deleted.
func (d direct) ProcessEvents(ctx context.Context, id string, each func(storage.Entry) error) error {
	log := d.db.EvidenceLog()
	entries, err := log.Entries(ctx, id)
	if err != nil {
		return err
	}
	for _, request := range requestsOf(entries) {
		more, err := log.Entries(ctx, request)
		if err != nil {
			return err
		}
		entries = append(entries, more...)
	}
	slices.SortFunc(entries, func(a, b storage.Entry) int { return cmp.Compare(a.Seq, b.Seq) })
	return eachOf(entries, each)
}

// requestsOf are the signing requests that entries about a process name, each once.
func requestsOf(entries []storage.Entry) (list []string) {
	for _, e := range entries {
		var facts struct {
			Request string `json:"request"`
		}
		if json.Unmarshal(e.Facts, &facts) == nil && facts.Request != "" && !slices.Contains(list, facts.Request) {
			list = append(list, facts.Request)
		}
	}
	return list
}
