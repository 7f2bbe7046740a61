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

// Endpoints says which endpoints requests may go to, and how. The zero value is right for the
// open Internet.
//
// When an endpoint sends more than its answer, net/http quotes that in the output of package log. A
// program that keeps personal data out of its log discards this output.
type Endpoints struct {
	// AllowPrivate lets URLs be http and lead to this machine and private networks: for trials.
	AllowPrivate bool
	// Proxy, unless nil, is where all requests go through. Which addresses it connects to is then
	// for the proxy to judge. Proxies of the environment are not used.
	Proxy *url.URL
	// Roots are the authorities that endpoints' certificates are under; nil: the system's.
	Roots *x509.CertPool
}

// message is one request.
type message struct {
	url, subscription string
	id                string // webhook-id
	at                time.Time
	body              []byte
	signatures        []string
}

// answer is what came of a request. status is 0 and failure says why when there was no answer;
// whether a status is the right one is for the caller to say.
type answer struct {
	took    time.Duration
	status  int
	failure Failure
	detail  string
}

const (
	// A body is ignored (spec 5.2). Of a short one the end is waited for a moment, so that the
	// connection serves the next request too.
	bodyTime  = time.Second
	bodyLimit = 4 << 10
	// headLimit bounds the headers of an answer, those of interim ones included, in bytes.
	headLimit = 32 << 10
	// idleTime is shorter than that after which common servers close connections that wait.
	idleTime = 4 * time.Second
)

// sender makes requests. It may be used by several goroutines.
type sender struct {
	transport *http.Transport
	private   bool
	limit     time.Duration // webhook.ResponseTimeout
}

func newSender(e Endpoints) *sender { return newSenderWith(e, webhook.ResponseTimeout, e.dialer()) }

// dialer connects to the addresses that are allowed. It looks up names without the C library, each
// of whose calls would take a thread for as long as a name server likes.
func (e Endpoints) dialer() *net.Dialer {
	d := &net.Dialer{Resolver: &net.Resolver{PreferGo: true}}
	if e.Proxy == nil {
		d.Control = guard(e.AllowPrivate).Control
	}
	return d
}

// newSenderWith leaves out HTTP/2: what is sent are few and small requests, which in it would share
// one connection, and with it the flow control and whatever the server makes of its settings.
func newSenderWith(e Endpoints, limit time.Duration, dialer *net.Dialer) *sender {
	dialer.Timeout = 2 * limit // the request ends before; what it began is not to live on
	t := &http.Transport{
		DialContext:            absolute(dialer.DialContext),
		TLSClientConfig:        &tls.Config{MinVersion: tls.VersionTLS12, RootCAs: e.Roots, NextProtos: []string{"http/1.1"}},
		TLSHandshakeTimeout:    2 * limit,
		OnProxyConnectResponse: connected,
		DisableCompression:     true,
		MaxResponseHeaderBytes: headLimit,
		MaxIdleConns:           512,
		MaxIdleConnsPerHost:    32,
		IdleConnTimeout:        idleTime,
		Protocols:              new(http.Protocols),
	}
	t.Protocols.SetHTTP1(true)
	if e.Proxy != nil {
		t.Proxy = http.ProxyURL(e.Proxy)
	}
	return &sender{transport: t, private: e.AllowPrivate, limit: limit}
}

// absolute looks up names with a dot as they are: those who run the server may have domains in which
// short names are looked for, and other hosts in these (RFC 1034 3.1).
func absolute(dial dialing) dialing {
	return func(ctx context.Context, network, address string) (net.Conn, error) {
		host, port, err := net.SplitHostPort(address)
		if err == nil && net.ParseIP(host) == nil && strings.Contains(host, ".") {
			address = net.JoinHostPort(host+".", port)
		}
		return dial(ctx, network, address)
	}
}

type dialing = func(ctx context.Context, network, address string) (net.Conn, error)

// connected looks at what a proxy says to CONNECT.
func connected(_ context.Context, _ *url.URL, _ *http.Request, a *http.Response) error {
	if a.StatusCode != http.StatusOK {
		return &proxyError{a.StatusCode}
	}
	return nil
}

// post makes the request and takes no longer than [webhook.ResponseTimeout]. It follows no redirect, and connects
// to no address that is not allowed. An answer with neither status nor failure says nothing of the
// endpoint: ctx ended before there was one.
func (s *sender) post(ctx context.Context, m message) (a answer) {
	begun := time.Now()                           // time: a duration
	defer func() { a.took = time.Since(begun) }() // time: a duration
	// What is allowed may have changed since the URL was given.
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
		finish(response.Body, cancel)
		return answer{status: response.StatusCode}
	case limited.Err() != nil && !errors.Is(context.Cause(limited), errLimit):
		return answer{}
	}
	failure, detail := p.failure(err, limited)
	return answer{failure: failure, detail: detail}
}

// request is the message as a POST (spec 5.5).
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
		// Not sent. It lets the transport repeat a request on a new connection when the one that it
		// was on turns out to be closed: two with one webhook-id are the same (RFC 9110 9.2.2).
		"Idempotency-Key": {},
	}
	return request, nil
}

// escaped is a URL with what is not in ASCII percent-encoded. net/url would do so with a path
// alone, and would then decode the rest of it.
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

// finish reads a body of which nothing is wanted, and closes it.
func finish(body io.ReadCloser, cancel context.CancelFunc) {
	timer := time.AfterFunc(bodyTime, cancel)
	defer timer.Stop()
	defer body.Close()
	io.Copy(io.Discard, io.LimitReader(body, bodyLimit))
}

// close ends connections that wait for the next request.
func (s *sender) close() { s.transport.CloseIdleConnections() }
