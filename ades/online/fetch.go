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
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

const (
	smallLimit   = 1 << 20 // bytes of a token, an OCSP response or a certificate bundle
	shortTimeout = 10 * time.Second
	longTimeout  = time.Minute // for a CRL
	maxRedirects = 3
)

var (
	errTooLarge = errors.New("online: answer too large")
	errRedirect = errors.New("online: redirect not followed")
	errURL      = errors.New("online: not an http or https address")
)

// statusError is an HTTP response with a status other than 200 OK.
type statusError struct{ code int }

func (e *statusError) Error() string { return fmt.Sprintf("online: HTTP status %d", e.code) }

// isTemporary reports whether the same request may succeed later (RFC 9110 15.5.9, 15.6 and RFC
// 6585 section 4).
func (e *statusError) isTemporary() bool {
	return e.code >= 500 || e.code == http.StatusRequestTimeout || e.code == http.StatusTooManyRequests
}

// exchange is one HTTP request and the bounds of its response.
type exchange struct {
	url                 string
	body                []byte // sent by POST when not nil
	contentType, accept string // media types; "": no such header
	username, password  string // both "": no authentication
	limit               int64
	timeout             time.Duration // of the request; and again of the rest of a large response
	large               *semaphore    // for more than smallLimit; nil if limit is not above it
}

// do returns the body of a response with status 200. The error is [ades.ErrUnavailable] when the
// server failed and may answer later. It does not contain the address.
func (e exchange) do(ctx context.Context, client *http.Client) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	timer := time.AfterFunc(e.timeout, func() { cancel(context.DeadlineExceeded) })
	defer cancel(nil)
	defer timer.Stop()
	body, err := e.send(ctx, client, timer)
	if err != nil && errors.Is(context.Cause(ctx), context.DeadlineExceeded) && !errors.Is(err, context.DeadlineExceeded) {
		err = &unreachableError{context.DeadlineExceeded}
	}
	return body, err
}

// send is do within the timeout of a timer.
func (e exchange) send(ctx context.Context, client *http.Client, timer *time.Timer) ([]byte, error) {
	req, err := e.request(ctx)
	if err != nil {
		return nil, err
	}
	bounded := *client
	bounded.CheckRedirect = checkRedirect
	answer, err := bounded.Do(req)
	if err != nil {
		return nil, asUnavailable(errors.Unwrap(err)) // url.Error contains the address
	}
	defer answer.Body.Close()
	if answer.StatusCode != http.StatusOK {
		return nil, asUnavailable(&statusError{answer.StatusCode})
	}
	return e.read(ctx, answer, timer)
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
	if e.contentType != "" {
		req.Header.Set("Content-Type", e.contentType)
	}
	if e.accept != "" {
		req.Header.Set("Accept", e.accept)
	}
	if e.username != "" || e.password != "" {
		req.SetBasicAuth(e.username, e.password)
	}
	return req, nil
}

func overHTTP(u *url.URL) bool {
	return (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}

// checkRedirect permits at most maxRedirects redirects that keep the method and do not go from
// https to http.
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

// asUnavailable adds [ades.ErrUnavailable] to errors that may be temporary.
func asUnavailable(err error) error {
	var status *statusError
	switch {
	case errors.As(err, &status) && !status.isTemporary() || errors.Is(err, ErrAddress) || errors.Is(err, errRedirect):
		return err
	case status != nil:
		return fmt.Errorf("%w: %w", ades.ErrUnavailable, err)
	}
	return &unreachableError{err}
}

// unreachableError is an error of the connection to a server: no answer came, or not all of it.
type unreachableError struct{ err error }

func (e *unreachableError) Error() string { return fmt.Sprintf("%v: %v", ades.ErrUnavailable, e.err) }

func (e *unreachableError) Unwrap() []error { return []error{ades.ErrUnavailable, e.err} }

// sourceError returns the error of a source at an address.
func sourceError(kind ades.SourceKind, address string, err error) *ades.SourceError {
	return &ades.SourceError{Kind: kind, Address: redactURL(address), Failure: failureOf(err), Err: err}
}

// failureOf classifies the error of a source.
func failureOf(err error) ades.SourceFailure {
	var (
		unreachable *unreachableError
		status      *statusError
		noToken     *tsp.StatusError
		noStatus    *ocsp.StatusError
	)
	switch {
	case errors.As(err, &unreachable), errors.Is(err, ErrAddress), errors.Is(err, errURL),
		errors.Is(err, context.DeadlineExceeded), errors.Is(err, context.Canceled):
		return ades.SourceUnreachable
	case errors.As(err, &status), errors.As(err, &noToken), errors.As(err, &noStatus), errors.Is(err, errRedirect):
		return ades.SourceRefused
	}
	return ades.SourceInvalid
}

// redactURL returns an address without user information and query, for use in errors: both may be
// secret.
func redactURL(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "a malformed address"
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}

// read returns the body of a response. A response above smallLimit waits for a slot before it takes
// more memory.
func (e exchange) read(ctx context.Context, answer *http.Response, timer *time.Timer) ([]byte, error) {
	tooLarge := fmt.Errorf("%w: more than %d bytes", errTooLarge, e.limit)
	if answer.ContentLength > e.limit {
		return nil, tooLarge
	}
	freeLimit := min(e.limit, smallLimit)
	body, err := readUpTo(nil, freeLimit, answer)
	if err == nil && int64(len(body)) > freeLimit && freeLimit < e.limit {
		body, err = e.readLarge(ctx, body, answer, timer)
	}
	if err == nil && int64(len(body)) > e.limit {
		return nil, tooLarge
	}
	return body, err
}

// readLarge stops the timer while it waits for a slot, since the wait depends on other responses.
func (e exchange) readLarge(ctx context.Context, start []byte, answer *http.Response, timer *time.Timer) ([]byte, error) {
	timer.Stop()
	if err := e.large.acquire(ctx); err != nil {
		return nil, fmt.Errorf("waiting for other large answers: %w", asUnavailable(err))
	}
	defer e.large.release()
	timer.Reset(e.timeout)
	return readUpTo(start, e.limit, answer)
}

// readUpTo appends to the body until the response ends, or until the body is longer than the limit.
// It allocates what the Content-Length announces, up to the limit.
func readUpTo(body []byte, limit int64, answer *http.Response) ([]byte, error) {
	if size := min(answer.ContentLength, limit) + 1; size > int64(cap(body)) { // 1 more, to read EOF
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
			return nil, fmt.Errorf("reading the answer: %w", asUnavailable(err))
		}
	}
}

// maxLargeAtOnce bounds how many large responses are read at once. Each may take 64 MiB, and each
// certificate may name another address that sends one.
const maxLargeAtOnce = 2

// semaphore lets maxLargeAtOnce holders proceed at once. The zero value is ready to use.
type semaphore struct {
	once   sync.Once
	tokens chan struct{}
}

func (s *semaphore) acquire(ctx context.Context) error {
	s.once.Do(func() { s.tokens = make(chan struct{}, maxLargeAtOnce) })
	select {
	case s.tokens <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *semaphore) release() { <-s.tokens }
