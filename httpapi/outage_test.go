package httpapi_test

import (
	"context"
	"crypto"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

// fallible is a store that fails when it is told to.
type fallible struct {
	*bolt.DB
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
	return f.DB.InTx(ctx, fn)
}

func (f *fallible) Accounts() account.Store      { return fallibleAccounts{f.DB.Accounts(), f} }
func (f *fallible) Requests() signing.Store      { return fallibleRequests{f.DB.Requests(), f} }
func (f *fallible) Sandbox() sandbox.Store       { return fallibleSandbox{f.DB.Sandbox(), f} }
func (f *fallible) Documents() storage.Documents { return fallibleDocuments{f.DB.Documents(), f} }

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

// Every call says that the store cannot be reached, or that it is full, and goes on as if
// nothing had been when that is over.
func TestStoreThatFails(t *testing.T) {
	s := start(t, wiring{breaks: true}) // the server may say that it failed
	c := s.signer(t)
	c.user(person)
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
		"list the users":     func(c *client) answer { return c.call(http.MethodGet, users, nil) },
		"/readyz":            func(c *client) answer { return c.call(http.MethodGet, "/readyz", nil) },
		"/healthz":           func(c *client) answer { return c.call(http.MethodGet, "/healthz", nil) },
		"the test authority": func(c *client) answer { return c.call(http.MethodGet, "/crl", nil) },
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
		"full":        {noRoom, http.StatusInsufficientStorage, "No room left", []string{"/healthz", "the test authority", "/readyz", "list the users"}, nil},
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
			c.wantDocuments(1) // of the request that was begun before
			c.signature(c.sign(startBody(idpApp)))
		})
	}
	c.signature(c.signed(c.poll(polled)))
}

// A store that says nothing does not keep a probe waiting.
func TestReadyDoesNotHang(t *testing.T) {
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
