// Package httpapi is the wire: JSON in, JSON out, over the standard library's
// mux. A handler decodes, calls one method, encodes; every rule lives in the
// package it calls, and errors are turned into answers here alone (spec 1
// and 2).
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
// Documents go through as streams: Base64 is decoded into storage while the body
// arrives, and encoded from storage while the answer leaves.
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
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/signing"
)

// Accounts knows who calls; *account.Service is one.
type Accounts interface {
	Issue(ctx context.Context, clientID, secret string, scopes []string) (account.Token, error)
	Revoke(ctx context.Context, clientID, secret, token string) error
	Authenticate(ctx context.Context, bearer string) (account.Caller, error)
}

// BusySignals makes busy signals; *busysignal.Service is one.
type BusySignals interface {
	Create(ctx context.Context, account string) (id string, err error)
}

// Signing runs signing requests; *signing.Service is one.
type Signing interface {
	Upload(ctx context.Context, r io.Reader, limit int64) (document string, err error)
	Discard(ctx context.Context, document string) error
	Start(ctx context.Context, in signing.Start) (signing.Started, error)
	Poll(ctx context.Context, account, id string, answer func(signing.Answer) error) error
}

// SandboxUsers keeps test users; *sandbox.Sandbox is one.
type SandboxUsers interface {
	Create(ctx context.Context, account string, p sandbox.Profile) (sandbox.User, error)
	Update(ctx context.Context, account, id string, p sandbox.Profile) error
	Users(ctx context.Context, account string) ([]sandbox.User, error)
}

// Authority answers for an authority that certifies test people, in DER; *sandbox.Sandbox
// is one. Every request gets an answer, also one that cannot be read.
type Authority interface {
	RootPEM() []byte
	Timestamp(request []byte) (response []byte)
	OCSP(request []byte) (response []byte)
	CRL() ([]byte, error)
	RootCRL() ([]byte, error)
	Issuers() ([]byte, error)
}

// Notifier reads what the identity provider sends when it has news: which conversation it
// is about, and whether the sender knows that one's secret; an [idp.Notifier] is one.
type Notifier interface {
	Notification(r *http.Request) (key string, authentic func(idp.State) bool, err error)
}

// News is told of a conversation of which there is news. signing.ErrFinished: there is no
// such conversation, or the news is not authentic. *signing.Service is one.
type News interface {
	Notified(ctx context.Context, key string, authentic func(idp.State) bool) error
}

// Config says what the API is made of. What is nil serves nothing: its paths do not exist, and are answered 404.
type Config struct {
	// BaseURL is the address that the API is reached at, without a slash at the
	// end.
	BaseURL string
	// Accounts knows the callers. Without it there are no paths that need a token.
	Accounts Accounts
	Signals  BusySignals
	Signing  Signing
	Webhooks Webhooks
	Portal   Portal
	// Sandbox is nil in production.
	Sandbox SandboxUsers
	// Authority is nil where people have certificates of others.
	Authority Authority
	// Notifier and News are nil unless the identity provider tells its news, at
	// [NotificationPath].
	Notifier Notifier
	News     News
	// MaxBody is the longest request body in bytes; 0 is 30 MiB.
	MaxBody int64
	// Limits are what callers share.
	Limits Limits
	// Address is where a request comes from; nil: from the other end of its connection. Not valid: no limit
	// by address applies to it.
	Address func(*http.Request) netip.Addr
	// Ready says whether the server can work: storage answers, in a schema that the
	// server knows, and pages can be drawn. It is to keep to its context, which ends after two seconds. nil:
	// always.
	Ready func(context.Context) error
	// Failed is called with errors that are the server's fault: those answered 500,
	// 503 and 507, but for want of room in [Limits], and those that come after or beside an answer. nil:
	// nobody is told.
	Failed func(context.Context, error)
	// Reference is the page at /reference, and the files below it, on which people read and try the API;
	// nil: there is none.
	Reference http.Handler
	// Wrap puts something around what serves a path, such as a measurement: pattern is the path with
	// the names of its parts in braces, and "/" for all paths that do not exist. nil: nothing.
	Wrap func(pattern string, h http.Handler) http.Handler
}

const (
	defaultMaxBody = 30 << 20
	maxSmallBody   = 1 << 20         // of requests that carry no document
	readyTime      = 2 * time.Second // a probe waits no longer
)

// api is the configuration with its handlers.
type api struct {
	Config
	rates
	rooms
	images    chan struct{}      // one image is read at a time, and one drawn (package signing): that takes memory for all its pixels
	published func() publication // made when it is first asked for
}

// New returns the API's handler.
func New(c Config) http.Handler {
	if c.MaxBody == 0 {
		c.MaxBody = defaultMaxBody
	}
	if c.Address == nil {
		c.Address = peer
	}
	a := &api{Config: c, rates: newRates(c.Limits), rooms: newRooms(c.Limits), images: make(chan struct{}, 1)}
	mux := http.NewServeMux()
	routes := a.routes(a.operations())
	a.published = sync.OnceValue(func() publication { return a.publish(routes) })
	handlers := make(map[string]http.Handler, len(routes))
	for path, methods := range routes {
		handlers[path] = a.wrapped(path, methods.ServeHTTP)
		mux.Handle(path, handlers[path])
	}
	if a.Reference != nil {
		for _, path := range []string{"/reference", "/reference/"} {
			mux.Handle(path, a.around(path, a.Reference))
		}
	}
	nothing := a.wrapped("/", func(http.ResponseWriter, *http.Request) error { return notFound("Path") })
	mux.Handle("/", nothing)
	inserted := a.insertedMetadataPath()
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case a.Authority != nil && strings.HasPrefix(r.URL.Path, ocspPath):
			handlers[ocspInPath].ServeHTTP(w, r) // before the mux cleans the path
		case a.Accounts != nil && inserted != "" && r.URL.Path == inserted:
			handlers[metadataPath].ServeHTTP(w, r)
		case !clean(r.URL.Path):
			nothing.ServeHTTP(w, r)
		default:
			mux.ServeHTTP(w, r)
		}
	})
}

// clean says whether a path is in its shortest form. Others are none of the API's;
// the mux would redirect them, with an answer that is not the API's either.
func clean(p string) bool {
	return !strings.Contains(p, "//") && path.Clean(p) == strings.TrimSuffix(p, "/")
}

// handler answers a request. An error is answered by the table in errors.go; it
// is returned only while nothing has been written.
type handler func(w http.ResponseWriter, r *http.Request) error

// methods are the handlers of a path.
type methods map[string]handler

func (m methods) ServeHTTP(w http.ResponseWriter, r *http.Request) error {
	h, ok := m[r.Method]
	if !ok {
		return methodNotAllowed(w, m)
	}
	return h(w, r)
}

// wrapped makes the http.Handler of a path, with what the configuration puts around it.
func (a *api) wrapped(pattern string, h handler) http.Handler { return a.around(pattern, a.serve(h)) }

func (a *api) around(pattern string, h http.Handler) http.Handler {
	if a.Wrap == nil {
		return h
	}
	return a.Wrap(pattern, h)
}

// serve makes an http.Handler of a handler.
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
		ctx, cancel := context.WithTimeout(r.Context(), readyTime)
		defer cancel()
		if err := a.Ready(ctx); err != nil {
			return fmt.Errorf("not ready: %w: %w", &unavailable, err)
		}
	}
	return writeText(w, "text/plain; charset=utf-8", "ready\n")
}
