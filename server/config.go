package server

import (
	"cmp"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/busysignal"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/mail"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/portal/page"
	"github.com/innsigli/innsigli/sandbox"
	"github.com/innsigli/innsigli/server/internal/front"
	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/stamp/pdfium"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/sealed"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// Config says what a server is made of. Backend, MasterKey and BaseURL are required, the last but in a Sandbox that listens, and
// in Production a Provider; the zero value of every other field is right, and safe.
type Config struct {
	// Environment says who signs. The zero value is Production.
	Environment Environment

	// BaseURL is the address that clients and browsers reach the server at, such as https://sign.example. In a
	// sandbox that listens it may be empty: it is then http and the address of Listen.
	BaseURL string

	// Backend is where everything is stored. It stays the caller's to close, after the server.
	Backend Backend

	// MasterKey seals the secrets in the backend. Several servers on one backend need the same keys.
	MasterKey *sealed.Keys

	// Provider asks people to sign. It is for Production, which needs one.
	Provider idp.Provider

	// Login finds out who opens a signing page. It is for Production; nil: people can be invited, and cannot open
	// what they are invited to.
	Login page.Login

	// Sources returns where timestamps and revocation status come from, and the roots that certificates have to lead to. It
	// is called for each signature, so that its answer may change. nil: no root is trusted, and no level above B can be
	// reached, but with the authority that the server itself has in a Sandbox and a Trial.
	Sources func() ades.Sources

	// AllowDigitalSignature accepts certificates of people whose key usage has digitalSignature and not nonRepudiation: as a
	// rule, those are for logging in.
	AllowDigitalSignature bool

	// Mail sends messages to people. It is for Production and Trial; nil: none are sent.
	Mail Mail

	// Operator is the name and the looks of who runs the service.
	Operator page.Operator

	// Renderer draws pages, to find free places for stamps and to show documents. It stays the caller's to close,
	// after the server. nil: the server makes one, which compiles its code at each start.
	Renderer *pdfium.Renderer

	// TestKeys is the kind of key that new test users of a Sandbox get.
	TestKeys sandbox.KeyType

	Webhooks  Webhooks
	Retention Retention
	Limits    Limits
	Proxies   Proxies

	// Listen is the address that [Server.Run] answers at, such as 127.0.0.1:8080; port 0 takes a free one. Empty: it
	// does not listen, and the caller serves [Server.Handler].
	Listen string
	// TLS is for Listen; nil: plain HTTP, as behind a proxy that speaks TLS.
	TLS *tls.Config
	// ListenMetrics is the address that metrics and profiles are answered at, without a token; empty: they are not.
	ListenMetrics string
	// OperatorSocket is the path of a socket for the commands of the server's operator (see package
	// server/operator), which only the server's user can connect to; empty: there is none.
	OperatorSocket string

	// DrainDelay is how long a server that is to stop still takes requests, while /readyz tells load balancers to send
	// it none.
	DrainDelay time.Duration
	// Stopping, unless nil, is called when the server begins to stop.
	Stopping func()

	// Traces records what the server does; nil: nothing is recorded. It stays the caller's to shut down.
	Traces trace.TracerProvider
	// Log has what the server does, and no personal data. nil: there is none.
	Log *slog.Logger
	// RequestLevel is the level of log lines about requests that went well.
	RequestLevel slog.Level
}

// Environment says who signs, and what certifies them.
type Environment int

const (
	Production Environment = iota // people, at Config.Provider
	Sandbox                       // test users, whom clients make; an authority of the server's own certifies them
	Trial                         // production with simulated people, on this machine alone; nobody is asked
)

// Backend is where a server stores everything. *bolt.DB and *postgres.DB are backends; package storage/storagetest tests
// others. A backend may have two further methods:
//
//	Buckets() storage.Buckets    // of a backend that several servers share; without it, one server has the backend alone
//	Check(context.Context) error // reports whether the backend answers, in a schema that this version knows
//
// To replace a part of a backend, embed a Backend in a struct that has the method of that part.
type Backend interface {
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
	Pages() storage.Records

	// AllCertificates, AllSubscriptions and AllUnopened return records with secrets in them, as they are stored: all
	// kept certificates, all subscriptions, and all processes with a link that was not opened. A server that starts
	// seals them with the first master key.
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error]
	AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error]
}

// Mail sends messages.
type Mail interface {
	// Send returns nil once the message was taken by whoever delivers it. A message that failed is sent again, with
	// the same ID, for five days; one whose error is ErrMailRefused is not.
	Send(ctx context.Context, m Message) error
}

// ErrMailRefused is the error of a message that will not be taken later either.
var ErrMailRefused = mail.ErrRefused

// Message is a message to people. Text and HTML say the same.
type Message struct {
	// ID is unique to the message: letters, digits, "-", "_" and ".", for what is before the @ of a Message-ID.
	ID         string
	To         []string // addresses, with names or without (RFC 5322 3.4)
	Subject    string
	Text, HTML string
	Languages  []string // of the text, as Content-Language names them (RFC 3282)
	// Logo is a PNG that comes with the message, which the HTML names "cid:logo@innsigli" (RFC 2392); nil: there is none.
	Logo []byte
}

// transport is a Mail for package notify.
type transport struct{ Mail }

// Send implements [mail.Transport].
func (t transport) Send(ctx context.Context, m mail.Message) error {
	return t.Mail.Send(ctx, Message(m))
}

// Webhooks says what webhooks may do.
type Webhooks struct {
	Proxy            *url.URL // that all requests go through; nil: none
	MaxSubscriptions int      // of an account; 0: 100
	// AllowPrivate lets webhooks be http, and lead to this machine and private networks: for trials. In production it
	// needs a BaseURL on this machine.
	AllowPrivate bool
}

// Retention is how long what has served its purpose is remembered (spec 7.2). A zero Period is the default.
type Retention struct {
	EndedRequests    Period // 24 hours
	IdempotencyKeys  Period // 24 hours
	DeliveryAttempts Period // to webhooks, and events that were given up: 14 days
	Evidence         Period // 10 years
	// Processes is for how long processes stay that were completed or declined, or have expired, with their documents;
	// zero: until they are deleted.
	Processes Period
}

// Period is a length of time in the calendar: years are as long as they are, and days have 24 hours.
type Period struct {
	Years int
	Rest  time.Duration
}

// before returns the time at which a period began that ends now.
func (p Period) before(now time.Time) time.Time { return now.AddDate(-p.Years, 0, 0).Add(-p.Rest) }

const day = 24 * time.Hour

func (r Retention) withDefaults() Retention {
	return Retention{
		EndedRequests:    cmp.Or(r.EndedRequests, Period{Rest: day}),
		IdempotencyKeys:  cmp.Or(r.IdempotencyKeys, Period{Rest: day}),
		DeliveryAttempts: cmp.Or(r.DeliveryAttempts, Period{Rest: 14 * day}),
		Evidence:         cmp.Or(r.Evidence, Period{Years: 10}),
		Processes:        r.Processes,
	}
}

// requests is how long a request is remembered from now on: it and its idempotency key are one record.
func (r Retention) requests(now time.Time) time.Duration {
	return max(now.Sub(r.EndedRequests.before(now)), now.Sub(r.IdempotencyKeys.before(now)))
}

// Unlimited is a rate that limits nothing.
var Unlimited = storage.Rate{PerSecond: -1}

// Limits are what callers share, so that none takes it from the others. A zero is the default (spec 1.9).
type Limits struct {
	Client  storage.Rate // of the calls of an API client: 20 a second, 60 at once
	Address storage.Rate // of the calls from an address that no client is authenticated by: 10 a second, 100 at once

	Body      int64 // the longest request body in bytes: 30 MiB
	Documents int64 // bytes of bodies with documents that are under way at once, and of answers: 1280 MiB

	Connections           int // 2000
	ConnectionsPerAddress int // 400

	SlowAfter time.Duration // after which a client is cut off that is slower than LeastRate: 30 s
	LeastRate int64         // bytes a second: 8 KiB
}

// DefaultLimits are those of the zero Limits.
var DefaultLimits = Limits{
	Client: storage.Rate{PerSecond: 20, Burst: 60}, Address: storage.Rate{PerSecond: 10, Burst: 100},
	Body: 30 << 20, Documents: 1280 << 20, Connections: 2000, ConnectionsPerAddress: 400, SlowAfter: 30 * time.Second, LeastRate: 8 << 10,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Client: cmp.Or(l.Client, d.Client), Address: cmp.Or(l.Address, d.Address),
		Body: cmp.Or(l.Body, d.Body), Documents: cmp.Or(l.Documents, d.Documents),
		Connections: cmp.Or(l.Connections, d.Connections), ConnectionsPerAddress: cmp.Or(l.ConnectionsPerAddress, d.ConnectionsPerAddress),
		SlowAfter: cmp.Or(l.SlowAfter, d.SlowAfter), LeastRate: cmp.Or(l.LeastRate, d.LeastRate),
	}
}

// Proxies are the proxies in front of the server, which are believed when they say who a request is from.
type Proxies struct {
	Trusted []netip.Prefix // their addresses; those of IPv4 not written as IPv6
	Header  string         // "X-Forwarded-For" or "Forwarded" (RFC 7239); empty: the first
}

// check names what is missing or wrong.
func (c Config) check() error {
	var faults []error
	fault := func(field, text string) { faults = append(faults, fmt.Errorf("server: Config.%s %s", field, text)) }
	c.checkBackend(fault)
	if c.MasterKey == nil {
		fault("MasterKey", "is missing")
	}
	switch {
	case c.Environment < Production || c.Environment > Trial:
		fault("Environment", "is none of the environments")
	case c.Environment == Production && c.Provider == nil:
		fault("Provider", "is missing, which asks people to sign in Production")
	case c.Environment != Production && c.Provider != nil:
		fault("Provider", "is for Production")
	case c.Environment != Production && c.Login != nil:
		fault("Login", "is for Production")
	case c.Environment == Sandbox && c.Mail != nil:
		fault("Mail", "is not for a Sandbox, which sends none")
	}
	if c.BaseURL != "" || c.Environment != Sandbox || c.Listen == "" {
		if err := CheckBaseURL(c.Environment, c.BaseURL); err != nil {
			fault("BaseURL", err.Error())
		} else if c.Webhooks.AllowPrivate && c.Environment != Sandbox && !onLoopback(c.BaseURL) {
			fault("Webhooks.AllowPrivate", "is for a BaseURL on this machine, but in a Sandbox")
		}
	}
	if host, _, err := net.SplitHostPort(c.Listen); c.Listen != "" && c.Environment == Trial && (err != nil || !front.IsLoopback(host)) {
		fault("Listen", "is not on this machine, as a Trial needs it")
	}
	return errors.Join(faults...)
}

func (c Config) checkBackend(fault func(field, text string)) {
	b := c.Backend
	if b == nil {
		fault("Backend", "is missing")
		return
	}
	for _, part := range []struct {
		name    string
		missing bool
	}{
		{"Accounts", b.Accounts() == nil}, {"BusySignals", b.BusySignals() == nil}, {"Requests", b.Requests() == nil},
		{"Sandbox", b.Sandbox() == nil}, {"Documents", b.Documents() == nil}, {"Jobs", b.Jobs() == nil},
		{"EvidenceLog", b.EvidenceLog() == nil}, {"Webhooks", b.Webhooks() == nil}, {"Processes", b.Processes() == nil}, {"Pages", b.Pages() == nil},
	} {
		if part.missing {
			fault("Backend."+part.name, "is nil")
		}
	}
}

// CheckBaseURL returns what is wrong with the base URL of a server: it is an http or https URL without query. Tokens and
// documents go there: in production it is https, unless it is on this machine, and a Trial's is on this machine.
func CheckBaseURL(e Environment, address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return errors.New("is missing")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q is no http or https URL of a server", address)
	case front.IsLoopback(u.Hostname()) || e == Sandbox:
		return nil
	case u.Scheme == "http":
		return errors.New("is not https, and not on this machine")
	case e == Trial:
		return errors.New("is not on this machine, as a Trial needs it")
	}
	return nil
}

// onLoopback reports whether a URL leads to this machine.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && front.IsLoopback(u.Hostname())
}
