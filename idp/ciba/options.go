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

// Options describe a provider and the client's registration there.
type Options struct {
	// Issuer is the provider's issuer identifier, byte for byte as in its tokens. It is the audience of the JWTs that
	// the client signs.
	Issuer string
	// Discovery is the address of the provider's metadata (OpenID Connect Discovery 1.0,
	// section 4); empty: Issuer + "/.well-known/openid-configuration".
	Discovery string
	// Endpoints replace those of the metadata, one by one.
	Endpoints Endpoints

	ClientID string
	// Secret authenticates the client by HTTP Basic (client_secret_basic).
	Secret string
	// FormSecret form-encodes ID and secret before HTTP Basic, as RFC 6749 2.3.1 requires. Many providers, such as
	// Auðkenni by its documentation, expect them as they are.
	FormSecret bool
	// PrivateKeyJWT authenticates the client by an assertion that Key signs (RFC 7523) instead of the secret.
	PrivateKeyJWT bool

	// Key signs request objects: RSA of 2048 bits or more, or ECDSA on P-256. RequestAuthentication needs it.
	Key crypto.Signer
	// KeyID is the kid of the key at the provider; empty: omitted.
	KeyID string
	// Algorithm is "RS256" (default for RSA), "PS256" or "ES256" (default for P-256).
	Algorithm string
	// Lifetime is the lifetime of request objects and assertions, between 10 seconds and 10 minutes; 0: 60 seconds.
	// Providers refuse long lifetimes, Ping AM those beyond 30 minutes.
	Lifetime time.Duration
	// OmitClaims lists those of "iat", "nbf" and "jti" that the provider rejects in JWTs of the client. CIBA Core 7.1.1
	// requires all of them in request objects.
	OmitClaims []string

	// HTTP sends the requests; nil: a new client. Its CheckRedirect is ignored, and a Timeout of 0 is 10 seconds.
	HTTP *http.Client
}

// Endpoints are addresses of a provider.
type Endpoints struct {
	BackchannelAuthentication string `json:"backchannel_authentication_endpoint"`
	Token                     string `json:"token_endpoint"`
	UserInfo                  string `json:"userinfo_endpoint"`
	JWKS                      string `json:"jwks_uri"`
	Authorization             string `json:"authorization_endpoint"` // for Authorize; CIBA does not use it
}

func (o Options) check() error {
	switch {
	case o.Issuer == "":
		return errors.New("ciba: the issuer is missing")
	case o.ClientID == "":
		return errors.New("ciba: the client ID is missing")
	case o.PrivateKeyJWT && o.Secret != "":
		return errors.New("ciba: both a secret and private_key_jwt are set: set only one")
	case o.PrivateKeyJWT && o.Key == nil:
		return errors.New("ciba: private_key_jwt requires a key")
	case !o.PrivateKeyJWT && o.Secret == "":
		return errors.New("ciba: set a secret, or private_key_jwt and a key")
	case !o.PrivateKeyJWT && !o.FormSecret && strings.Contains(o.ClientID, ":"):
		return errors.New("ciba: a client ID with a colon requires FormSecret")
	}
	if o.Lifetime != 0 && (o.Lifetime < minLifetime || o.Lifetime > maxLifetime) {
		return fmt.Errorf("ciba: the lifetime %v must be between %v and %v", o.Lifetime, minLifetime, maxLifetime)
	}
	for _, name := range o.OmitClaims {
		if !slices.Contains(omittableClaims, name) {
			return fmt.Errorf("ciba: the claim %q is required and cannot be omitted", name)
		}
	}
	return o.checkAddresses()
}

func (o Options) checkAddresses() error {
	addresses := []string{o.discovery()}
	for _, name := range endpointNames {
		if configured := o.Endpoints.named(name); configured != "" {
			addresses = append(addresses, configured)
		}
	}
	for _, a := range addresses {
		if err := checkAddress(a); err != nil {
			return fmt.Errorf("ciba: %w", err)
		}
	}
	return nil
}

// discovery returns the address of the metadata.
func (o Options) discovery() string {
	if o.Discovery != "" {
		return o.Discovery
	}
	return strings.TrimSuffix(o.Issuer, "/") + "/.well-known/openid-configuration"
}

var errAddress = errors.New("must be an https URL")

// checkAddress refuses an address to which the client would send secrets without TLS.
func checkAddress(address string) error {
	u, err := url.Parse(address)
	if err != nil {
		return errAddress // the parser's error repeats the address
	}
	if u.Host != "" && u.User == nil && (u.Scheme == "https" || u.Scheme == "http" && isLoopback(u.Hostname())) {
		return nil
	}
	return fmt.Errorf("%w: %s", errAddress, redacted(u))
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}

// redacted returns an address for error texts, without user info and query, which may contain secrets.
func redacted(u *url.URL) string {
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}).String()
}
