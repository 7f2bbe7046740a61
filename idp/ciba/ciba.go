// Package ciba asks people to authenticate on another device: a client of OpenID Connect
// Client-Initiated Backchannel Authentication (CIBA Core 1.0) in poll and ping mode.
//
//	client, err := ciba.New(ciba.Options{Issuer: issuer, ClientID: id, Secret: secret, Key: key})
//	asked, err := client.Ask(ctx, ciba.Request{LoginHint: hint, Scope: []string{"openid"}})
//	// until asked.ExpiresIn is over, every asked.Interval:
//	tokens, err := client.Tokens(ctx, asked.ID)
//	var pending *ciba.Error
//	if errors.As(err, &pending) && pending.Pending() {
//		// not yet
//	}
//	claims, err := client.Claims(ctx, tokens)
//	name := claims.Text("name")
//
// [Client.Authorize], [Client.Redeem] and [Redirected] are for logins by the code flow with the
// same client (OpenID Connect Core 3.1); package login is built on them.
//
// A request is a signed request object (CIBA Core 7.1.1). The provider gives the answer to
// Tokens once only; what has to survive a crash stores it before it calls Claims, which may
// be repeated.
//
// # Errors
//
// Each call is one try. The error is one of three:
//
//   - [*Error]: the provider refused, by an OAuth error answer (RFC 6749 5.2, CIBA Core 11 and 13).
//     [Error.Pending] tells those after which polling goes on.
//   - [*TransportError]: there was no answer, or none that can be understood, or none yet by a key
//     that the provider publishes. The call may be tried
//     again; TransportError.Sent says whether the provider may have had the request.
//   - [*UntrustedError]: the tokens are not what the provider is known to issue. Final.
//
// Beside them is a key that does not sign.
//
// No error text has a secret, a token, a hint or what the provider wrote about a person.
//
// # What is trusted
//
// The provider is believed over TLS alone: addresses, also those of its metadata, begin with
// https, except on this machine when the provider is there. Redirects are not followed,
// answers have at most 1 MiB, and a try takes at most 10 seconds unless Options.HTTP says
// otherwise. An ID token counts when a key of the provider's key set signed it (RFC 7517), with an asymmetric
// algorithm; a key that was taken out of the set is trusted for 10 minutes at most.
//
// A Client is safe for concurrent use and starts no goroutines.
package ciba

import (
	"net/http"
	"slices"
	"time"
)

// Client is one client of one provider.
type Client struct {
	options  Options
	http     *http.Client
	signer   *signer // nil without Options.Key
	metadata *kept[metadata]
	keys     *kept[keySet]
}

// New returns a client of the provider that the options describe. It asks nothing of it.
func New(o Options) (*Client, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	o.OmitClaims = slices.Clone(o.OmitClaims)
	c := &Client{options: o, http: bounded(o.HTTP)}
	if o.Key != nil {
		s, err := newSigner(o.Key, o.KeyID, o.Algorithm)
		if err != nil {
			return nil, err
		}
		c.signer = s
	}
	c.metadata = keep(c.readMetadata, time.Hour, true)
	c.keys = keep(c.currentKeys, 10*time.Minute, false)
	return c, nil
}

// Issuer returns Options.Issuer.
func (c *Client) Issuer() string { return c.options.Issuer }

// bounded returns a client that follows no redirect and does not wait for ever.
func bounded(given *http.Client) *http.Client {
	var own http.Client
	if given != nil {
		own = *given
	}
	if usual, ok := http.DefaultTransport.(*http.Transport); ok && own.Transport == nil {
		// A connection that the provider is about to close would take a request with it.
		transport := usual.Clone()
		transport.IdleConnTimeout = 5 * time.Second
		own.Transport = transport
	}
	if own.Timeout == 0 {
		own.Timeout = 10 * time.Second
	}
	own.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	return &own
}
