package ciba

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"net/url"
	"strings"
	"time"
)

// Request is whom to ask and what for.
type Request struct {
	LoginHint string   // says who the person is, in a way that the provider knows
	Scope     []string // "openid" is one of them
	ACR       string   // acr_values; empty: none is sent
	// BindingMessage is shown on both devices. Empty: none is sent, unless Extra has one.
	BindingMessage string
	// Ping is the client_notification_token, at most 1024 characters of RFC 6750 2.1, of a
	// client that is registered for ping mode; empty: poll.
	Ping string
	// Extra are further claims of the request object. They do not replace those of the
	// fields above.
	Extra map[string]any
}

// Asked is a request that the provider has accepted.
type Asked struct {
	ID string // auth_req_id; secret
	// ExpiresIn is how long polling makes sense: as the provider says, at most an hour; 2
	// minutes when it says nothing that makes sense.
	ExpiresIn time.Duration
	// Interval is the least time between two calls of Tokens, between 1 second and 1 minute;
	// 5 seconds when the provider says nothing that makes sense (CIBA Core 7.3).
	Interval time.Duration
}

// Ask makes the provider ask the person. A [*TransportError] with Sent leaves open whether it
// did.
func (c *Client) Ask(ctx context.Context, r Request) (Asked, error) {
	if c.signer == nil {
		return Asked{}, errors.New("ciba: a client without a key cannot ask")
	}
	address, err := c.endpoint(ctx, backchannelEndpoint)
	if err != nil {
		return Asked{}, err
	}
	object, err := c.signer.sign(c.claims(r))
	if err != nil {
		return Asked{}, err
	}
	a, err := c.post(ctx, address, url.Values{"request": {object}})
	if err != nil {
		return Asked{}, err
	}
	return a.asked()
}

// claims are those of the request object (CIBA Core 7.1.1).
func (c *Client) claims(r Request) map[string]any {
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
	maps.Copy(claims, c.issued())
	return claims
}

// asked reads the provider's acknowledgement (CIBA Core 7.3).
func (a answer) asked() (Asked, error) {
	var ack struct {
		ID        string          `json:"auth_req_id"`
		ExpiresIn json.RawMessage `json:"expires_in"`
		Interval  json.RawMessage `json:"interval"`
	}
	if err := a.decode(&ack); err != nil {
		return Asked{}, err
	}
	if !visible(ack.ID) {
		return Asked{}, a.fault(errors.New("no auth_req_id"))
	}
	asked := Asked{ID: ack.ID, ExpiresIn: 2 * time.Minute, Interval: 5 * time.Second}
	if d, ok := seconds(ack.ExpiresIn); ok {
		asked.ExpiresIn = min(d, time.Hour)
	}
	if d, ok := seconds(ack.Interval); ok {
		asked.Interval = min(max(d, time.Second), time.Minute)
	}
	return asked, nil
}

// visible says whether a token is one of RFC 6750 or of CIBA Core 7.3, roughly: visible ASCII
// of a length that a form and a state can carry.
func visible(token string) bool {
	return token != "" && len(token) <= 16<<10 && strings.IndexFunc(token, func(r rune) bool { return r <= ' ' || r > '~' }) < 0
}
