package delivery

import (
	"bytes"
	"context"
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
	transport    *http.Transport
	allowPrivate bool
	limit        time.Duration // webhook.ResponseTimeout
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

// newSenderWith is newSender with a limit and a dialer, which tests choose. The sender does not use HTTP/2: requests
// are few and small, and in HTTP/2 they would share a connection, its flow control and the settings of the server.
func newSenderWith(e Endpoints, limit time.Duration, untimed *net.Dialer) *sender {
	dialer := *untimed // a copy: the caller's dialer is not changed
	// A dial may outlive its request (the transport keeps it for the next one), but not for long.
	dialer.Timeout = 2 * limit
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
	return &sender{transport: t, allowPrivate: e.AllowPrivate, limit: limit}
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

// signedMessage is a message with its signatures and the endpoint that it goes to.
type signedMessage struct {
	url, subscription string
	id                string // webhook-id
	at                time.Time
	body              []byte
	signatures        []string
}

// request returns the message as a POST (spec 5.5).
func (m signedMessage) request(ctx context.Context) (*http.Request, error) {
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

// answer is the result of a request: a status, which the caller judges, or a failure if there was no answer. It has
// neither if the request was cut short.
type answer struct {
	took    time.Duration
	status  int
	failure Failure
	detail  string
}

// cutShort reports whether the caller's context ended before there was an answer or a failure.
func (a answer) cutShort() bool { return a.status == 0 && a.failure == "" }

// post makes the request, which takes at most [webhook.ResponseTimeout]. It follows no redirect, and connects only
// to permitted addresses. (internal/archtest requires the comments "time:" where this package uses the machine's clock.)
func (s *sender) post(ctx context.Context, m signedMessage) (a answer) {
	begun := time.Now()                           // time: a duration
	defer func() { a.took = time.Since(begun) }() // time: a duration
	// The permitted URLs may have changed since the subscription was created.
	if fault := checkURL(m.url, s.allowPrivate); fault != "" {
		return answer{failure: BadAddress, detail: "The URL is not allowed. " + fault}
	}
	var p progress
	limited, cancel := context.WithTimeoutCause(ctx, s.limit, errLimit)
	defer cancel()
	request, err := m.request(httptrace.WithClientTrace(limited, p.trace()))
	if err != nil {
		return answer{failure: BadAddress, detail: "No request can be made to the URL."}
	}
	response, err := s.transport.RoundTrip(request)
	switch {
	case err == nil:
		drainBody(response.Body, cancel)
		if response.StatusCode < 100 { // RFC 9110 15: a status is from 100 to 599
			return answer{failure: BadAnswer, detail: badAnswerDetail}
		}
		return answer{status: response.StatusCode}
	case limited.Err() != nil && !errors.Is(context.Cause(limited), errLimit):
		return answer{} // cut short
	}
	failure, detail := p.failure(err, limited)
	return answer{failure: failure, detail: detail}
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
