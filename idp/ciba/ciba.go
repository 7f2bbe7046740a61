// Package ciba asks people to authenticate on another device: a client of OpenID Connect
// Client-Initiated Backchannel Authentication (CIBA Core 1.0) in poll and ping mode.
//
//	client, err := ciba.New(ciba.Options{Issuer: issuer, ClientID: id, Secret: secret, Key: key})
//	ack, err := client.RequestAuthentication(ctx, ciba.Request{LoginHint: hint, Scope: []string{"openid"}})
//	// until ack.ExpiresIn is over, every ack.Interval:
//	tokens, err := client.Tokens(ctx, ack.ID)
//	var pending *ciba.Error
//	if errors.As(err, &pending) && pending.Pending() {
//		// poll again
//	}
//	claims, err := client.Claims(ctx, tokens)
//	name := claims.Text("name")
//
// [Client.Authorize], [Client.Redeem] and [RedirectError] are for logins by the authorization code flow with
// the same client (OpenID Connect Core 3.1); package login uses them.
//
// A request is a signed request object (CIBA Core 7.1.1). The provider issues the tokens only once. A caller
// that has to survive a crash stores them before it calls Claims, which may be repeated.
//
// # Errors
//
// Each call makes one attempt. The error is one of these:
//
//   - [*Error]: the provider refused, by an OAuth error response (RFC 6749 5.2, CIBA Core 11 and 13).
//     [Error.Pending] reports whether polling continues.
//   - [*TransportError]: there was no response, or one that the client cannot understand, or an ID token whose key
//     the provider has not published yet. The call may be repeated; TransportError.Sent reports whether the
//     provider may have received the request.
//   - [*UntrustedError]: the tokens are not those that the provider would issue to this client. Final.
//
// A call can also fail because Options.Key does not sign.
//
// No error text contains a secret, a token, a login hint or a description by the provider.
//
// # What is trusted
//
// The client trusts only TLS: addresses, those of the metadata included, begin with https, except on the local
// machine if the provider itself is there. The client does not follow redirects and reads at most 1 MiB of a
// response. An attempt takes at most 10 seconds unless Options.HTTP has another timeout. An ID token is accepted
// if a key of the provider's key set signed it (RFC 7517) with an asymmetric algorithm; a key that the provider
// removed from the set is trusted for 10 minutes at most.
//
// A Client is safe for concurrent use and starts no goroutines.
package ciba

import (
	"net/http"
	"slices"
	"time"
)

// Client is a client of one OpenID provider.
type Client struct {
	options  Options
	http     *http.Client
	signer   *signer // nil without Options.Key
	metadata *cache[metadata]
	keys     *cache[keySet]
}

// New returns a client of the provider that the options describe. It sends no request.
func New(o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.OmitClaims = slices.Clone(o.OmitClaims)
	c := &Client{options: o, http: newHTTPClient(o.HTTP)}
	if o.Key != nil {
		s, err := newSigner(o.Key, o.KeyID, o.Algorithm)
		if err != nil {
			return nil, err
		}
		c.signer = s
	}
	c.metadata = newCache(c.fetchMetadata, time.Hour, true)
	c.keys = newCache(c.currentKeys, 10*time.Minute, false)
	return c, nil
}

// Issuer returns Options.Issuer.
func (c *Client) Issuer() string { return c.options.Issuer }

// newHTTPClient returns a copy of an HTTP client, or a new one, that follows no redirects and has a timeout.
func newHTTPClient(base *http.Client) *http.Client {
	var client http.Client
	if base != nil {
		client = *base
	}
	if standard, ok := http.DefaultTransport.(*http.Transport); ok && client.Transport == nil {
		// A request on a connection that the provider is closing would be lost.
		transport := standard.Clone()
		transport.IdleConnTimeout = 5 * time.Second
		client.Transport = transport
	}
	if client.Timeout == 0 {
		client.Timeout = 10 * time.Second
	}
	client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &client
}
