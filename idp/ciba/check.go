package ciba

import (
	"context"
	"crypto/rand"
	"errors"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Check asks the provider for all that can be asked without a person: its metadata, its
// keys, and whether it knows the client, by an auth_req_id that does not exist. The error
// is that of a context that ended. A client without Options.Key, which can ask nobody, is
// checked as by [Client.CheckCode].
func (c *Client) Check(ctx context.Context) (Report, error) {
	if c.signer == nil {
		return c.CheckCode(ctx, "")
	}
	return c.check(ctx, backchannelEndpoint, grant(rand.Text()))
}

// CheckCode is Check for logins by the code flow: it tries an authorization code that does
// not exist. redirect is the redirect_uri that goes with it; empty: none is sent, which not
// every provider bears.
func (c *Client) CheckCode(ctx context.Context, redirect string) (Report, error) {
	invented := url.Values{"grant_type": {codeGrant}, "code": {rand.Text()}, "code_verifier": {rand.Text() + rand.Text()}}
	if redirect != "" {
		invented.Set("redirect_uri", redirect)
	}
	return c.check(ctx, authorizationEndpoint, invented)
}

const codeGrant = "authorization_code"

// check is one of the client for what begins at an endpoint and ends with a grant.
func (c *Client) check(ctx context.Context, begins string, invented url.Values) (Report, error) {
	var r Report
	m, err := c.readMetadata(ctx)
	c.checkEndpoints(begins, m, err, &r)
	if err == nil {
		c.checkMetadata(invented.Get("grant_type"), m, &r)
	}
	c.checkKeys(ctx, &r)
	c.checkCredentials(ctx, invented, &r)
	return r, ctx.Err()
}

// checkEndpoints collects the endpoints of the options and of the metadata, which may have
// been unreadable.
func (c *Client) checkEndpoints(begins string, m metadata, unread error, r *Report) {
	needed := func(name string) bool {
		return name == begins || name != backchannelEndpoint && name != authorizationEndpoint
	}
	var missing []string
	for _, name := range endpointNames {
		address, err := c.address(m, name)
		switch {
		case err == nil:
			*r.Endpoints.place(name) = address
		case needed(name) && address == "":
			missing = append(missing, name)
		case needed(name):
			r.problem(TopicEndpoints, "%s: %s", name, plain(err))
		}
	}
	switch {
	case unread == nil && missing != nil:
		r.problem(TopicEndpoints, "neither the metadata nor the configuration has %s", strings.Join(missing, ", "))
	case unread != nil && missing != nil:
		r.problem(TopicMetadata, "%s", plain(unread))
	case unread != nil:
		r.doubt(TopicMetadata, "%s", plain(unread))
	}
}

// checkMetadata compares what the metadata says, where it says anything, with the options.
func (c *Client) checkMetadata(grantType string, m metadata, r *Report) {
	r.ACRValues, r.DeliveryModes = m.ACRValues, m.DeliveryModes
	lacks := func(list []string, value, what string) {
		if len(list) > 0 && !slices.Contains(list, value) {
			r.doubt(TopicMetadata, "the metadata names no %s %q, only %q", what, value, cut(strings.Join(list, ", ")))
		}
	}
	if grantType != codeGrant {
		lacks(m.RequestAlgorithms, c.signer.algorithm, "request signing algorithm")
	}
	lacks(m.GrantTypes, grantType, "grant type")
	method := "client_secret_basic"
	if c.options.PrivateKeyJWT {
		method = "private_key_jwt"
	}
	lacks(m.ClientMethods, method, "client authentication")
}

func (c *Client) checkKeys(ctx context.Context, r *Report) {
	if r.Endpoints.JWKS == "" {
		return
	}
	keys, err := c.readKeys(ctx, r.Endpoints.JWKS)
	if r.Keys = len(keys.keys); err != nil {
		r.problem(TopicKeys, "%s", plain(err))
	} else if r.Keys == 0 {
		r.problem(TopicKeys, "none that can be used")
	}
}

// checkCredentials asks for the tokens of nothing: invalid_grant means that the client is
// known (RFC 6749 5.2). The answer's Date also tells the provider's clock.
func (c *Client) checkCredentials(ctx context.Context, invented url.Values, r *Report) {
	if r.Endpoints.Token == "" {
		return
	}
	before := time.Now()
	a, err := c.post(ctx, r.Endpoints.Token, invented)
	if date, failed := http.ParseTime(a.header.Get("Date")); failed == nil {
		middle := before.Add(time.Since(before) / 2)
		// A Date has no fraction.
		r.Skew = date.Add(time.Second / 2).Sub(middle).Round(time.Second)
	}
	if lifetime := c.options.lifetime(); r.Skew.Abs() > min(leeway, lifetime)/2 {
		r.problem(TopicClock, "the provider's clock differs by %v: what is signed lives %v", r.Skew, lifetime)
	}
	var refused *Error
	switch {
	case err == nil:
		r.problem(TopicTokens, "the token endpoint gives tokens for nothing")
	case !errors.As(err, &refused):
		r.problem(TopicTokens, "%s", plain(err))
	case refused.Code != "invalid_grant":
		r.problem(TopicClient, "the token endpoint does not take the client: %d %.200q", refused.Status, refused.Code)
	}
}

func plain(err error) string { return strings.TrimPrefix(err.Error(), "ciba: ") }
