// Package transfer copies all that a deployment has stored to another backend.
//
//	err := transfer.Copy(ctx, boltDB, postgresDB, func(p transfer.Progress) { ... })
//
// Nobody else may use either of the two meanwhile. Records stay as they are, with their
// IDs and in the order of their creation; sealed values stay sealed, so the master key
// file goes along. New are the IDs of documents, which only the requests and processes know that
// refer to them, and those of jobs; jobs that were being done are to be done again. What the signing
// page remembers of its visitors is not copied: whoever was logged in logs in again. Links that were
// opened lead there, as before.
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
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
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
	Webhooks() delivery.Store

	AllTokens(ctx context.Context) iter.Seq2[account.TokenRecord, error]
	AllSignals(ctx context.Context) iter.Seq2[busysignal.Signal, error]
	AllRequests(ctx context.Context) iter.Seq2[signing.Request, error]
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllJobs(ctx context.Context) iter.Seq2[storage.Job, error]
	AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error]
	AllAttempts(ctx context.Context) iter.Seq2[delivery.Attempt, error]
	AllDropped(ctx context.Context) iter.Seq2[delivery.Dropped, error]
	AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error]
	AllKeys(ctx context.Context) iter.Seq2[portal.Key, error]
	AllLines(ctx context.Context) iter.Seq2[account.Line, error]
}

// Target is a backend to copy to, of which Copy also sees whether it is empty.
type Target interface {
	Source
	storage.Transactor
	BusySignals() busysignal.Store
	Requests() signing.Store
	Jobs() storage.Jobs
	Processes() portal.Store
}

// Progress is how many of each were copied so far.
type Progress struct {
	Accounts, Clients, Tokens, Signals, Users, Requests, Documents, Certificates, Jobs, Entries int
	// Subscriptions, SigningKeys, Attempts and Dropped are those of webhooks.
	Subscriptions, SigningKeys, Attempts, Dropped int
	// Processes are those that people sign in, ProcessKeys the idempotency keys that they were
	// created with, and Lines those of the ledger.
	Processes, ProcessKeys, Lines int
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
	c := &transfer{from: from, to: to, told: progress, shared: map[string]string{}}
	steps := []struct {
		what string
		copy func(context.Context) error
	}{
		{"the authority", c.authority}, // first, so that what follows is never taken for nothing
		{"busy signals", c.signals},
		{"requests", c.requests},
		{"processes", c.processes},
		{"idempotency keys of processes", c.processKeys},
		{"the ledger", c.ledger},
		{"kept certificates", c.certificates},
		{"jobs", c.jobs},
		{"the evidence log", c.evidence},
		{"webhook keys", c.signingKeys},
		{"webhook subscriptions", c.subscriptions},
		{"attempts at webhooks", c.attempts},
		{"dropped webhook events", c.dropped},
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
	// shared are the copies of the documents that requests sign to order, by what they are copies
	// of: those of processes that were signed of late.
	shared map[string]string
}

func (c *transfer) tell() { c.told(c.done) }
