package ciba

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"sync/atomic"
	"time"
)

const maxAnswer = 1 << 20 // bytes

// answer is what the provider wrote, whatever its status.
type answer struct {
	place  string // the request, as errors show it
	status int
	header http.Header
	body   []byte
}

func (c *Client) get(ctx context.Context, address string) (answer, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return answer{}, &TransportError{Err: errAddress}
	}
	a, err := c.do(req)
	if err == nil && a.status != http.StatusOK {
		err = a.fault(nil)
	}
	return a, err
}

// post sends a form as the client that the provider knows. An answer that is not 200 is an
// error.
func (c *Client) post(ctx context.Context, address string, form url.Values) (answer, error) {
	authorize, err := c.authentication(form)
	if err != nil {
		return answer{}, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, strings.NewReader(form.Encode()))
	if err != nil {
		return answer{}, &TransportError{Err: errAddress}
	}
	req.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	authorize(req)
	a, err := c.do(req)
	if err == nil && a.status != http.StatusOK {
		err = a.oauthError()
	}
	return a, err
}

// do is one try. Its error is a [*TransportError].
func (c *Client) do(req *http.Request) (answer, error) {
	a := answer{place: req.Method + " " + bare(req.URL)}
	var sent atomic.Bool
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) { sent.Store(true) }}
	req = req.WithContext(httptrace.WithClientTrace(req.Context(), trace))
	req.Header.Set("Accept", "application/json")
	response, err := c.http.Do(req)
	if err != nil {
		if inner := errors.Unwrap(err); inner != nil {
			err = inner // url.Error repeats the address
		}
		return a, &TransportError{Sent: sent.Load(), Err: fmt.Errorf("%s: %w", a.place, err)}
	}
	defer response.Body.Close()
	a.status, a.header = response.StatusCode, response.Header
	a.body, err = io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	switch {
	case err != nil:
		return a, a.fault(err)
	case len(a.body) > maxAnswer:
		return a, a.fault(errors.New("the answer is too large"))
	}
	return a, nil
}

// fault is an answer that cannot be understood.
func (a answer) fault(err error) error {
	if err == nil {
		err = fmt.Errorf("%s: status %d", a.place, a.status)
	} else {
		err = fmt.Errorf("%s: status %d: %w", a.place, a.status, err)
	}
	return &TransportError{Sent: true, Status: a.status, RetryAfter: a.retryAfter(time.Now()), Err: err}
}
