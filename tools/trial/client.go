package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// client calls the API, each time at another server, as through a load balancer that
// knows nothing of them.
type client struct {
	addresses []string
	token     string
	http      http.Client
	down      func() <-chan struct{} // closed when the servers' machine has lost power; nil: it does not
}

// errPowerOff: the answer 500 is of a server whose machine has lost power.
var errPowerOff = errors.New("the machine has lost power")

// machineDown returns a channel that is closed when the machine that has power now loses it.
func (c *client) machineDown() <-chan struct{} {
	if c.down == nil {
		return nil
	}
	return c.down()
}

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// newClient signs in. Connections are not kept: some would be to servers that died.
func newClient(ctx context.Context, addresses []string) (*client, error) {
	return newClientWith(ctx, addresses, clientID, clientSecret)
}

func newClientWith(ctx context.Context, addresses []string, id, secret string) (*client, error) {
	c := &client{addresses: addresses, http: http.Client{Transport: &http.Transport{DisableKeepAlives: true}, Timeout: time.Minute}}
	form := url.Values{"grant_type": {"client_credentials"}, "client_id": {id}, "client_secret": {secret}}
	a := c.insist(ctx, func() answer {
		return c.do(ctx, http.MethodPost, "/api/v1/auth/token", []byte(form.Encode()), "Content-Type", "application/x-www-form-urlencoded")
	})
	if a.Status != http.StatusOK {
		return nil, fmt.Errorf("token: %v", a)
	}
	c.token = a.AccessToken
	return c, nil
}

// answer is what the trials read of the API's answers, and when.
type answer struct {
	Status      int    `json:"-"`
	ID          string `json:"id"`
	AccessToken string `json:"access_token"`
	PollingID   string `json:"pollingId"`
	Interval    int    `json:"interval"`
	SignedFile  []byte `json:"signedFileB64"`
	ErrorCode   string `json:"errorCode"`
	Title       string `json:"title"`

	Participants []struct {
		SigningURL string `json:"signingUrl"`
	} `json:"participants"`

	sent, received time.Time
	retryAfter     string
	err            error // the answer did not come, or broke off
}

func (a answer) String() string {
	if a.err != nil {
		return a.err.Error()
	}
	return strings.TrimSpace(fmt.Sprintf("%d %s %s", a.Status, a.ErrorCode, a.Title))
}

// lost says whether the client does not know what its call has done, or was told to make
// it again.
func (a answer) lost() bool {
	return a.err != nil || a.Status == http.StatusServiceUnavailable || a.Status == http.StatusConflict
}

// do makes one call at a server drawn at random.
func (c *client) do(ctx context.Context, method, path string, body []byte, header ...string) (a answer) {
	a.sent = time.Now()
	defer func() { a.received = time.Now() }()
	base := "http://" + c.addresses[rand.IntN(len(c.addresses))]
	request, err := http.NewRequestWithContext(ctx, method, base+path, bytes.NewReader(body))
	if err != nil {
		a.err = err
		return a
	}
	if c.token != "" {
		request.Header.Set("Authorization", "Bearer "+c.token)
	}
	for i := 0; i+1 < len(header); i += 2 {
		request.Header.Set(header[i], header[i+1])
	}
	down := c.machineDown()
	response, err := c.http.Do(request)
	if err != nil {
		a.err = err
		return a
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err == nil {
		err = json.Unmarshal(text, &a)
	}
	a.Status, a.retryAfter, a.err = response.StatusCode, response.Header.Get("Retry-After"), err
	if a.Status == http.StatusInternalServerError && isClosed(down) {
		a.err = errPowerOff
	}
	return a
}

// insist repeats a call until its answer is known.
func (c *client) insist(ctx context.Context, call func() answer) answer {
	for {
		a := call()
		if !a.lost() || ctx.Err() != nil {
			return a
		}
		pause(ctx, 50*time.Millisecond)
	}
}

func (c *client) post(ctx context.Context, path, body string, header ...string) answer {
	return c.do(ctx, http.MethodPost, path, []byte(body), append(header, "Content-Type", "application/json")...)
}

func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}
