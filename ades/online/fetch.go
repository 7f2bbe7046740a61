package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/netguard"
)

const (
	smallAnswer  = 1 << 20 // bytes of a token, an OCSP response or a bundle of certificates
	smallTimeout = 10 * time.Second
	largeTimeout = time.Minute // of a CRL
	maxRedirects = 3
)

var (
	errTooLarge = errors.New("online: answer too large")
	errRedirect = errors.New("online: redirect not followed")
	errURL      = errors.New("online: not an http or https address")
)

// statusError is an answer that is not 200 OK.
type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("online: HTTP status %d", e.code) }

// temporary says whether the same request may succeed later (RFC 9110 15.5.9, 15.6
// and RFC 6585 section 4).
func (e *statusError) temporary() bool {
	return e.code >= 500 || e.code == http.StatusRequestTimeout || e.code == http.StatusTooManyRequests
}

// exchange is one request over HTTP and the bounds of its answer.
type exchange struct {
	url                string
	body               []byte // posted when not nil
	sends, accepts     string // media types; empty: the header is left out
	username, password string // both empty: without authorisation
	limit              int64
	timeout            time.Duration
	large              *slots // for more than smallAnswer; nil: limit is no more
}

// do returns the body of a 200. An error is [ades.ErrUnavailable] when the server is
// at fault and may answer later. It does not name the address.
func (e exchange) do(ctx context.Context, client *http.Client) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, e.timeout)
	defer cancel()
	req, err := e.request(ctx)
	if err != nil {
		return nil, err
	}
	bounded := *client
	bounded.CheckRedirect = checkRedirect
	answer, err := bounded.Do(req)
	if err != nil {
		return nil, unavailable(errors.Unwrap(err)) // url.Error repeats the address
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, unavailable(&statusError{answer.StatusCode})
	}
	return e.read(ctx, answer)
}

func (e exchange) request(ctx context.Context) (*http.Request, error) {
	method, body := http.MethodGet, io.Reader(http.NoBody)
	if e.body != nil {
		method, body = http.MethodPost, bytes.NewReader(e.body)
	}
	req, err := http.NewRequestWithContext(ctx, method, e.url, body)
	if err != nil || !overHTTP(req.URL) {
		return nil, errURL
	}
	if e.sends != "" {
		req.Header.Set("Content-Type", e.sends)
	}
	if e.accepts != "" {
		req.Header.Set("Accept", e.accepts)
	}
	if e.username != "" || e.password != "" {
		req.SetBasicAuth(e.username, e.password)
	}
	return req, nil
}

func overHTTP(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// checkRedirect follows a few redirects that keep the method and do not leave TLS.
func checkRedirect(req *http.Request, via []*http.Request) error {
	last := via[len(via)-1]
	switch {
	case len(via) > maxRedirects:
		return fmt.Errorf("%w: more than %d", errRedirect, maxRedirects)
	case req.Method != last.Method:
		return fmt.Errorf("%w: %s would become %s", errRedirect, last.Method, req.Method)
	case !overHTTP(req.URL), last.URL.Scheme == "https" && req.URL.Scheme != "https":
		return fmt.Errorf("%w: from %s to %s", errRedirect, last.URL.Scheme, req.URL.Scheme)
	}
	return nil
}

// unavailable adds [ades.ErrUnavailable] to failures that may pass.
func unavailable(err error) error {
	var status *statusError
	if errors.As(err, &status) && !status.temporary() || errors.Is(err, ErrAddress) || errors.Is(err, errRedirect) {
		return err
	}
	return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
}

// guarded is the client for addresses out of certificates: the one it is given, or
// one of its own.
type guarded struct {
	once sync.Once
	own  *http.Client
}

func (g *guarded) client(given *http.Client) *http.Client {
	if given != nil {
		return given
	}
	g.once.Do(func() { g.own = NewClient() })
	return g.own
}

// redacted is an address as it may stand in an error: who logs in and what is asked may be
// secrets.
func redacted(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a malformed address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// read returns the body of an answer. What is larger than usual waits for its turn, and
// takes no memory before.
func (e exchange) read(ctx context.Context, answer *http.Response) ([]byte, error) {
	tooLarge := fmt.Errorf("%w: more than %d bytes", errTooLarge, e.limit)
	if answer.ContentLength > e.limit {
		return nil, tooLarge
	}
	usual := min(e.limit, smallAnswer)
	body, err := readUpTo(nil, usual, answer)
	if err == nil && int64(len(body)) > usual && usual < e.limit {
		body, err = e.readLarge(ctx, body, answer)
	}
	if err == nil && int64(len(body)) > e.limit {
		return nil, tooLarge
	}
	return body, err
}

func (e exchange) readLarge(ctx context.Context, begun []byte, answer *http.Response) ([]byte, error) {
	if err := e.large.take(ctx); err != nil {
		return nil, fmt.Errorf("waiting for other large answers: %w", unavailable(err))
	}
	defer e.large.give()
	return readUpTo(begun, e.limit, answer)
}

// readUpTo appends to the body until its end, or until it is longer than the limit. The
// buffer is as long as the answer says to be, within the limit.
func readUpTo(body []byte, limit int64, answer *http.Response) ([]byte, error) {
	if size := min(answer.ContentLength, limit) + 1; size > int64(cap(body)) { // one more, to find the end
		body = append(make([]byte, 0, size), body...)
	}
	rest := io.LimitReader(answer.Body, limit+1-int64(len(body)))
	for {
		if len(body) == cap(body) {
			body = append(body, 0)[:len(body)]
		}
		n, err := rest.Read(body[len(body):cap(body)])
		body = body[:len(body)+n]
		switch {
		case err == io.EOF:
			return body, nil
		case err != nil:
			return nil, fmt.Errorf("reading the answer: %w", unavailable(err))
		}
	}
}

// maxLarge is how many large answers are read at once: each may take 64 MiB, and there may
// be as many addresses that send them as there are certificates.
const maxLarge = 2

// slots are the turns of those who read large answers. The zero value has them all.
type slots struct {
	once  sync.Once
	taken chan struct{}
}

func (s *slots) take(ctx context.Context) error {
	s.once.Do(func() { s.taken = make(chan struct{}, maxLarge) })
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *slots) give() { <-s.taken }

// ErrAddress: the name leads to an address that is not a public one and was not
// allowed.
var ErrAddress = netguard.ErrAddress

// NewClient returns a client for addresses out of certificates. It connects to
// public addresses and to those in the prefixes given, and looks at the address
// that is really dialled, after the name was resolved: a name that resolves
// differently the second time gets no further. Proxies of the environment are not
// used, because behind one the address is the proxy's to judge.
func NewClient(allowed ...netip.Prefix) *http.Client {
	guard := netguard.Guard{Allowed: allowed}
	dialer := &net.Dialer{Timeout: 5 * time.Second, Control: guard.Control}
	return &http.Client{Transport: &http.Transport{
		DialContext:            dialer.DialContext,
		TLSHandshakeTimeout:    5 * time.Second,
		ResponseHeaderTimeout:  30 * time.Second,
		MaxResponseHeaderBytes: 64 << 10,
		MaxIdleConns:           32,
		MaxConnsPerHost:        16,
		IdleConnTimeout:        time.Minute,
		ForceAttemptHTTP2:      true,
	}}
}
