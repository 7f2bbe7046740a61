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

// Config is the configuration of a server. Backend and MasterKey are required; so are BaseURL, except in a Sandbox that
// listens, and Provider in Production. The zero value of every other field is a safe default.
type Config struct {
	// Environment is who signs, and who issues their certificates. The zero value is Production.
	Environment Environment

	// BaseURL is the URL at which clients and browsers reach the server, such as https://sign.example. In a Sandbox that
	// listens it may be empty: it is then http:// and the address of Listen.
	BaseURL string

	// Backend stores all data. The caller closes it, after the server.
	Backend Backend

	// MasterKey encrypts the secrets in the backend. All servers on one backend need the same keys.
	MasterKey *sealed.Keys

	// Provider is the identity provider, which asks people to sign. It is required in Production, and nil elsewhere.
	Provider idp.Provider

	// Login identifies the people who open a signing page. It is only for Production; nil: people can be invited, and
	// cannot open their documents.
	Login page.Login

	// Sources returns the sources of timestamps and revocation status, and the trusted roots. The server calls it for each
	// signature, so its result may change. When the trusted roots change, the result has another pool; until then it has
	// the same pool, since chains are cached by pool. If the result has no Chains, the server adds its own cache. If
	// Sources is nil, there are no sources and no roots, except those of the test authority of a Sandbox or Trial, and so
	// no level above B.
	Sources func() ades.Sources

	// AllowDigitalSignature accepts certificates of people whose key usage has digitalSignature and not nonRepudiation,
	// which are usually for logging in.
	AllowDigitalSignature bool

	// Mail sends messages to people, in Production and Trial; nil: no mail is sent.
	Mail Mail

	// Operator has the name, logo and colour of the service's operator.
	Operator page.Operator

	// Renderer draws pages, to find free space for stamps and to show documents. The caller closes it, after the server.
	// nil: the server creates one, which compiles its code at each start.
	Renderer *pdfium.Renderer

	// TestKeys is the kind of key of new sandbox users of a Sandbox.
	TestKeys sandbox.KeyType

	Webhooks  Webhooks
	Retention Retention
	Limits    Limits
	Proxies   Proxies

	// Listen is the address that the server listens on, such as 127.0.0.1:8080; port 0 is any free port. Empty: the server
	// does not listen, and the caller serves [Server.Handler].
	Listen string
	// TLS is for Listen; nil: plain HTTP, for a server behind a proxy with TLS.
	TLS *tls.Config
	// ListenMetrics is the address that metrics and profiles are served on, without a token; empty: they are not served.
	ListenMetrics string
	// OperatorSocket is the path of a socket for the operator's commands (see package server/operator). Only the user of
	// the server process can connect to it. Empty: there is no socket.
	OperatorSocket string

	// DrainDelay is how long a stopping server still accepts requests, while /readyz tells load balancers to send no more.
	DrainDelay time.Duration
	// Stopping, if not nil, is called when the server begins to stop.
	Stopping func()

	// Traces records spans; nil: nothing is recorded. The caller shuts it down.
	Traces trace.TracerProvider
	// Log is the server's log, which has no personal data. nil: nothing is logged.
	Log *slog.Logger
	// RequestLevel is the level of log lines about successful requests.
	RequestLevel slog.Level
}

// Environment is who signs, and who issues their certificates.
type Environment int

const (
	Production Environment = iota // people, through Config.Provider
	Sandbox                       // sandbox users that clients create, with certificates of a test authority of the server
	Trial                         // simulated people with such certificates; else as Production, and only on this machine
)

// Backend stores the data of a server. *bolt.DB and *postgres.DB are backends; package storage/storagetest tests others. A
// backend may have two further methods:
//
//	Buckets() storage.Buckets    // for a backend that several servers share; without it only one server may use the backend
//	Check(context.Context) error // reports whether the backend answers, with a schema that this version knows
//
// To replace one part of a backend, embed a Backend in a struct with the method of that part.
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

	// AllCertificates, AllSubscriptions and AllUnopened return records with encrypted secrets, as they are stored: all kept
	// certificates, all subscriptions, and all processes with an unopened link. A server that starts encrypts their
	// secrets again with the first master key.
	AllCertificates(ctx context.Context) iter.Seq2[signing.KeptCertificate, error]
	AllSubscriptions(ctx context.Context) iter.Seq2[delivery.Subscription, error]
	AllUnopened(ctx context.Context) iter.Seq2[portal.Process, error]
}

// Mail sends messages.
type Mail interface {
	// Send returns nil once a mail server, or another that delivers it, has accepted the message. After an error the server
	// sends the message again, with the same ID, for up to five days; not after ErrMailRefused.
	Send(ctx context.Context, m Message) error
}

// ErrMailRefused is the error of a message that will not be accepted later either.
var ErrMailRefused = mail.ErrRefused

// Message is a mail message. Text and HTML have the same content.
type Message struct {
	// ID is unique to the message: letters, digits, "-", "_" and ".". It is the part of the Message-ID before the @.
	ID         string
	To         []string // addresses, with or without names (RFC 5322 3.4)
	Subject    string
	Text, HTML string
	Languages  []string // of the text, as Content-Language names them (RFC 3282)
	// Logo is a PNG that is attached to the message; the HTML refers to it as "cid:logo@innsigli" (RFC 2392). nil: none.
	Logo []byte
}

// transport makes a [mail.Transport] of a Mail.
type transport struct{ Mail }

// Send implements [mail.Transport].
func (t transport) Send(ctx context.Context, m mail.Message) error {
	return t.Mail.Send(ctx, Message(m))
}

// Webhooks are the settings of webhooks.
type Webhooks struct {
	Proxy            *url.URL // that all requests to endpoints go through; nil: none
	MaxSubscriptions int      // for each account; 0: 100
	// AllowPrivate allows webhook URLs that are http, or lead to this machine or private networks: for trials. It
	// requires a BaseURL on this machine.
	AllowPrivate bool
}

// Retention is how long records are stored that are not needed any more (spec 7.2). A zero Period is the default.
type Retention struct {
	EndedRequests    Period // 24 hours
	IdempotencyKeys  Period // 24 hours
	DeliveryAttempts Period // of webhooks, and events whose delivery was given up: 14 days
	Evidence         Period // 10 years
	// Processes is how long completed, declined and expired processes are stored, with their documents; zero: until a
	// client or the operator deletes them.
	Processes Period
}

// Period is a number of calendar years and a duration.
type Period struct {
	Years int
	Rest  time.Duration
}

// before returns the time that is one period before now.
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

// requests returns how long an ended request is stored: as long as its idempotency key, which is part of its record.
func (r Retention) requests(now time.Time) time.Duration {
	return max(now.Sub(r.EndedRequests.before(now)), now.Sub(r.IdempotencyKeys.before(now)))
}

// Unlimited is a rate without a limit.
var Unlimited = storage.Rate{PerSecond: -1}

// NoLimit stands for no limit in a field of [Limits] whose zero value is a default.
const NoLimit = -1

// Limits bound what one caller can take from the others. A zero value is the default (spec 1.9).
type Limits struct {
	Client  storage.Rate // of the calls of one API client: 20 a second, 60 at once
	Address storage.Rate // of the unauthenticated calls from one address: 10 a second, 100 at once

	Body      int64 // longest request body in bytes: 30 MiB
	Documents int64 // bytes of all request and response bodies with documents that are in flight: 1280 MiB

	Connections           int // 2000
	ConnectionsPerAddress int // 400

	// How often one person may be asked on the phone for one account (spec 1.9): sign requests that the person has not
	// answered, 5; sign requests in an hour that did not lead to a signature, 20; logins in an hour, 20. NoLimit: any number.
	// A Sandbox has none of these limits.
	PersonPending, PersonStarts, PersonLogins int

	SlowAfter time.Duration // after which a client that is slower than LeastRate is cut off: 30 s
	LeastRate int64         // bytes a second: 8 KiB
}

// DefaultLimits are the limits that a zero Limits stands for.
var DefaultLimits = Limits{
	Client: storage.Rate{PerSecond: 20, Burst: 60}, Address: storage.Rate{PerSecond: 10, Burst: 100},
	Body: 30 << 20, Documents: 1280 << 20, Connections: 2000, ConnectionsPerAddress: 400,
	PersonPending: 5, PersonStarts: 20, PersonLogins: 20, SlowAfter: 30 * time.Second, LeastRate: 8 << 10,
}

func (l Limits) withDefaults() Limits {
	d := DefaultLimits
	return Limits{
		Client: cmp.Or(l.Client, d.Client), Address: cmp.Or(l.Address, d.Address),
		Body: cmp.Or(l.Body, d.Body), Documents: cmp.Or(l.Documents, d.Documents),
		Connections: cmp.Or(l.Connections, d.Connections), ConnectionsPerAddress: cmp.Or(l.ConnectionsPerAddress, d.ConnectionsPerAddress),
		PersonPending: cmp.Or(l.PersonPending, d.PersonPending), PersonStarts: cmp.Or(l.PersonStarts, d.PersonStarts), PersonLogins: cmp.Or(l.PersonLogins, d.PersonLogins),
		SlowAfter: cmp.Or(l.SlowAfter, d.SlowAfter), LeastRate: cmp.Or(l.LeastRate, d.LeastRate),
	}
}

// Proxies are the trusted proxies in front of the server, whose headers have the address of a request's client.
type Proxies struct {
	Trusted []netip.Prefix // their addresses; IPv4 prefixes not in IPv6 form
	Header  string         // "X-Forwarded-For" or "Forwarded" (RFC 7239); empty: the first
}

// check returns an error that names each field that is missing or wrong.
func (c Config) check() error {
	var faults []error
	fault := func(field, text string) { faults = append(faults, fmt.Errorf("server: Config.%s %s", field, text)) }
	c.checkBackend(fault)
	if c.MasterKey == nil {
		fault("MasterKey", "is missing")
	}
	switch {
	case c.Environment < Production || c.Environment > Trial:
		fault("Environment", "must be Sandbox, Production or Trial")
	case c.Environment == Production && c.Provider == nil:
		fault("Provider", "is missing: it is required in Production")
	case c.Environment != Production && c.Provider != nil:
		fault("Provider", "is only for Production")
	case c.Environment != Production && c.Login != nil:
		fault("Login", "is only for Production")
	case c.Environment == Sandbox && c.Mail != nil:
		fault("Mail", "must be nil in a Sandbox, which sends no mail")
	}
	if c.BaseURL != "" || c.Environment != Sandbox || c.Listen == "" {
		if err := CheckBaseURL(c.Environment, c.BaseURL); err != nil {
			fault("BaseURL", err.Error())
		} else if c.Webhooks.AllowPrivate && !onLoopback(c.BaseURL) {
			fault("Webhooks.AllowPrivate", "requires a BaseURL on this machine")
		}
	} else if host, _, _ := net.SplitHostPort(c.Listen); c.Webhooks.AllowPrivate && host != "" && !front.IsLoopback(host) && !net.ParseIP(host).IsUnspecified() {
		fault("Webhooks.AllowPrivate", "requires a BaseURL on this machine, or a Listen that is")
	}
	if host, _, err := net.SplitHostPort(c.Listen); c.Listen != "" && c.Environment == Trial && (err != nil || !front.IsLoopback(host)) {
		fault("Listen", "must be on this machine in a Trial")
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

// CheckBaseURL returns an error unless address is a valid base URL of a server: an http or https URL without user,
// query and fragment. Since clients send tokens and documents to it, it must be https in Production, unless it is on
// this machine. In a Trial it must be on this machine.
func CheckBaseURL(e Environment, address string) error {
	u, err := url.Parse(address)
	switch {
	case address == "":
		return errors.New("is missing")
	case err != nil || u.Scheme != "http" && u.Scheme != "https" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "":
		return fmt.Errorf("%q must be an http or https URL without user, query and fragment", address)
	case front.IsLoopback(u.Hostname()) || e == Sandbox:
		return nil
	case u.Scheme == "http":
		return errors.New("must be https, unless it leads to this machine")
	case e == Trial:
		return errors.New("must be on this machine in a Trial")
	}
	return nil
}

// onLoopback reports whether the host of a URL is this machine.
func onLoopback(address string) bool {
	u, err := url.Parse(address)
	return err == nil && front.IsLoopback(u.Hostname())
}
