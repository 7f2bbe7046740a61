package ciba

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Check tests the provider and the options without asking a person: it reads the metadata and the keys, and requests
// tokens with an auth_req_id that does not exist to find out whether the provider knows the client. The error is
// ctx.Err(). For a client without Options.Key, Check is [Client.CheckCode] without a redirect_uri.
func (c *Client) Check(ctx context.Context) (Report, error) {
	if c.signer == nil {
		return c.CheckCode(ctx, "")
	}
	return c.check(ctx, backchannelEndpoint, grant(rand.Text()))
}

// CheckCode is Check for logins by the authorization code flow: it uses an authorization code that does not exist.
// redirect is the redirect_uri; empty: omitted, which some providers reject.
func (c *Client) CheckCode(ctx context.Context, redirect string) (Report, error) {
	form := url.Values{"grant_type": {codeGrant}, "code": {rand.Text()}, "code_verifier": {rand.Text() + rand.Text()}}
	if redirect != "" {
		form.Set("redirect_uri", redirect)
	}
	return c.check(ctx, authorizationEndpoint, form)
}

const codeGrant = "authorization_code"

// check tests the flow that begins at the endpoint first and ends with the grant in a token request.
func (c *Client) check(ctx context.Context, first string, tokenRequest url.Values) (Report, error) {
	var r Report
	m, err := c.fetchMetadata(ctx)
	c.checkEndpoints(first, m, err, &r)
	if err == nil {
		c.checkMetadata(tokenRequest.Get("grant_type"), m, &r)
	}
	c.checkKeys(ctx, &r)
	c.checkCredentials(ctx, tokenRequest, &r)
	return r, ctx.Err()
}

// checkEndpoints collects the endpoints of the options and of the metadata. metadataErr is the error of reading the
// metadata.
func (c *Client) checkEndpoints(first string, m metadata, metadataErr error, r *Report) {
	needed := func(name string) bool {
		return name == first || name != backchannelEndpoint && name != authorizationEndpoint
	}
	var missing []string
	for _, name := range endpointNames {
		address, err := c.address(m, name)
		switch {
		case err == nil:
			*r.Endpoints.field(name) = address
		case needed(name) && address == "":
			missing = append(missing, name)
		case needed(name):
			r.problem(TopicEndpoints, "%s: %s", name, message(err))
		}
	}
	switch {
	case metadataErr == nil && missing != nil:
		r.problem(TopicEndpoints, "the metadata lacks %s, and the configuration does not set it", strings.Join(missing, ", "))
	case metadataErr != nil && missing != nil:
		r.problem(TopicMetadata, "%s", message(metadataErr))
	case metadataErr != nil:
		r.warning(TopicMetadata, "%s", message(metadataErr))
	}
}

// checkMetadata warns of options that the metadata does not list as supported.
func (c *Client) checkMetadata(grantType string, m metadata, r *Report) {
	r.ACRValues, r.DeliveryModes = m.ACRValues, m.DeliveryModes
	warnUnlisted := func(list []string, value, what string) {
		if len(list) > 0 && !slices.Contains(list, value) {
			r.warning(TopicMetadata, "the metadata does not list the %s %q, only %q", what, value, truncate(strings.Join(list, ", ")))
		}
	}
	if grantType != codeGrant {
		warnUnlisted(m.RequestAlgorithms, c.signer.algorithm, "request signing algorithm")
	}
	warnUnlisted(m.GrantTypes, grantType, "grant type")
	method := "client_secret_basic"
	if c.options.PrivateKeyJWT {
		method = "private_key_jwt"
	}
	warnUnlisted(m.ClientMethods, method, "client authentication")
}

// checkKeys reads the provider's key set.
func (c *Client) checkKeys(ctx context.Context, r *Report) {
	if r.Endpoints.JWKS == "" {
		return
	}
	keys, err := c.fetchKeys(ctx, r.Endpoints.JWKS)
	if r.Keys = len(keys.keys); err != nil {
		r.problem(TopicKeys, "%s", message(err))
	} else if r.Keys == 0 {
		r.problem(TopicKeys, "the provider publishes no key that can be used")
	}
}

// checkCredentials requests tokens with a grant that does not exist: the error invalid_grant means that the provider
// has authenticated the client (RFC 6749 5.2). The Date of the response shows the difference of the clocks.
func (c *Client) checkCredentials(ctx context.Context, tokenRequest url.Values, r *Report) {
	if r.Endpoints.Token == "" {
		return
	}
	before := time.Now()
	resp, err := c.post(ctx, r.Endpoints.Token, tokenRequest)
	if date, parseErr := http.ParseTime(resp.header.Get("Date")); parseErr == nil {
		middle := before.Add(time.Since(before) / 2)
		// A Date is truncated to seconds.
		r.Skew = date.Add(time.Second / 2).Sub(middle).Round(time.Second)
	}
	if lifetime := c.options.lifetime(); r.Skew.Abs() > min(leeway, lifetime)/2 {
		r.problem(TopicClock, "the provider's clock differs by %v, and signed requests are valid for only %v", r.Skew, lifetime)
	}
	var refused *Error
	switch {
	case err == nil:
		r.problem(TopicTokens, "the token endpoint issued a token for a request that does not exist")
	case !errors.As(err, &refused):
		r.problem(TopicTokens, "%s", message(err))
	case refused.Code != "invalid_grant":
		r.problem(TopicClient, "the token endpoint refuses the client: status %d %.200q", refused.Status, refused.Code)
	}
}

// message returns an error's text without the name of the package.
func message(err error) string { return strings.TrimPrefix(err.Error(), "ciba: ") }

// Report is the result of [Client.Check].
type Report struct {
	// Problems prevent the client from working. If there are none, it works as far as Check can find out without
	// asking a person.
	Problems []Problem
	// Warnings are differences between the provider's metadata and the options. The metadata may be wrong: not every
	// provider maintains it.
	Warnings []Problem

	Endpoints Endpoints // the endpoints with usable addresses; empty: missing
	Keys      int       // the number of usable keys of the provider
	// ACRValues and DeliveryModes are acr_values_supported and backchannel_token_delivery_modes_supported ("poll",
	// "ping", "push"); nil: the metadata has none. The caller knows which of them it needs.
	ACRValues     []string
	DeliveryModes []string
	Skew          time.Duration // by which the provider's clock is ahead of the local one, to about a second
}

// Problem is one finding of Check.
type Problem struct {
	Topic Topic
	Text  string // one line
}

// String returns the topic and the text.
func (p Problem) String() string { return string(p.Topic) + ": " + p.Text }

// Topic is the subject of a [Problem].
type Topic string

const (
	TopicMetadata  Topic = "metadata"  // it cannot be read, or differs from the options
	TopicEndpoints Topic = "endpoints" // one is missing, or its address is unusable
	TopicKeys      Topic = "keys"      // the key set that verifies the provider's tokens
	TopicClock     Topic = "clock"     // the clocks of the provider and the client differ
	TopicClient    Topic = "client"    // the provider does not accept the client's credentials
	TopicTokens    Topic = "tokens"    // the token endpoint does not answer, or not as expected
)

func (r *Report) problem(topic Topic, format string, values ...any) {
	r.Problems = append(r.Problems, Problem{topic, fmt.Sprintf(format, values...)})
}

func (r *Report) warning(topic Topic, format string, values ...any) {
	r.Warnings = append(r.Warnings, Problem{topic, fmt.Sprintf(format, values...)})
}
