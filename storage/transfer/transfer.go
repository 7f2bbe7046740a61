// Package transfer copies all that a deployment has stored to another backend.
//
//	err := transfer.Copy(ctx, boltDB, postgresDB, func(p transfer.Progress) { ... })
//
// Nobody else may use either of the two meanwhile. Records stay as they are, with their
// IDs and in the order of their creation; sealed values stay sealed, so the master key
// file goes along. New are the IDs of documents, which only the requests know that refer
// to them, and those of jobs; jobs that were being done are to be done again.
//
// Accounts come last, in one transaction. So a copy that broke off has none, and cannot be
// taken for a whole one: Copy refuses to go on with it, and it is to be removed.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// ErrNotEmpty: there is something in the target already, perhaps of a copy that broke off.
var ErrNotEmpty = errors.New("transfer: the target is not empty")

// Source is a backend to copy from. *bolt.DB and *postgres.DB are ones.
//
// The lists may be long, and end with an error, if there is one. Records that their store
// lists in the order of creation are in that order.
type Source interface {
	Accounts() account.Store
	Sandbox() sandbox.Store
	Documents() storage.Documents
	EvidenceLog() storage.EvidenceLog

	AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error]
	AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error]
	AllRequests(ctx context.Context) iter.Seq2[signing.Request, error]
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllJobs(ctx context.Context) iter.Seq2[storage.Job, error]
}

// Target is a backend to copy to, of which Copy also sees whether it is empty.
type Target interface {
	Source
	storage.Transactor
	BusySignals() busysignal.Store
	Requests() signing.Store
	Jobs() storage.Jobs
}

// Progress is how many of each were copied so far.
type Progress struct {
	Accounts, Clients, Tokens, Signals, Users, Requests, Documents, Certificates, Jobs, Entries int
	// Bytes are those of the documents.
	Bytes int64
}

// Copy copies everything to a target that is empty, else [ErrNotEmpty]. It tells progress,
// unless that is nil, after every few records and at the end. The target is durable when
// Copy has returned nil; after an error it is no use.
func Copy(ctx context.Context, from Source, to Target, progress func(Progress)) error {
	if err := empty(ctx, to); err != nil {
		return err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	c := &transfer{from: from, to: to, told: progress}
	steps := []struct {
		what string
		copy func(context.Context) error
	}{
		{"the authority", c.authority}, // first, so that what follows is never taken for nothing
		{"busy signals", c.signals},
		{"requests", c.requests},
		{"kept certificates", c.certificates},
		{"jobs", c.jobs},
		{"the evidence log", c.evidence},
		{"tokens", c.tokens},
		{"clients and users", c.belongings},
		{"accounts", c.accounts},
	}
	for _, step := range steps {
		if err := step.copy(ctx); err != nil {
			return fmt.Errorf("transfer: copying %s: %w", step.what, err)
		}
	}
	return nil
}

// transfer is a copy that is being made.
type transfer struct {
	from Source
	to   Target
	done Progress
	told func(Progress)
}

func (c *transfer) tell() { c.told(c.done) }
