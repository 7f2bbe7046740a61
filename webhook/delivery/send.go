package delivery

import (
	"bytes"
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/innsigli/innsigli/webhook"
)

// Endpoints configures which endpoints requests may go to, and how. The zero value is right for the public Internet.
// If an endpoint sends more than its answer, net/http quotes the rest in the output of package log. A program that
// keeps personal data out of its log must discard that output.
type Endpoints struct {
	// AllowPrivate permits http URLs, and endpoints on this machine and in private networks, for trials.
	AllowPrivate bool
	// Proxy, unless nil, is the proxy for all requests. It has to restrict the addresses. The environment's proxy
	// settings are not used.
	Proxy *url.URL
	// Roots are the trusted roots of endpoints' certificates. If nil, they are the system's.
	Roots *x509.CertPool
}

// message is a signed request.
type message struct {
	url, subscription string
	id                string // webhook-id
	at                time.Time
	body              []byte
	signatures        []string
}

// answer is the result of a request. If there was no answer, status is 0 and failure is set. The caller judges the
// status.
type answer struct {
	took    time.Duration
	status  int
	failure Failure
	detail  string
}

const (
	// The body of an answer is ignored (spec 5.2). The sender reads a short body to its end, for a short time, so
	// that the connection can be used again.
	bodyTimeout = time.Second
	bodyLimit   = 4 << 10
	// headerLimit is the largest size of the headers of an answer in bytes, including interim answers.
	headerLimit = 32 << 10
	// idleTimeout is shorter than that of common servers.
	idleTimeout = 4 * time.Second
)

// sender sends requests. Several goroutines may use it.
type sender struct {
	transport *http.Transport
	private   bool
	limit     time.Duration // webhook.ResponseTimeout
}

func newSender(e Endpoints) *sender { return newSenderWith(e, webhook.ResponseTimeout, e.dialer()) }

// dialer returns a dialer that connects only to permitted addresses. It does not look up names with the C library,
// in which each lookup takes a thread until the name server answers.
func (e Endpoints) dialer() *net.Dialer {
	d := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
	if e.Proxy == nil {
		d.Control = guard(e.AllowPrivate).Control
	}
	return d
}

// newSenderWith returns a sender without HTTP/2. Requests are few and small, and in HTTP/2 they would share a
// connection, its flow control and the settings of the server.
func newSenderWith(e Endpoints, limit time.Duration, dialer *net.Dialer) *sender {
	dialer.Timeout = 2 * limit // longer than the request, which it must not outlive by much
	t := &http.Transport{
		DialContext:            lookUpAbsolute(dialer.DialContext),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: e.Roots, NextProtos: []string{"http/1.1"}},
		TLSHandshakeTimeout:    2 * limit,
		OnProxyConnectResponse: checkProxyAnswer,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headerLimit,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        idleTimeout,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	if e.Proxy != nil {
		t.Proxy = http.ProxyURL(e.Proxy)
	}
	return &sender{transport: t, private: e.AllowPrivate, limit: limit}
}

// lookUpAbsolute makes a dial function look up names with a dot as absolute names. Otherwise the resolver could try
// the search domains of the host, and find other hosts there (RFC 1034 3.1).
func lookUpAbsolute(dial dialFunc) dialFunc {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err == nil && net.ParseIP(host) == nil && strings.Contains(host, ".") {
			address = net.JoinHostPort(host+".", port)
		}
		return dial(ctx, network, address)
	}
}

type dialFunc = func(ctx context.Context, network, address string) (net.Conn, error)

// checkProxyAnswer checks the proxy's answer to CONNECT.
func checkProxyAnswer(_ context.Context, _ *url.URL, _ *http.Request, a *http.Response) error {
	if a.StatusCode != http.StatusOK {
		return &proxyError{a.StatusCode}
	}
	return nil
}

// post makes the request, which takes at most [webhook.ResponseTimeout]. It follows no redirect, and connects only
// to permitted addresses. An answer with neither status nor failure means that ctx ended before there was one.
func (s *sender) post(ctx context.Context, m message) (a answer) {
	begun := time.Now()                           // time: a duration
	defer func() { a.took = time.Since(begun) }() // time: a duration
	// The permitted URLs may have changed since the subscription was created.
	if fault := checkURL(m.url, s.private); fault != "" {
		return answer{failure: BadAddress, detail: "The URL is not allowed. " + fault}
	}
	var p progress
	limited, cancel := context.WithTimeoutCause(ctx, s.limit, errLimit)
	defer cancel()
	request, err := m.request(httptrace.WithClientTrace(limited, p.trace()))
	if err != nil {
		return answer{failure: BadAddress, detail: "The URL is not one that a request can be made to."}
	}
	response, err := s.transport.RoundTrip(request)
	switch {
	case err == nil:
		drainBody(response.Body, cancel)
		return answer{status: response.StatusCode}
	case limited.Err() != nil && !errors.Is(context.Cause(limited), errLimit):
		return answer{}
	}
	failure, detail := p.failure(err, limited)
	return answer{failure: failure, detail: detail}
}

// request returns the message as a POST (spec 5.5).
func (m message) request(ctx context.Context) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, escaped(m.url), bytes.NewReader(m.body))
	if err != nil {
		return nil, err
	}
	request.Header = http.Header{
		"Content-Type":             {"application/json"},
		"User-Agent":               {"Innsigli-Webhooks/1"},
		webhook.HeaderID:           {m.id},
		webhook.HeaderTimestamp:    {strconv.FormatInt(m.at.Unix(), 10)},
		webhook.HeaderSignature:    {strings.Join(m.signatures, " ")},
		webhook.HeaderSubscription: {m.subscription},
		// The transport does not send this. It permits the transport to repeat a request on a new connection if
		// its connection was closed. Requests with one webhook-id are idempotent (RFC 9110 9.2.2).
		"Idempotency-Key": {},
	}
	return request, nil
}

// escaped returns a URL whose non-ASCII characters are percent-encoded. net/url would encode only those in the path,
// and then decode the rest of it.
func escaped(url string) string {
	var b strings.Builder
	for _, c := range []byte(url) {
		if c < utf8.RuneSelf {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	return b.String()
}

// drainBody reads a short body and closes it.
func drainBody(body io.ReadCloser, cancel context.CancelFunc) {
	timer := time.AfterFunc(bodyTimeout, cancel)
	defer timer.Stop()
	defer body.Close()
	io.Copy(io.Discard, io.LimitReader(body, bodyLimit))
}

// close closes idle connections.
func (s *sender) close() { s.transport.CloseIdleConnections() }

// outgoing is a request to a subscription before it is signed.
type outgoing struct {
	purpose    Purpose
	id         string // webhook-id
	eventType  string
	body       []byte
	verifiable bool          // if false, the signatures cannot verify, and 401 is the right answer
	number     int           // of the attempt, from 1; 0 for a ping or check
	pause      time.Duration // until the next attempt after a failure; 0: there is none
}

// send makes a request and returns the attempt, which it does not store. An error is one of the store, or means that
// the context ended before there was an answer; then there is no attempt to store or observe.
func (s *Service) send(ctx context.Context, to Subscription, m outgoing) (Attempt, error) {
	at := time.Now() // time: receivers compare it with their clocks
	signatures, err := s.signatures(ctx, to, m, at)
	if err != nil {
		return Attempt{}, err
	}
	a := s.post(ctx, message{
		url: to.URL, subscription: to.ID, id: m.id, at: at, body: m.body, signatures: signatures,
	})
	if a.status == 0 && a.failure == "" {
		return Attempt{}, fmt.Errorf("webhook: request was cut short: %w", context.Cause(ctx))
	}
	made := m.attempt(to, at, a)
	if s.options.Observed != nil {
		s.options.Observed(made)
	}
	return made, nil
}

// signatures returns a signature with the subscription's secret and one with each key of the service. Signatures
// that cannot verify have the same number and form, but are made with random keys (spec 5.6).
func (s *Service) signatures(ctx context.Context, to Subscription, m outgoing, at time.Time) ([]string, error) {
	keys, err := s.Keys(ctx)
	if err != nil {
		return nil, err
	}
	secret, private := to.Secret, s.keys.private
	if !m.verifiable {
		secret = random(len(secret))
		private = func(seed []byte) ed25519.PrivateKey { return ed25519.NewKeyFromSeed(random(len(seed))) }
	}
	list := []string{webhook.SignV1(secret, m.id, at, m.body)}
	for _, k := range keys {
		if len(k.Private) != ed25519.SeedSize {
			return nil, fmt.Errorf("webhook: key %d has %d bytes instead of %d", k.Number, len(k.Private), ed25519.SeedSize)
		}
		list = append(list, webhook.SignV1a(private(k.Private), m.id, at, m.body))
	}
	return list, nil
}

func random(length int) []byte {
	bytes := make([]byte, length)
	rand.Read(bytes)
	return bytes
}

// attempt returns the attempt for the log.
func (m outgoing) attempt(to Subscription, at time.Time, a answer) Attempt {
	made := Attempt{
		Subscription: to.ID, Event: m.id, Type: m.eventType, Purpose: m.purpose,
		Number: m.number, At: storedTime(at), Duration: a.took,
		Status: a.status, Failure: a.failure, Detail: a.detail,
	}
	if a.status != 0 {
		made.Failure, made.Detail = checkStatus(m.verifiable, a.status)
	}
	if made.Failure != "" && m.pause != 0 {
		made.Next = made.end().Add(m.pause)
	}
	return made
}

// checkStatus returns what is wrong with a status, also as a sentence, or "" if it is right (spec 5.2 items 3 and
// 4).
func checkStatus(verifiable bool, status int) (f Failure, detail string) {
	switch {
	case verifiable && !isSuccess(status):
		return BadStatus, fmt.Sprintf("A correctly signed request was answered with status %d instead of 2xx.", status)
	case !verifiable && status != http.StatusUnauthorized:
		return BadStatus, fmt.Sprintf("A request whose signature cannot verify was answered with status %d instead of 401.", status)
	}
	return "", ""
}

// isSuccess reports whether a status is 2xx.
func isSuccess(status int) bool { return status/100 == 2 }

// unanswered reports whether there was no answer.
func (a Attempt) unanswered() bool { return a.Status == 0 }

// end returns when the attempt ended.
func (a Attempt) end() time.Time { return storedTime(a.At.Add(a.Duration)) }
