package ciba

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"time"
)

// Request is an authentication request (CIBA Core 7.1).
type Request struct {
	LoginHint string   // identifies the person in a form that the provider knows
	Scope     []string // "openid" is one of them
	ACR       string   // acr_values; empty: omitted
	// BindingMessage is shown on both devices; empty: omitted, unless Extra has one.
	BindingMessage string
	// Ping is the client_notification_token, at most 1024 characters of RFC 6750 2.1, if the client is registered for
	// ping mode; empty: poll mode.
	Ping string
	// Extra has further claims of the request object. The fields above take precedence.
	Extra map[string]any
}

// Acknowledgement is the provider's response to a request that it has accepted (CIBA Core 7.3).
type Acknowledgement struct {
	ID string // auth_req_id; secret
	// ExpiresIn is the lifetime of the request: that of the provider, at most an hour; 2 minutes if the provider's
	// is missing or invalid.
	ExpiresIn time.Duration
	// Interval is the minimum time between two calls of Tokens, between 1 second and 1 minute; 5 seconds if the
	// provider's is missing or invalid.
	Interval time.Duration
}

// RequestAuthentication makes the provider ask the person to authenticate. After a [*TransportError] with Sent it is
// unknown whether the provider has done so.
func (c *Client) RequestAuthentication(ctx context.Context, r Request) (Acknowledgement, error) {
	if c.signer == nil {
		return Acknowledgement{}, errors.New("ciba: a client without a key cannot request an authentication")
	}
	address, err := c.endpoint(ctx, backchannelEndpoint)
	if err != nil {
		return Acknowledgement{}, err
	}
	object, err := c.signer.sign(c.requestClaims(r))
	if err != nil {
		return Acknowledgement{}, err
	}
	resp, err := c.post(ctx, address, url.Values{"request": {object}})
	if err != nil {
		return Acknowledgement{}, err
	}
	return resp.acknowledgement()
}

// requestClaims returns the claims of the request object (CIBA Core 7.1.1).
func (c *Client) requestClaims(r Request) map[string]any {
	claims := maps.Clone(r.Extra)
	if claims == nil {
		claims = make(map[string]any)
	}
	for name, value := range map[string]string{
		"login_hint":                r.LoginHint,
		"scope":                     strings.Join(r.Scope, " "),
		"acr_values":                r.ACR,
		"binding_message":           r.BindingMessage,
		"client_notification_token": r.Ping,
	} {
		if value != "" {
			claims[name] = value
		}
	}
	maps.Copy(claims, c.baseClaims())
	return claims
}

// acknowledgement parses a successful response to an authentication request.
func (r response) acknowledgement() (Acknowledgement, error) {
	var body struct {
		ID        string          `json:"auth_req_id"`
		ExpiresIn json.RawMessage `json:"expires_in"`
		Interval  json.RawMessage `json:"interval"`
	}
	if err := r.decode(&body); err != nil {
		return Acknowledgement{}, err
	}
	if !isToken(body.ID) {
		return Acknowledgement{}, r.transportError(errors.New("no auth_req_id"))
	}
	ack := Acknowledgement{ID: body.ID, ExpiresIn: 2 * time.Minute, Interval: 5 * time.Second}
	if d, ok := parseSeconds(body.ExpiresIn); ok {
		ack.ExpiresIn = min(d, time.Hour)
	}
	if d, ok := parseSeconds(body.Interval); ok {
		ack.Interval = min(max(d, time.Second), time.Minute)
	}
	return ack, nil
}

// isToken reports whether a text can be a token of RFC 6750 or an auth_req_id: visible ASCII, at most 16 KiB.
func isToken(token string) bool {
	return token != "" && len(token) <= 16<<10 && strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}

// ErrNotification is returned for a request that is not a ping of CIBA.
var ErrNotification = errors.New("ciba: not a ping notification")

const maxNotification = 64 << 10 // bytes

// ReadNotification reads a ping (CIBA Core 10.2). It returns the client_notification_token of the sender and the
// auth_req_id of the request whose tokens are available. The caller compares the token with that of the request in
// constant time and answers 204.
func ReadNotification(r *http.Request) (token, authReqID string, err error) {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if r.Method != http.MethodPost || !strings.EqualFold(scheme, "Bearer") || !isToken(token) {
		return "", "", ErrNotification
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, maxNotification+1))
	if err != nil || len(body) > maxNotification {
		return "", "", ErrNotification
	}
	var ping struct {
		ID string `json:"auth_req_id"`
	}
	if json.Unmarshal(body, &ping) != nil || !isToken(ping.ID) {
		return "", "", ErrNotification
	}
	return token, ping.ID, nil
}
