package ciba

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strconv"
	"strings"
	"sync/atomic"
	"time"
)

// Error is an OAuth error response of the provider (RFC 6749 5.2).
type Error struct {
	Status      int           // of HTTP; 0 for an error in a redirect (RFC 6749 4.1.2.1)
	Code        string        // such as "access_denied"; at most 200 bytes
	Description string        // error_description; at most 4 KiB
	RetryAfter  time.Duration // the Retry-After of the response; 0: none
}

// Error returns the status and the code. It omits the description, which may name a person.
func (e *Error) Error() string {
	if e.Status == 0 {
		return fmt.Sprintf("ciba: the provider answered: %q", e.Code)
	}
	return fmt.Sprintf("ciba: the provider answered with status %d: %q", e.Status, e.Code)
}

// Pending reports whether polling continues after the error: the person has not answered, or the client polled too
// often (slow_down) and must increase its interval by 5 seconds (CIBA Core 11).
func (e *Error) Pending() bool { return e.Code == "authorization_pending" || e.Code == "slow_down" }

// TransportError means that there was no response, or one that the client cannot understand.
type TransportError struct {
	Sent       bool          // the provider may have received the request
	Status     int           // of HTTP; 0: no response
	RetryAfter time.Duration // as in Error
	Err        error
}

func (e *TransportError) Error() string { return "ciba: " + e.Err.Error() }
func (e *TransportError) Unwrap() error { return e.Err }

// RetryAfter returns the Retry-After of the response in an error; 0: none.
func RetryAfter(err error) time.Duration {
	var refused *Error
	var transport *TransportError
	switch {
	case errors.As(err, &refused):
		return refused.RetryAfter
	case errors.As(err, &transport):
		return transport.RetryAfter
	}
	return 0
}

// defaultWait is the time to wait if a provider that limits requests does not say how long.
const defaultWait = time.Minute

// TooManyRequests reports whether the provider refused a request because of a limit, and how long to wait. That is the
// status 429 (RFC 6585 4), and the errors slow_down and too_many_requests. After a call of [Client.Tokens], whose error
// may be Pending, only the status counts.
func TooManyRequests(err error) (wait time.Duration, ok bool) {
	var refused *Error
	var transport *TransportError
	switch {
	case errors.As(err, &refused):
		ok = refused.Status == http.StatusTooManyRequests || refused.Code == "slow_down" || refused.Code == "too_many_requests"
	case errors.As(err, &transport):
		ok = transport.Status == http.StatusTooManyRequests
	}
	if !ok {
		return 0, false
	}
	return cmp.Or(RetryAfter(err), defaultWait), true
}

// UntrustedError means that tokens or claims are not those that the provider would issue to this client.
type UntrustedError struct{ Err error }

func (e *UntrustedError) Error() string { return "ciba: " + e.Err.Error() }
func (e *UntrustedError) Unwrap() error { return e.Err }

func untrusted(format string, values ...any) error {
	return &UntrustedError{fmt.Errorf(format, values...)}
}

const maxResponse = 1 << 20 // bytes

// response is a response of the provider, of any status.
type response struct {
	request string // method and address, for error texts
	status  int
	header  http.Header
	body    []byte
}

// get sends a GET request. A response whose status is not 200 is an error.
func (c *Client) get(ctx context.Context, address string) (response, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return response{}, &TransportError{Err: errAddress}
	}
	resp, err := c.do(req)
	if err == nil && resp.status != http.StatusOK {
		err = resp.transportError(nil)
	}
	return resp, err
}

// post sends a form with the client's authentication. A response whose status is not 200 is an error.
func (c *Client) post(ctx context.Context, address string, form url.Values) (response, error) {
	setHeader, err := c.authenticate(form)
	if err != nil {
		return response{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return response{}, &TransportError{Err: errAddress}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	setHeader(req)
	resp, err := c.do(req)
	if err == nil && resp.status != http.StatusOK {
		err = resp.oauthError()
	}
	return resp, err
}

// do makes one attempt. Its error is a [*TransportError].
func (c *Client) do(req *http.Request) (response, error) {
	r := response{request: req.Method + " " + redacted(req.URL)}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	req.Header.Set("Accept", "application/json")
	resp, err := c.http.Do(req)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // url.Error repeats the address, which may contain a secret
		}
		return r, &TransportError{Sent: sent.Load(), Err: fmt.Errorf("%s: %w", r.request, err)}
	}
	defer resp.Body.Close()
	r.status, r.header = resp.StatusCode, resp.Header
	r.body, err = io.ReadAll(io.LimitReader(resp.Body, maxResponse+1))
	switch {
	case err != nil:
		return r, r.transportError(err)
	case len(r.body) > maxResponse:
		return r, r.transportError(errors.New("the answer is too large"))
	}
	return r, nil
}

// transportError returns the error for a response that the client cannot understand.
func (r response) transportError(err error) error {
	if err == nil {
		err = fmt.Errorf("%s: status %d", r.request, r.status)
	} else {
		err = fmt.Errorf("%s: status %d: %w", r.request, r.status, err)
	}
	return &TransportError{Sent: true, Status: r.status, RetryAfter: r.retryAfter(time.Now()), Err: err}
}

var errJSON = errors.New("the answer is not a JSON object of the expected form") // a parser's error could repeat values

// decode parses the body as JSON.
func (r response) decode(into any) error {
	if json.Unmarshal(r.body, into) != nil {
		return r.transportError(errJSON)
	}
	return nil
}

const maxErrorCode = 200 // bytes

// oauthError returns the error of a response whose status is not 200.
func (r response) oauthError() error {
	var e struct {
		Code        string          `json:"error"`
		Description json.RawMessage `json:"error_description"`
	}
	if r.status < 400 || r.decode(&e) != nil || e.Code == "" || len(e.Code) > maxErrorCode {
		return r.transportError(nil)
	}
	return &Error{Status: r.status, Code: e.Code, Description: truncate(stringOrJSON(e.Description)), RetryAfter: r.retryAfter(time.Now())}
}

// stringOrJSON returns the value of a member that should be a string (RFC 6749 5.2). Some providers send other
// values, which are returned as JSON.
func stringOrJSON(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return strings.ToValidUTF8(string(raw), "")
	}
	return s
}

// truncate returns the first 4 KiB of a text.
func truncate(s string) string {
	if len(s) > 4<<10 {
		s = strings.ToValidUTF8(s[:4<<10], "")
	}
	return s
}

// retryAfter returns the Retry-After of the response, which is in seconds or a date (RFC 9110 10.2.3). It returns 0
// for a value that is not within a day.
func (r response) retryAfter(now time.Time) time.Duration {
	const day = 24 * time.Hour
	value := r.header.Get("Retry-After")
	wait := time.Duration(0)
	if seconds, err := strconv.ParseUint(value, 10, 32); err == nil {
		wait = time.Duration(seconds) * time.Second
	} else if at, err := http.ParseTime(value); err == nil {
		wait = at.Sub(now)
	}
	if wait < 0 || wait > day {
		return 0
	}
	return wait
}

// parseSeconds parses a number of seconds, which providers write as an integer, with a fraction or as a string. ok is
// false unless it is a number above 0.
func parseSeconds(raw json.RawMessage) (d time.Duration, ok bool) {
	text := strings.Trim(string(raw), `"`)
	s, err := strconv.ParseFloat(text, 64)
	if err != nil || !(s > 0) { // also NaN
		return 0, false
	}
	const century = 100 * 365 * 24 * 3600
	return time.Duration(min(s, century) * float64(time.Second)), true
}
