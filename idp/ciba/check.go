package ciba

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
)

// Report is what [Client.Check] found.
type Report struct {
	// Problems keep the client from working, in a sentence each. None: as far as can be known
	// without asking a person, it works.
	Problems []string
	// Doubts are what the provider's metadata says otherwise than the options. The metadata may
	// be wrong: not every provider keeps it.
	Doubts []string

	Endpoints Endpoints     // those in use
	Keys      int           // how many of the provider's keys can be used
	ACRValues []string      // acr_values_supported; nil: the provider does not say
	Skew      time.Duration // how far the provider's clock is ahead of ours, to about a second
}

// Check asks the provider for all that can be asked without a person: its metadata, its
// keys, and whether it knows the client, by an auth_req_id that does not exist. The error
// is that of a context that ended.
func (c *Client) Check(ctx context.Context) (Report, error) {
	var r Report
	m, err := c.readMetadata(ctx)
	c.checkEndpoints(m, err, &r)
	if err == nil {
		c.checkMetadata(m, &r)
	}
	c.checkKeys(ctx, &r)
	c.checkCredentials(ctx, &r)
	return r, ctx.Err()
}

func (r *Report) problem(format string, values ...any) {
	r.Problems = append(r.Problems, fmt.Sprintf(format, values...))
}

func (r *Report) doubt(format string, values ...any) {
	r.Doubts = append(r.Doubts, fmt.Sprintf(format, values...))
}

// checkEndpoints collects the endpoints of the options and of the metadata, which may have
// been unreadable.
func (c *Client) checkEndpoints(m metadata, unread error, r *Report) {
	if c.signer == nil {
		r.problem("there is no key to sign requests with")
	}
	r.Endpoints.Authorization = cmp.Or(c.options.Endpoints.Authorization, m.Authorization)
	var missing []string
	for _, e := range []struct {
		name    string
		address *string
	}{
		{backchannelEndpoint, &r.Endpoints.BackchannelAuthentication},
		{tokenEndpoint, &r.Endpoints.Token},
		{userInfoEndpoint, &r.Endpoints.UserInfo},
		{keysEndpoint, &r.Endpoints.JWKS},
	} {
		address := cmp.Or(c.options.Endpoints.named(e.name), m.named(e.name))
		if address == "" {
			missing = append(missing, e.name)
		} else if err := checkAddress(address); err != nil {
			r.problem("%s: %s", e.name, plain(err))
		} else {
			*e.address = address
		}
	}
	switch {
	case unread == nil && missing != nil:
		r.problem("neither the metadata nor the configuration has %s", strings.Join(missing, ", "))
	case unread != nil && missing != nil:
		r.problem("the metadata: %s", plain(unread))
	case unread != nil:
		r.doubt("the metadata: %s", plain(unread))
	}
}

func (c *Client) checkKeys(ctx context.Context, r *Report) {
	if r.Endpoints.JWKS == "" {
		return
	}
	keys, err := c.readKeys(ctx, r.Endpoints.JWKS)
	if r.Keys = len(keys.keys); err != nil {
		r.problem("the provider's keys: %s", plain(err))
	} else if r.Keys == 0 {
		r.problem("the provider's keys: none that can be used")
	}
}

// checkMetadata compares what the metadata says, where it says anything, with the options.
func (c *Client) checkMetadata(m metadata, r *Report) {
	r.ACRValues = m.ACRValues
	lacks := func(list []string, value, what string) {
		if len(list) > 0 && !slices.Contains(list, value) {
			r.doubt("the metadata names no %s %q, only %s", what, value, cut(strings.Join(list, ", ")))
		}
	}
	if c.signer != nil {
		lacks(m.RequestAlgorithms, c.signer.algorithm, "request signing algorithm")
	}
	lacks(m.DeliveryModes, "poll", "delivery mode")
	lacks(m.GrantTypes, grantType, "grant type")
	method := "client_secret_basic"
	if c.options.PrivateKeyJWT {
		method = "private_key_jwt"
	}
	lacks(m.ClientMethods, method, "client authentication")
}

// checkCredentials asks for the tokens of nothing: invalid_grant means that the client is
// known (RFC 6749 5.2). The answer's Date also tells the provider's clock.
func (c *Client) checkCredentials(ctx context.Context, r *Report) {
	if r.Endpoints.Token == "" {
		return
	}
	before := time.Now()
	a, err := c.post(ctx, r.Endpoints.Token, grant(rand.Text()))
	if date, failed := http.ParseTime(a.header.Get("Date")); failed == nil {
		middle := before.Add(time.Since(before) / 2)
		// A Date has no fraction.
		r.Skew = date.Add(time.Second / 2).Sub(middle).Round(time.Second)
	}
	if r.Skew.Abs() > leeway/2 {
		r.problem("the provider's clock differs by %v: signed requests live %v", r.Skew, lifetime)
	}
	var refused *Error
	switch {
	case err == nil:
		r.problem("the token endpoint gives tokens for nothing")
	case !errors.As(err, &refused):
		r.problem("the token endpoint: %s", plain(err))
	case refused.Code != "invalid_grant":
		r.problem("the token endpoint does not take the client: %d %.200q", refused.Status, refused.Code)
	}
}

func plain(err error) string { return strings.TrimPrefix(err.Error(), "ciba: ") }
