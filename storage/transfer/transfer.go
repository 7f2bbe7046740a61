// Package transfer copies everything that a deployment has stored to another backend.
//
//	err := transfer.Copy(ctx, boltDB, postgresDB, func(p transfer.Progress) { ... })
//
// No server may use either backend meanwhile. Records are copied unchanged, with their IDs and in the order of their
// creation. Sealed values stay sealed, so the target needs the same master key file. Documents get new IDs, to which the
// copied requests and processes refer, and so do jobs. Jobs that were leased are run again. Records of the signing page,
// such as sessions, are not copied: people who were logged in log in again. Links that were opened still work.
//
// Copy copies accounts last, in one transaction. So an interrupted copy has no account and cannot be mistaken for a complete
// one. Copy does not continue it; the operator deletes it.
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

// ErrNotEmpty is returned if the target has records, perhaps of an interrupted copy.
var ErrNotEmpty = errors.New("transfer: the target is not empty")

// Source is a backend to copy from. *bolt.DB and *postgres.DB implement it.
//
// The lists may be long, and an error ends them. Records that their store lists in the order of creation are in that order.
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

// Target is a backend to copy to. As it is also a Source, Copy can check that it is empty.
type Target interface {
	Source
	storage.Transactor
	BusySignals() busysignal.Store
	Requests() signing.Store
	Jobs() storage.Jobs
	Processes() portal.Store
}

// Progress is how many records of each type have been copied.
type Progress struct {
	Accounts, Clients, Tokens, Signals, Users, Requests, Documents, Certificates, Jobs, Entries int
	// Subscriptions, SigningKeys, Attempts and Dropped are those of webhooks.
	Subscriptions, SigningKeys, Attempts, Dropped int
	// Processes are signing processes, ProcessKeys the idempotency keys with which they were created, and Lines the
	// entries of the ledger.
	Processes, ProcessKeys, Lines int
	// Bytes is the size of the copied documents.
	Bytes int64
}

// Copy copies everything to a target that is empty; otherwise it returns [ErrNotEmpty]. It calls progress,
// unless that is nil, after every few records and at the end. When Copy has returned nil, the target is
// durable. After an error the target must not be used.
func Copy(ctx context.Context, from Source, to Target, progress func(Progress)) error {
	if err := checkEmpty(ctx, to); err != nil {
		return err
	}
	if progress == nil {
		progress = func(Progress) {}
	}
	c := &transfer{from: from, to: to, progress: progress, shared: map[string]string{}}
	steps := []struct {
		what string
		copy func(context.Context) error
	}{
		{"the authority", c.authority}, // first, so that the target of an interrupted copy is not empty
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
		{"clients and users", c.clientsAndUsers},
		{"accounts", c.accounts},
	}
	for _, step := range steps {
		if err := step.copy(ctx); err != nil {
			return fmt.Errorf("transfer: copying %s: %w", step.what, err)
		}
	}
	return nil
}

// transfer is a running copy.
type transfer struct {
	from     Source
	to       Target
	done     Progress
	progress func(Progress)
	// shared maps documents that requests sign for a process to their copies: the process refers to the same document.
	shared map[string]string
}

func (c *transfer) report() { c.progress(c.done) }

// checkEmpty returns ErrNotEmpty if the target has records.
func checkEmpty(ctx context.Context, s Target) error {
	for _, list := range []struct {
		name   string
		exists func(context.Context) (bool, error)
	}{
		{"accounts", func(ctx context.Context) (bool, error) {
			list, err := s.Accounts().Accounts(ctx)
			return len(list) > 0, err
		}},
		{"an authority", func(ctx context.Context) (bool, error) {
			_, err := s.Sandbox().Authority(ctx)
			if errors.Is(err, storage.ErrNotFound) {
				return false, nil
			}
			return true, err
		}},
		{"busy signals", anyOf(s.AllSignals)},
		{"requests", anyOf(s.AllRequests)},
		{"kept certificates", anyOf(s.AllCertificates)},
		{"jobs", anyOf(s.AllJobs)},
		{"tokens", anyOf(s.AllTokens)},
		{"an evidence log", func(ctx context.Context) (bool, error) {
			list, err := s.EvidenceLog().EntriesAfter(ctx, 0, 1)
			return len(list) > 0, err
		}},
		{"webhook keys", func(ctx context.Context) (bool, error) {
			list, err := s.Webhooks().Keys(ctx)
			return len(list) > 0, err
		}},
		{"webhook subscriptions", anyOf(s.AllSubscriptions)},
		{"attempts at webhooks", anyOf(s.AllAttempts)},
		{"dropped webhook events", anyOf(s.AllDropped)},
		{"processes", anyOf(s.AllProcesses)},
		{"idempotency keys of processes", anyOf(s.AllKeys)},
		{"a ledger", anyOf(s.AllLines)},
	} {
		exists, err := list.exists(ctx)
		if err != nil {
			return fmt.Errorf("transfer: looking for %s in the target: %w", list.name, err)
		}
		if exists {
			return fmt.Errorf("%w: it has %s", ErrNotEmpty, list.name)
		}
	}
	return nil
}

// anyOf returns a function that reports whether a list has an element.
func anyOf[T any](list func(context.Context) iter.Seq2[T, error]) func(context.Context) (bool, error) {
	return func(ctx context.Context) (bool, error) {
		for _, err := range list(ctx) {
			return err == nil, err
		}
		return false, nil
	}
}
