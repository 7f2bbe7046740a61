// Package storagetest is the suite that every storage backend passes. The
// author of a backend runs it from a test of his own:
//
//	func TestBackend(t *testing.T) {
//		storagetest.Run(t, func(t *testing.T) storagetest.Backend {
//			db := openEmpty(t) // closed by t.Cleanup
//			return storagetest.Backend{
//				Transactor:  db,
//				Documents:   db.Documents(),
//				Accounts:    db.Accounts(),
//				BusySignals: db.BusySignals(),
//				Requests:    db.Requests(),
//				Sandbox:     db.Sandbox(),
//				Jobs:        db.Jobs(),
//				EvidenceLog: db.EvidenceLog(),
//				Webhooks:    db.Webhooks(),
//				Processes:   db.Processes(),
//				Pages:       db.Pages(),
//				Buckets:     db.Buckets(), // unless it is for one process
//				Bytes:       func(t testing.TB) int64 { ... },
//				Reopen:      func(t *testing.T) storagetest.Backend { ... },
//			}
//		})
//	}
//
// Times in the records are whole microseconds in UTC, which is what a backend
// has to keep of them. The suite is worth running with -race.
package storagetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Backend is a backend under test, with nothing stored in it yet.
type Backend struct {
	storage.Transactor
	Documents   storage.Documents
	Accounts    account.Store
	BusySignals busysignal.Store
	Requests    signing.Store
	Sandbox     sandbox.Store
	Jobs        storage.Jobs
	EvidenceLog storage.EvidenceLog
	Webhooks    delivery.Store
	Processes   portal.Store
	Pages       storage.Records
	Buckets     storage.Buckets // nil: the backend is for one process
	// Bytes is how much room the documents take now, with all that is kept beside their
	// own bytes.
	Bytes func(t testing.TB) int64
	// Reopen closes the backend, while it may be in use, and opens it again over
	// what it has stored.
	Reopen func(t *testing.T) Backend
}

// Run runs the suite, or the topics of it that are named, for who wraps some of the stores
// of a backend that passes all. Each test opens a backend of its own, some of them two.
func Run(t *testing.T, open func(t *testing.T) Backend, names ...string) {
	topics := []struct {
		name  string
		tests tests
	}{
		{"Transactions", transactions},
		{"Overlapping", overlapping},
		{"Accounts", accounts},
		{"Clients", clients},
		{"Tokens", tokens},
		{"Ledger", ledger},
		{"BusySignals", busySignals},
		{"Requests", requests},
		{"Certificates", certificates},
		{"Sandbox", sandboxUsers},
		{"Jobs", jobs},
		{"Leases", leases},
		{"UniqueJobs", uniqueJobs},
		{"FailedJobs", failedJobs},
		{"ListedJobs", listedJobs},
		{"Claims", claims},
		{"ClaimsAtOnce", claimsAtOnce},
		{"EvidenceLog", evidence},
		{"Subscriptions", subscriptions},
		{"SigningKeys", signingKeys},
		{"WebhookAttempts", webhookAttempts},
		{"DroppedEvents", droppedEvents},
		{"AccountRecords", accountRecords},
		{"Processes", processes},
		{"ProcessLinks", processLinks},
		{"ListedProcesses", listedProcesses},
		{"ProcessPages", processPages},
		{"ProcessKeys", processKeys},
		{"PageRecords", pageRecords},
		{"Buckets", buckets},
		{"Create", creating},
		{"Read", reading},
		{"Append", appending},
		{"Sweep", sweeping},
		{"Signers", signers},
		{"Memory", memory},
		{"Reopen", reopening},
		{"Concurrency", concurrency},
	}
	left := slices.Clone(names)
	for _, topic := range topics {
		if len(names) > 0 && !slices.Contains(names, topic.name) {
			continue
		}
		left = slices.DeleteFunc(left, func(name string) bool { return name == topic.name })
		t.Run(topic.name, func(t *testing.T) {
			for name, test := range topic.tests {
				t.Run(name, func(t *testing.T) { test(t, open) })
			}
		})
	}
	if len(left) > 0 {
		t.Errorf("the suite has no topics %q", left)
	}
}

// tests are the tests of one topic by their name.
type tests = map[string]func(t *testing.T, open func(t *testing.T) Backend)

// do runs fn in a transaction that is to succeed.
func do(t *testing.T, b Backend, fn func(ctx context.Context) error) {
	t.Helper()
	if err := b.InTx(t.Context(), fn); err != nil {
		t.Fatalf("InTx: %v", err)
	}
}

// refused runs fn in a transaction that is to fail with the error given.
func refused(t *testing.T, b Backend, want error, fn func(ctx context.Context) error) {
	t.Helper()
	if err := b.InTx(t.Context(), fn); !errors.Is(err, want) {
		t.Fatalf("InTx answered %v, want %v", err, want)
	}
}

// found fails the test unless the read went well and gave what was wanted.
func found[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("stored is something else (-want +got):\n%s", diff)
	}
}

// failed fails the test unless the error is the one wanted.
func failed(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}
