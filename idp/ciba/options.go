package ciba

import (
	"crypto"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
)

// Options describe a provider and what it knows of its client.
type Options struct {
	// Issuer is the provider's issuer identifier, byte for byte as in its tokens; it is the
	// audience of what is signed for it.
	Issuer string
	// Discovery is the address of the provider's metadata (OpenID Connect Discovery 1.0,
	// section 4); empty: Issuer + "/.well-known/openid-configuration".
	Discovery string
	// Endpoints stand in for those of the metadata, one by one.
	Endpoints Endpoints

	ClientID string
	// Secret authenticates the client by HTTP Basic (client_secret_basic).
	Secret string
	// FormSecret: ID and secret are form-encoded before, as RFC 6749 2.3.1 asks. Many
	// providers, Auðkenni by its documentation, take them as they are.
	FormSecret bool
	// PrivateKeyJWT authenticates the client by an assertion that Key signs (RFC 7523)
	// instead of the secret.
	PrivateKeyJWT bool

	// Key signs request objects: RSA of 2048 bits or more, or ECDSA on P-256. Without it the
	// client cannot Ask.
	Key crypto.Signer
	// KeyID is the kid by which the provider knows the key; empty: none is sent.
	KeyID string
	// Algorithm is "RS256" (default for RSA), "PS256" or "ES256" (default for P-256).
	Algorithm string
	// Lifetime is how long a request object or an assertion can be used, between 10 seconds
	// and 10 minutes; 0: 60 seconds. Providers refuse what lives long, Ping AM beyond 30 minutes.
	Lifetime time.Duration
	// OmitClaims are those of "iat", "nbf" and "jti" that the provider does not bear in what is
	// signed for it. CIBA Core 7.1.1 wants all of them in request objects.
	OmitClaims []string

	// HTTP is used for every request; nil: one of its own. Its CheckRedirect is ignored, and a
	// Timeout of 0 is 10 seconds.
	HTTP *http.Client
}

// Endpoints are addresses of a provider.
type Endpoints struct {
	BackchannelAuthentication string `json:"backchannel_authentication_endpoint"`
	Token                     string `json:"token_endpoint"`
	UserInfo                  string `json:"userinfo_endpoint"`
	JWKS                      string `json:"jwks_uri"`
	Authorization             string `json:"authorization_endpoint"` // of no use to CIBA; for Authorize
}

func (o Options) check() error {
	switch {
	case o.Issuer == "":
		return errors.New("ciba: no issuer")
	case o.ClientID == "":
		return errors.New("ciba: no client ID")
	case o.PrivateKeyJWT && o.Secret != "":
		return errors.New("ciba: a secret and private_key_jwt: one of them is needed")
	case o.PrivateKeyJWT && o.Key == nil:
		return errors.New("ciba: private_key_jwt without a key")
	case !o.PrivateKeyJWT && o.Secret == "":
		return errors.New("ciba: neither a secret nor private_key_jwt")
	case !o.PrivateKeyJWT && !o.FormSecret && strings.Contains(o.ClientID, ":"):
		return errors.New("ciba: a client ID with a colon needs FormSecret")
	}
	if o.Lifetime != 0 && (o.Lifetime < minLifetime || o.Lifetime > maxLifetime) {
		return fmt.Errorf("ciba: a lifetime of %v is not between %v and %v", o.Lifetime, minLifetime, maxLifetime)
	}
	for _, name := range o.OmitClaims {
		if !slices.Contains(omissible, name) {
			return fmt.Errorf("ciba: claim %q cannot be left out", name)
		}
	}
	return o.checkAddresses()
}

func (o Options) checkAddresses() error {
	addresses := []string{o.discovery()}
	for _, name := range endpointNames {
		if own := o.Endpoints.named(name); own != "" {
			addresses = append(addresses, own)
		}
	}
	for _, a := range addresses {
		if err := checkAddress(a); err != nil {
			return fmt.Errorf("ciba: %w", err)
		}
	}
	return nil
}

func (o Options) discovery() string {
	if o.Discovery != "" {
		return o.Discovery
	}
	return strings.TrimSuffix(o.Issuer, "/") + "/.well-known/openid-configuration"
}

var errAddress = errors.New("not an https address")

// checkAddress refuses what would send a secret in the clear.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errAddress // the parser's error repeats the address
	}
	if u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && loopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("%w: %s", errAddress, bare(u))
}

func loopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// bare is an address as errors show it: without what may be a secret.
func bare(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
