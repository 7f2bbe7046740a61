package transfer_test

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/storage/transfer"
	"github.com/innsigli/innsigli/webhook/delivery"
)

var (
	_ transfer.Target = (*bolt.DB)(nil)
	_ transfer.Target = (*postgres.DB)(nil)
)

func TestMain(m *testing.M) { postgrestest.Main(m) }

func TestCopyToAnotherFile(t *testing.T) {
	from, to := newBolt(t), newBolt(t)
	fill(t, from)
	copyAndCheck(t, from, to)
}

func TestCopyToPostgresAndBack(t *testing.T) {
	from, between, to := newBolt(t), newPostgres(t), newBolt(t)
	fill(t, from)
	copyAndCheck(t, from, between)
	copyAndCheck(t, between, to)
	if diff := cmp.Diff(contentOf(t, from), contentOf(t, to)); diff != "" {
		t.Errorf("the copy of the copy (-from +to):\n%s", diff)
	}
}

func TestCopyOfEmptyBackend(t *testing.T) {
	from, to := newBolt(t), newBolt(t)
	for range 2 {
		copyAndCheck(t, from, to)
	}
}

// copyAndCheck copies, and fails the test unless the target then has the records of the source and the last progress
// their numbers.
func copyAndCheck(t *testing.T, from transfer.Source, to transfer.Target) {
	t.Helper()
	var last transfer.Progress
	if err := transfer.Copy(t.Context(), from, to, func(p transfer.Progress) { last = p }); err != nil {
		t.Fatal(err)
	}
	want := contentOf(t, from)
	if diff := cmp.Diff(want, contentOf(t, to)); diff != "" {
		t.Errorf("the copy (-from +to):\n%s", diff)
	}
	if diff := cmp.Diff(want.count(), last); diff != "" {
		t.Errorf("progress (-stored +reported):\n%s", diff)
	}
	// Processes are found by their links, also by used ones.
	for _, p := range listed(t, to.AllProcesses(t.Context())) {
		for _, hash := range p.LinkHashes() {
			if got, err := to.Processes().ProcessByLink(t.Context(), hash); err != nil || got.ID != p.ID {
				t.Errorf("the link %x of process %s finds %q: %v", hash, p.ID, got.ID, err)
			}
		}
	}
	// All documents of the target are kept.
	if n, err := to.Documents().Sweep(t.Context(), farFuture); n != 0 || err != nil {
		t.Errorf("Sweep: %d, %v", n, err)
	}
}

func TestTargetNotEmpty(t *testing.T) {
	for name, add := range map[string]func(context.Context, transfer.Target) error{
		"accounts": func(ctx context.Context, s transfer.Target) error {
			return s.Accounts().AddAccount(ctx, account.Account{ID: "a", CreatedAt: start})
		},
		"an authority": func(ctx context.Context, s transfer.Target) error { return s.Sandbox().SaveAuthority(ctx, []byte("x")) },
		"busy signals": func(ctx context.Context, s transfer.Target) error {
			return s.BusySignals().AddSignal(ctx, busysignal.Signal{ID: "s"})
		},
		"requests": func(ctx context.Context, s transfer.Target) error {
			return s.Requests().CreateRequest(ctx, signing.Request{ID: "r"})
		},
		"kept certificates": func(ctx context.Context, s transfer.Target) error {
			return s.Requests().KeepCertificate(ctx, signing.KeptCertificate{Person: "p", Certificate: []byte{1}, Expires: start})
		},
		"jobs": func(ctx context.Context, s transfer.Target) error {
			return s.Jobs().Enqueue(ctx, storage.Job{Kind: "k", Due: start})
		},
		"tokens": func(ctx context.Context, s transfer.Target) error {
			return s.Accounts().AddToken(ctx, account.TokenRecord{Hash: []byte("t")})
		},
		"an evidence log": func(ctx context.Context, s transfer.Target) error {
			return s.EvidenceLog().Record(ctx, storage.Entry{Facts: []byte("{}")})
		},
		"webhook keys": func(ctx context.Context, s transfer.Target) error {
			return s.Webhooks().CreateKey(ctx, delivery.SigningKey{Number: 1})
		},
		"webhook subscriptions": func(ctx context.Context, s transfer.Target) error {
			return s.Webhooks().CreateSubscription(ctx, delivery.Subscription{ID: "s"}, 1)
		},
		"attempts at webhooks": func(ctx context.Context, s transfer.Target) error {
			return s.Webhooks().AddAttempt(ctx, delivery.Attempt{})
		},
		"dropped webhook events": func(ctx context.Context, s transfer.Target) error {
			return s.Webhooks().AddDropped(ctx, delivery.Dropped{})
		},
		"processes": func(ctx context.Context, s transfer.Target) error {
			return s.Processes().CreateProcess(ctx, portal.Process{ID: "p"})
		},
		"idempotency keys of processes": func(ctx context.Context, s transfer.Target) error {
			return s.Processes().CreateKey(ctx, portal.Key{Value: "v"})
		},
		"a ledger": func(ctx context.Context, s transfer.Target) error {
			return s.Accounts().AddLine(ctx, account.Line{ID: "l"})
		},
	} {
		t.Run(name, func(t *testing.T) {
			from, to := newBolt(t), newBolt(t)
			fill(t, from)
			if err := to.InTx(t.Context(), func(ctx context.Context) error { return add(ctx, to) }); err != nil {
				t.Fatal(err)
			}
			before := contentOf(t, to)
			if err := transfer.Copy(t.Context(), from, to, nil); !errors.Is(err, transfer.ErrNotEmpty) || !strings.Contains(err.Error(), name) {
				t.Errorf("Copy: %v", err)
			}
			if diff := cmp.Diff(before, contentOf(t, to)); diff != "" {
				t.Errorf("the target was changed (-before +after):\n%s", diff)
			}
		})
	}
}

// TestInterruptedCopy checks that a copy that was interrupted at any step has no account, and that Copy refuses to
// continue it.
func TestInterruptedCopy(t *testing.T) {
	from := newBolt(t)
	fill(t, from)
	steps := 0
	if err := transfer.Copy(t.Context(), from, newBolt(t), func(transfer.Progress) { steps++ }); err != nil {
		t.Fatal(err)
	}
	for last := 1; last < steps; last += steps / 10 {
		to := newBolt(t)
		ctx, stop := context.WithCancel(t.Context())
		step := 0
		err := transfer.Copy(ctx, from, to, func(transfer.Progress) {
			if step++; step == last {
				stop()
			}
		})
		stop()
		if !errors.Is(err, context.Canceled) {
			t.Fatalf("stopped after %d of %d: %v", last, steps, err)
		}
		if accounts, err := to.Accounts().Accounts(t.Context()); len(accounts) > 0 || err != nil {
			t.Errorf("stopped after %d of %d: %d accounts, %v", last, steps, len(accounts), err)
		}
		if err := transfer.Copy(t.Context(), from, to, nil); !errors.Is(err, transfer.ErrNotEmpty) {
			t.Errorf("again after %d of %d: %v", last, steps, err)
		}
	}
}

// TestMissingDocument checks that the missing document of a process, or of a request that has not ended, is an error.
func TestMissingDocument(t *testing.T) {
	for name, add := range map[string]func(ctx context.Context, s transfer.Target) error{
		"request live": func(ctx context.Context, s transfer.Target) error {
			return s.Requests().CreateRequest(ctx, signing.Request{ID: "live", Phase: signing.Waiting, Document: "gone"})
		},
		"process p": func(ctx context.Context, s transfer.Target) error {
			return s.Processes().CreateProcess(ctx, portal.Process{ID: "p", Document: "gone"})
		},
	} {
		from := newBolt(t)
		if err := from.InTx(t.Context(), func(ctx context.Context) error { return add(ctx, from) }); err != nil {
			t.Fatal(err)
		}
		err := transfer.Copy(t.Context(), from, newBolt(t), nil)
		if !errors.Is(err, storage.ErrNotFound) || !strings.Contains(err.Error(), name) {
			t.Errorf("Copy: %v", err)
		}
	}
}

func newBolt(t *testing.T) *bolt.DB {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}

func newPostgres(t *testing.T) *postgres.DB {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { db.Close() })
	return db
}
