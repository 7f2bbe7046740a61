// Package httpapi serves the API over HTTP, in JSON. A handler decodes the request, calls one method of a service, and
// encodes the answer. The rules are in the services; this package maps their errors to answers (spec 1 and 2).
//
//	handler := httpapi.New(httpapi.Config{
//		BaseURL:  "https://sign.example",
//		Accounts: accounts,
//		Signals:  signals,
//		Signing:  requests,
//		Webhooks: hooks,
//		Portal:   processes,
//	})
//
// Documents are streamed: the server decodes Base64 into storage while the body arrives, and encodes from storage while
// it sends the answer.
package httpapi

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/netip"
	"path"
	"strings"
	"sync"
	"time"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// Accounts issues and checks access tokens. *account.Service implements it.
type Accounts interface {
	Issue(ctx context.Context, clientID, secret string, scopes []string) (account.Token, error)
	Revoke(ctx context.Context, clientID, secret, token string) error
	Authenticate(ctx context.Context, bearer string) (account.Caller, error)
}

// BusySignals creates busy signals. *busysignal.Service implements it.
type BusySignals interface {
	Create(ctx context.Context, account string) (id string, err error)
}

// Signing runs signing requests. *signing.Service implements it.
type Signing interface {
	Upload(ctx context.Context, r io.Reader, limit int64) (document string, err error)
	Discard(ctx context.Context, document string) error
	Start(ctx context.Context, in signing.Start) (signing.Started, error)
	Poll(ctx context.Context, account, id string, answer func(signing.Answer) error) error
}

// SandboxUsers manages sandbox users. *sandbox.Sandbox implements it.
type SandboxUsers interface {
	Create(ctx context.Context, account string, p sandbox.Profile) (sandbox.User, error)
	Update(ctx context.Context, account, id string, p sandbox.Profile) error
	Users(ctx context.Context, account string) ([]sandbox.User, error)
}

// TestCA is the certification authority of sandbox users: it answers with timestamps, OCSP responses, CRLs and
// certificates, in DER. Timestamp and OCSP answer unreadable requests with an error of the protocol. *sandbox.Sandbox
// implements it.
type TestCA interface {
	RootPEM() []byte
	Timestamp(request []byte) (response []byte)
	OCSP(request []byte) (response []byte)
	CRL() ([]byte, error)
	RootCRL() ([]byte, error)
	Issuers() ([]byte, error)
}

// Config configures the API. The paths of a service that is nil do not exist: the answer is 404.
type Config struct {
	// BaseURL is the URL of the API, without a slash at the end.
	BaseURL string
	// Accounts authenticates callers. If nil, paths that need a token do not exist.
	Accounts Accounts
	Signals  BusySignals
	Signing  Signing
	Webhooks Webhooks
	Portal   Portal
	// Sandbox is nil in production.
	Sandbox SandboxUsers
	// TestCA is nil if signers have certificates of another authority.
	TestCA TestCA
	// Notifier and Notifications are nil unless the identity provider sends notifications to [NotificationPath].
	Notifier      Notifier
	Notifications Notifications
	// MaxBody is the longest request body in bytes; 0 is 30 MiB.
	MaxBody int64
	// Limits limit rates and bytes in flight.
	Limits Limits
	// Address returns the address of the client that sent a request. If nil, it is the other end of the connection. No
	// limit by address applies to a request whose address is not valid.
	Address func(*http.Request) netip.Addr
	// Ready returns an error if the server cannot work, such as when the store does not answer. It must respect its
	// context, which ends after two seconds. If nil, the server is always ready.
	Ready func(context.Context) error
	// AuthFailed, unless nil, is called with each request whose authentication fails, and the client ID that the request
	// named: any text, or "".
	AuthFailed func(ctx context.Context, kind AuthFailure, client string)
	// Failed, unless nil, is called with errors that are the server's fault: those answered 500, 503 and 507, except
	// for an exhausted budget of [Limits], and errors that arise after an answer or beside it.
	Failed func(context.Context, error)
	// Reference serves /reference and the files below it, with a page to read and try the API. If nil, they do not exist.
	Reference http.Handler
	// Wrap, unless nil, wraps the handler of each path, for example to measure it. pattern is the path with the names
	// of its parameters in braces, or "/" for all paths that do not exist.
	Wrap func(pattern string, h http.Handler) http.Handler
}

const (
	defaultMaxBody = 30 << 20
	maxSmallBody   = 1 << 20         // bytes of a body without a document
	readyTimeout   = 2 * time.Second // of a probe
)

// api has the handlers.
type api struct {
	Config
	rates
	budgets
	imageSlots slots              // for reading images: one at a time, because their pixels take much memory
	published  func() publication // is created at the first call
}

// New returns the API's handler.
func New(c Config) http.Handler {
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Address == nil {
		c.Address = remoteAddress
	}
	a := &api{Config: c, rates: newRates(c.Limits), budgets: newBudgets(c.Limits), imageSlots: make(slots, 1)}
	mux := http.NewServeMux()
	routes := a.routes(a.operations())
	a.published = sync.OnceValue(func() publication { return a.publish(routes) })
	handlers := make(map[string]http.Handler, len(routes))
	for path, methods := range routes {
		handlers[path] = a.wrap(path, a.serve(methods.serve))
		mux.Handle(path, handlers[path])
	}
	if a.Reference != nil {
		for _, path := range []string{"/reference", "/reference/"} {
			mux.Handle(path, a.wrap(path, a.Reference))
		}
	}
	absent := a.wrap("/", a.serve(func(http.ResponseWriter, *http.Request) error { return &pathNotFound }))
	mux.Handle("/", absent)
	inserted := a.insertedMetadataPath()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.TestCA != nil && strings.HasPrefix(r.URL.Path, ocspPath):
			handlers[ocspInPath].ServeHTTP(w, r) // the mux would clean the path
		case a.Accounts != nil && inserted != "" && r.URL.Path == inserted:
			handlers[metadataPath].ServeHTTP(w, r)
		case !isClean(r.URL.Path):
			absent.ServeHTTP(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// isClean reports whether a path is in its shortest form. Other paths do not exist; the mux would redirect them, with an
// answer that is not in the API's format.
func isClean(p string) bool {
	return !strings.Contains(p, "//") && path.Clean(p) == strings.TrimSuffix(p, "/")
}

// handler answers a request, or returns an error before it has written anything. serve answers the error.
type handler func(w http.ResponseWriter, r *http.Request) error

// methods are the handlers of a path.
type methods map[string]handler

func (m methods) serve(w http.ResponseWriter, r *http.Request) error {
	h, ok := m[r.Method]
	if !ok {
		return methodNotAllowed(w, m)
	}
	return h(w, r)
}

// wrap applies Config.Wrap.
func (a *api) wrap(pattern string, h http.Handler) http.Handler {
	if a.Wrap == nil {
		return h
	}
	return a.Wrap(pattern, h)
}

// serve returns the http.Handler of a handler.
func (a *api) serve(h handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store") // spec 1.6
		w.Header().Set("X-Content-Type-Options", "nosniff")
		if err := h(w, r); err != nil {
			a.fail(w, r, err)
		}
	})
}

func (a *api) alive(w http.ResponseWriter, _ *http.Request) error {
	return writeText(w, "text/plain; charset=utf-8", "ok\n")
}

func (a *api) ready(w http.ResponseWriter, r *http.Request) error {
	if a.Ready != nil {
		ctx, cancel := context.WithTimeout(r.Context(), readyTimeout)
		defer cancel()
		if err := a.Ready(ctx); err != nil {
			return fmt.Errorf("not ready: %w: %w", &unavailable, err)
		}
	}
	return writeText(w, "text/plain; charset=utf-8", "ready\n")
}
