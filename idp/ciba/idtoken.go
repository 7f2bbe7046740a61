package ciba

import (
	"context"
	"errors"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// algorithms are those of ID tokens: asymmetric ones alone.
var algorithms = []string{"RS256", "PS256", "ES256", "RS384", "PS384", "ES384", "RS512", "PS512", "ES512", "EdDSA"}

func parse(raw string) (*jose.JSONWebSignature, error) {
	allowed := make([]jose.SignatureAlgorithm, len(algorithms))
	for i, a := range algorithms {
		allowed[i] = jose.SignatureAlgorithm(a)
	}
	return jose.ParseSignedCompact(raw, allowed)
}

// leeway is how far the provider's clock may be ahead of or behind ours.
const leeway = time.Minute

// verify returns the claims of an ID token (OpenID Connect Core 3.1.3.7).
func (c *Client) verify(ctx context.Context, raw string) (map[string]any, error) {
	keys, err := c.keysOf(ctx, raw)
	if err != nil {
		return nil, err
	}
	verifier := oidc.NewVerifier(c.options.Issuer, keys, &oidc.Config{
		ClientID:             c.options.ClientID,
		SupportedSigningAlgs: algorithms,
		Now:                  func() time.Time { return time.Now().Add(-leeway) },
	})
	token, err := verifier.Verify(ctx, raw)
	if err != nil {
		return nil, untrusted("ID token: %w", err)
	}
	claims := make(map[string]any)
	if err := token.Claims(&claims); err != nil {
		return nil, untrusted("ID token: %w", errJSON)
	}
	if azp, ok := claims["azp"]; ok && azp != c.options.ClientID {
		return nil, untrusted("ID token: issued to another client")
	}
	return claims, nil
}

// keysOf returns the keys of the provider that may have signed the token.
func (c *Client) keysOf(ctx context.Context, raw string) (signedBy, error) {
	token, err := parse(raw)
	if err != nil {
		return nil, untrusted("ID token: %w", err)
	}
	kid, asked := token.Signatures[0].Header.KeyID, time.Now()
	set, err := c.keys.get(ctx, func(s keySet) bool { return s.has(kid) })
	switch {
	case err != nil:
		return nil, err
	case set.has(kid):
		return set.named(kid), nil
	case set.read.Before(asked): // the set may have changed since
		return nil, &TransportError{Err: errors.New("ID token: a key that the provider did not have when it was last asked")}
	}
	return nil, untrusted("ID token: signed with a key that is not the provider's")
}

// signedBy is an [oidc.KeySet] of keys that are there.
type signedBy []jose.JSONWebKey

func (s signedBy) VerifySignature(_ context.Context, raw string) ([]byte, error) {
	token, err := parse(raw)
	if err != nil {
		return nil, err
	}
	for _, key := range s {
		if payload, err := token.Verify(key); err == nil {
			return payload, nil
		}
	}
	return nil, errors.New("not signed with the provider's key")
}
