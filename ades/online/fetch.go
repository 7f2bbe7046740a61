package online

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
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
