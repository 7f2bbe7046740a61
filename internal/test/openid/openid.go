// Package openid gives tests an OpenID provider in the shape of Auðkenni's: its paths,
// scopes, claims, acr_values and error codes, with people whose phones really sign. Only tests
// import it.
//
//	p := openidtest.Start(t, openidtest.Options{})
//	p.Person(openidtest.Person{Kennitala: "0101302989", Certificate: cert.Raw, Key: key, ...})
//
// It is the npm package oidc-provider in a Node process, with the program in the folder
// provider. .ci/tools installs both; without them the test ends as testenv.Absent says. It
// listens on the loopback interface, is there for one test, and never outlives the process of the tests.
package openid

import (
	"crypto"
	"sync"
	"testing"
	"time"
)

// Path is that of the issuer.
const Path = "/sso/oauth2/realms/root/realms/audkenni"

// Options say how the provider is set up. The zero value is a client that polls, as Auðkenni has
// it: with client_secret_basic, and with requests that are signed with RS256.
type Options struct {
	Issuer        string        // "": the provider's own address and Path. Another is what tokens say, and not where it is
	Algorithm     string        // of request objects, and of client assertions: "RS256" (""), "PS256" or "ES256"
	PrivateKeyJWT bool          // the client authenticates with assertions (RFC 7523) and not with its secret
	Notify        string        // the URL that is pinged; "": the client polls
	Redirects     []string      // the redirect URIs of logins
	Interval      time.Duration // of polls, in whole seconds; 0: the answer does not say
	SlowDowns     int           // how many polls within the interval are told to slow down
	Expires       time.Duration // of requests, in whole seconds; 0: ten minutes. requested_expiry may shorten it
	Pin           string        // "login_hint" or the claim in which app-sign-with-certificate has to name the device; "": none
	OneAtATime    bool          // mssp_406 for who has been asked and has not answered
	Undiscovered  bool          // the discovery document leaves out the endpoint of CIBA
}

// Provider is a provider that a test has for itself.
type Provider struct {
	Issuer    string        // byte for byte
	Discovery string        // the URL of the discovery document
	ClientID  string        // with
	Secret    string        // characters that RFC 6749 2.3.1 encodes
	Key       crypto.Signer // signs the client's request objects and assertions
	KeyID     string

	t        testing.TB
	folder   string // with all that the provider keeps
	settings settings

	mu      sync.Mutex
	process *process // nil while it is stopped
}

// Endpoint is one of those that the discovery document names, by the provider's name for it, or
// Discovery itself.
type Endpoint string

const (
	Authorization Endpoint = "authorization"
	Backchannel   Endpoint = "backchannel_authentication"
	Token         Endpoint = "token"
	UserInfo      Endpoint = "userinfo"
	JWKS          Endpoint = "jwks"
	Discovery     Endpoint = "discovery"
)

var paths = map[Endpoint]string{
	Authorization: "/authorize",
	Backchannel:   "/bc-authorize",
	Token:         "/access_token",
	UserInfo:      "/userinfo",
	JWKS:          "/connect/jwk_uri",
	Discovery:     "/.well-known/openid-configuration",
}

// URL is where an endpoint is.
func (p *Provider) URL(e Endpoint) string { return p.address() + Path + paths[e] }

// Start starts a provider, which is gone at the end of the test.
func Start(t testing.TB, options Options) *Provider {
	t.Helper()
	p := &Provider{t: t, ClientID: "innsigli", Secret: "P4$sW&0=d/:~", KeyID: "test-2026"}
	p.Key = clientKey(t, options.Algorithm)
	p.create(options)
	t.Cleanup(p.end)
	p.Go()
	p.Issuer, p.Discovery = p.settings.Issuer, p.URL(Discovery)
	if p.Issuer == "" {
		p.Issuer = p.address() + Path
	}
	return p
}

// Restart kills the provider and starts it again.
func (p *Provider) Restart() {
	p.t.Helper()
	p.Stop()
	p.Go()
}
