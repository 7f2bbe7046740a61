package httpapi_test

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/httpapi"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
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
	if _, _, err := postgres.Migrate(t.Context(), url, postgres.Options{}); err != nil {
		t.Fatal(err)
	}
	db, err := postgres.Open(t.Context(), url, postgres.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return db
}

// faultyStore is a store that can fail.
type faultyStore struct {
	backend
	failure atomic.Pointer[storeFailure]
}

// storeFailure is the error of a store that fails, in writes only or in reads as well.
type storeFailure struct {
	err   error
	reads bool
}

func (f *faultyStore) fail(with *storeFailure) { f.failure.Store(with) }

func (f *faultyStore) write() error {
	if failure := f.failure.Load(); failure != nil {
		return fmt.Errorf("store: writing: %w", failure.err)
	}
	return nil
}

func (f *faultyStore) read() error {
	if failure := f.failure.Load(); failure != nil && failure.reads {
		return fmt.Errorf("store: reading: %w", failure.err)
	}
	return nil
}

// ready reports whether the store answers.
func (f *faultyStore) ready(ctx context.Context) error {
	_, err := f.Accounts().Accounts(ctx)
	return errors.Join(err, f.read())
}

func (f *faultyStore) InTx(ctx context.Context, fn func(context.Context) error) error {
	if err := f.write(); err != nil {
		return err
	}
	return f.backend.InTx(ctx, fn)
}

func (f *faultyStore) Accounts() account.Store  { return fallibleAccounts{f.backend.Accounts(), f} }
func (f *faultyStore) Requests() signing.Store  { return fallibleRequests{f.backend.Requests(), f} }
func (f *faultyStore) Sandbox() sandbox.Store   { return fallibleSandbox{f.backend.Sandbox(), f} }
func (f *faultyStore) Webhooks() delivery.Store { return fallibleWebhooks{f.backend.Webhooks(), f} }
func (f *faultyStore) Processes() portal.Store  { return fallibleProcesses{f.backend.Processes(), f} }
func (f *faultyStore) Documents() storage.Documents {
	return fallibleDocuments{f.backend.Documents(), f}
}

type fallibleAccounts struct {
	account.Store
	of *faultyStore
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
	of *faultyStore
}

func (s fallibleRequests) Request(ctx context.Context, id string) (signing.Request, error) {
	r, err := s.Store.Request(ctx, id)
	return r, errors.Join(err, s.of.read())
}

type fallibleSandbox struct {
	sandbox.Store
	of *faultyStore
}

func (s fallibleSandbox) Users(ctx context.Context, account string) ([]sandbox.User, error) {
	list, err := s.Store.Users(ctx, account)
	return list, errors.Join(err, s.of.read())
}

type fallibleWebhooks struct {
	delivery.Store
	of *faultyStore
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
	of *faultyStore
}

func (s fallibleProcesses) Process(ctx context.Context, id string) (portal.Process, error) {
	p, err := s.Store.Process(ctx, id)
	return p, errors.Join(err, s.of.read())
}

type fallibleDocuments struct {
	storage.Documents
	of *faultyStore
}

// Create fails in the middle of the document.
func (s fallibleDocuments) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	if err := s.of.write(); err != nil {
		_, _ = io.CopyN(io.Discard, r, 100)
		return storage.Ref{}, err
	}
	return s.Documents.Create(ctx, r, limit, hashes...)
}

// documents is a store of documents that records the IDs of all that were created.
type documents struct {
	storage.Documents
	mu   sync.Mutex
	made []string
}

func (d *documents) Create(ctx context.Context, r io.Reader, limit int64, hashes ...crypto.Hash) (storage.Ref, error) {
	ref, err := d.Documents.Create(ctx, r, limit, hashes...)
	if err == nil {
		d.mu.Lock()
		defer d.mu.Unlock()
		d.made = append(d.made, ref.ID)
	}
	return ref, err
}

// stored returns the contents of the stored documents, in the order of their creation. It reports a document that no
// request refers to, which a refused request should have removed.
func (d *documents) stored(t *testing.T) [][]byte {
	t.Helper()
	if n, err := d.Sweep(t.Context(), time.Now().Add(time.Hour)); n != 0 || err != nil {
		t.Errorf("%d documents without a request were left behind, %v", n, err)
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	var contents [][]byte
	for _, id := range d.made {
		blob, err := d.Open(t.Context(), id)
		if errors.Is(err, storage.ErrNotFound) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		contents = append(contents, readAll(t, io.NewSectionReader(blob, 0, blob.Size())))
		if err := blob.Close(); err != nil {
			t.Error(err)
		}
	}
	return contents
}

// wantDocuments checks the number of stored documents.
func (c *client) wantDocuments(n int) {
	c.Helper()
	if left := c.documents.stored(c.T); len(left) != n {
		c.Errorf("the store has %d documents, want %d", len(left), n)
	}
}

// While the store is unavailable or full, each call that needs it reports that. Afterwards it works again.
func TestStoreThatFails(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{breaks: true, renderer: pdftest.Blank{}}) // the server may say that it failed
	c := s.sender(t)
	user := c.user(person)
	made := c.made(draft)
	hook := c.subscribe("https://hooks.example/")
	polled := c.begin(startBody(idpSim))
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}
	calls := map[string]func(*client) answer{
		"token":       func(c *client) answer { return c.form(form) },
		"busy signal": func(c *client) answer { return c.call(http.MethodPost, "/api/v1/signing/busy-signal", nil) },
		"start":       func(c *client) answer { return c.call(http.MethodPost, "/api/v1/signing", startBody(idpApp)) },
		"poll":        func(c *client) answer { return c.poll(polled) },
		"make a user": func(c *client) answer {
			return c.call(http.MethodPost, users, person.with(fields{"kennitala": "0101302990", "phone": "5550102"}))
		},
		"make a webhook": func(c *client) answer { return c.call(http.MethodPost, webhooks, newHook("https://hooks.example/")) },
		"change a webhook": func(c *client) answer {
			return c.call(http.MethodPut, webhooks+"/"+hook, fields{"isActive": false})
		},
		"make a process":            func(c *client) answer { return c.create(draft) },
		"make a process with a key": func(c *client) answer { return c.createWithKey("the contract", draft) },
		"read a process":            func(c *client) answer { return c.call(http.MethodGet, pathOf(made), nil) },
		"read its document":         func(c *client) answer { return c.call(http.MethodGet, pathOf(made)+"/document", nil) },
		"delete a process":          func(c *client) answer { return c.call(http.MethodDelete, pathOf(made), nil) },
		"sign in a process":         func(c *client) answer { return c.signAs(made, 0, user) },
		"decline in a process":      func(c *client) answer { return c.declineAs(made, 0, nil) },
		"list the webhooks":         func(c *client) answer { return c.call(http.MethodGet, webhooks, nil) },
		"read a webhook":            func(c *client) answer { return c.call(http.MethodGet, webhooks+"/"+hook, nil) },
		"list the users":            func(c *client) answer { return c.call(http.MethodGet, users, nil) },
		"/readyz":                   func(c *client) answer { return c.call(http.MethodGet, "/readyz", nil) },
		"/healthz":                  func(c *client) answer { return c.call(http.MethodGet, "/healthz", nil) },
		"the test authority":        func(c *client) answer { return c.call(http.MethodGet, "/crl", nil) },
	}
	everything := &storeFailure{storage.ErrUnavailable, true}
	noRoom := &storeFailure{storage.ErrFull, false}
	for name, test := range map[string]struct {
		how     *storeFailure
		status  int
		title   string
		spared  []string // calls that do without
		waiting []string // Retry-After
	}{
		"unavailable": {everything, http.StatusServiceUnavailable, "Service unavailable", []string{"/healthz", "the test authority"}, []string{"1"}},
		"full":        {noRoom, http.StatusInsufficientStorage, "No room left", []string{"/healthz", "the test authority", "/readyz", "list the users", "list the webhooks", "read a webhook", "read a process", "read its document"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			s.store.fail(test.how)
			defer s.store.fail(nil)
			for call, send := range calls {
				t.Run(call, func(t *testing.T) {
					c := c.in(t)
					a := send(c)
					if slices.Contains(test.spared, call) {
						diff(t, "status", http.StatusOK, a.status)
						return
					}
					c.wantProblem(a, test.status, test.title)
					if d := cmp.Diff(test.waiting, a.header.Values("Retry-After")); d != "" {
						t.Errorf("Retry-After: %s", d)
					}
				})
			}
		})
		t.Run("after "+name, func(t *testing.T) {
			c := c.in(t)
			diff(t, "ready", http.StatusOK, c.call(http.MethodGet, "/readyz", nil).status)
			c.wantDocuments(2) // of the request and of the process that were there before
			diff(t, "process", made, c.shown(made))
			c.signature(c.sign(startBody(idpApp)))
		})
	}
	c.signature(c.signed(c.poll(polled)))
	c.process(http.StatusCreated, c.createWithKey("the contract", draft))
	c.signedAs(made, 0, user, "Completed")
}

// A readiness probe does not wait for a store that does not answer.
func TestReadyDoesNotHang(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := httpapi.New(httpapi.Config{Ready: func(ctx context.Context) error {
			<-ctx.Done()
			return ctx.Err()
		}})
		began, w := time.Now(), httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz", nil))
		diff(t, "status", http.StatusServiceUnavailable, w.Code)
		diff(t, "Retry-After", "1", w.Header().Get("Retry-After"))
		diff(t, "time", 2*time.Second, time.Since(began))
	})
}
