// Package storagetest is the test suite that every storage backend passes. A test of the backend runs it:
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
// Times in the records are whole microseconds in UTC, the precision that a backend must store. Run the suite
// with -race.
package storagetest

import (
	"context"
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/sync/errgroup"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Backend is an empty backend under test.
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
	// Bytes returns the storage that documents take, in bytes, with all that is stored beside their content.
	Bytes func(t testing.TB) int64
	// Reopen closes the backend, which may be in use, and opens it again with what it has stored.
	Reopen func(t *testing.T) Backend
}

// Run runs the suite, or only the named topics of it, for an author who wraps some stores of a backend that
// passes all. Each test opens one or two backends.
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
		{"EvidenceLog", evidenceEntries},
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
	unknown := slices.Clone(names)
	for _, topic := range topics {
		if len(names) > 0 && !slices.Contains(names, topic.name) {
			continue
		}
		unknown = slices.DeleteFunc(unknown, func(name string) bool { return name == topic.name })
		t.Run(topic.name, func(t *testing.T) {
			for name, test := range topic.tests {
				t.Run(name, func(t *testing.T) { test(t, open) })
			}
		})
	}
	if len(unknown) > 0 {
		t.Errorf("the suite has no topics %q", unknown)
	}
}

// tests are the tests of one topic by their names.
type tests = map[string]func(t *testing.T, open func(t *testing.T) Backend)

// do runs fn in a transaction that must succeed.
func do(t *testing.T, b Backend, fn func(ctx context.Context) error) {
	t.Helper()
	if err := b.InTx(t.Context(), fn); err != nil {
		t.Fatalf("InTx: %v", err)
	}
}

// doFailing runs fn in a transaction that must fail with the error want.
func doFailing(t *testing.T, b Backend, want error, fn func(ctx context.Context) error) {
	t.Helper()
	if err := b.InTx(t.Context(), fn); !errors.Is(err, want) {
		t.Fatalf("InTx answered %v, want %v", err, want)
	}
}

// rollBack runs fn, which must succeed, in a transaction that is then rolled back.
func rollBack(t *testing.T, b Backend, fn func(ctx context.Context) error) {
	t.Helper()
	doFailing(t, b, errRefused, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		return errRefused
	})
}

// concurrently calls fn in n goroutines, and fails the test after an error.
func concurrently(t *testing.T, n int, fn func(i int) error) {
	t.Helper()
	var group errgroup.Group
	for i := range n {
		group.Go(func() error { return fn(i) })
	}
	if err := group.Wait(); err != nil {
		t.Fatal(err)
	}
}

// checkRead fails the test unless a read succeeded and returned want.
func checkRead[T any](t *testing.T, got T, err error, want T) {
	t.Helper()
	if err != nil {
		t.Fatalf("reading: %v", err)
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("the backend returned (-want +got):\n%s", diff)
	}
}

// checkError fails the test unless err is the one wanted.
func checkError(t *testing.T, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("the error is %v, want %v", err, want)
	}
}
