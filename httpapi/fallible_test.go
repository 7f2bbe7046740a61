package httpapi_test

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"iter"
	"path/filepath"
	"sync/atomic"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	postgrestest "github.com/innsigli/innsigli/internal/test/postgres"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
	"github.com/innsigli/innsigli/storage/postgres"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// backend is an open store.
type backend interface {
	storage.Transactor
	Accounts() account.Store
	BusySignals() busysignal.Store
	Requests() signing.Store
	Sandbox() sandbox.Store
	Documents() storage.Documents
	Jobs() storage.Jobs
	EvidenceLog() storage.EvidenceLog
	Webhooks() delivery.Store
	Processes() portal.Store
	AllProcesses(ctx context.Context) iter.Seq2[portal.Process, error]
	Close() error
}

var (
	_ backend = (*bolt.DB)(nil)
	_ backend = (*postgres.DB)(nil)
)

// inFile is a store in a new file.
func inFile(t *testing.T) backend {
	t.Helper()
	db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// inPostgres is a store in a new database.
func inPostgres(t *testing.T) backend {
	t.Helper()
	url := postgrestest.Database(t)
	if _, _, err := postgres.Migrate(t.Context(), url); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// fallible is a store that fails when it is told to.
type fallible struct {
	backend
	failure atomic.Pointer[storeFailure]
}

// storeFailure is how a store fails: in reads too, or writes alone as when there is no room.
type storeFailure struct {
	err   error
	reads bool
}

func (f *fallible) fail(with *storeFailure) { f.failure.Store(with) }

func (f *fallible) write() error {
	if failure := f.failure.Load(); failure != nil {
		return fmt.Errorf("store: writing: %w", failure.err)
	}
	return nil
}

func (f *fallible) read() error {
	if failure := f.failure.Load(); failure != nil && failure.reads {
		return fmt.Errorf("store: reading: %w", failure.err)
	}
	return nil
}

// ready is what the server is ready by.
func (f *fallible) ready(ctx context.Context) error {
	_, err := f.Accounts().Accounts(ctx)
	return errors.Join(err, f.read())
}

func (f *fallible) InTx(ctx context.Context, fn func(context.Context) error) error {
	if err := f.write(); err != nil {
		return err
	}
	return f.backend.InTx(ctx, fn)
}

func (f *fallible) Accounts() account.Store      { return fallibleAccounts{f.backend.Accounts(), f} }
func (f *fallible) Requests() signing.Store      { return fallibleRequests{f.backend.Requests(), f} }
func (f *fallible) Sandbox() sandbox.Store       { return fallibleSandbox{f.backend.Sandbox(), f} }
func (f *fallible) Webhooks() delivery.Store     { return fallibleWebhooks{f.backend.Webhooks(), f} }
func (f *fallible) Processes() portal.Store      { return fallibleProcesses{f.backend.Processes(), f} }
func (f *fallible) Documents() storage.Documents { return fallibleDocuments{f.backend.Documents(), f} }

type fallibleAccounts struct {
	account.Store
	of *fallible
}

func (s fallibleAccounts) Token(ctx context.Context, hash []byte) (account.TokenRecord, error) {
	token, err := s.Store.Token(ctx, hash)
	return token, errors.Join(err, s.of.read())
}

func (s fallibleAccounts) Client(ctx context.Context, id string) (account.Client, error) {
	client, err := s.Store.Client(ctx, id)
	return client, errors.Join(err, s.of.read())
}

type fallibleRequests struct {
	signing.Store
	of *fallible
}

func (s fallibleRequests) Request(ctx context.Context, id string) (signing.Request, error) {
	r, err := s.Store.Request(ctx, id)
	return r, errors.Join(err, s.of.read())
}

type fallibleSandbox struct {
	sandbox.Store
	of *fallible
}

func (s fallibleSandbox) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	list, err := s.Store.Users(ctx, account)
	return list, errors.Join(err, s.of.read())
}

type fallibleWebhooks struct {
	delivery.Store
	of *fallible
}

func (s fallibleWebhooks) Subscription(ctx context.Context, id string) (delivery.Subscription, error) {
	found, err := s.Store.Subscription(ctx, id)
	return found, errors.Join(err, s.of.read())
}

func (s fallibleWebhooks) Subscriptions(ctx context.Context, account string) ([]delivery.Subscription, error) {
	list, err := s.Store.Subscriptions(ctx, account)
	return list, errors.Join(err, s.of.read())
}

type fallibleProcesses struct {
	portal.Store
	of *fallible
}

func (s fallibleProcesses) Process(ctx context.Context, id string) (portal.Process, error) {
	p, err := s.Store.Process(ctx, id)
	return p, errors.Join(err, s.of.read())
}

type fallibleDocuments struct {
	storage.Documents
	of *fallible
}

// Create fails in the middle of the document.
func (s fallibleDocuments) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if err := s.of.write(); err != nil {
		_, _ = io.CopyN(io.Discard, r, 100)
		return storage.Ref{}, err
	}
	return s.Documents.Create(ctx, r, limit, hashes...)
}
