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

// authReqIDClaim names the request of CIBA that an ID token answers (CIBA Core 10.3.1). Providers
// that push tokens have to set it, others may.
const authReqIDClaim = "urn:openid:params:jwt:claim:auth_req_id"

// verify returns the claims of an ID token (OpenID Connect Core 3.1.3.7), as they were when it
// was received. The client trusts no other audience, so that a token for others beside it is refused,
// also one that has the client as its authorized party (azp).
func (c *Client) verify(ctx context.Context, t Tokens) (map[string]any, error) {
	payload, err := c.verified(ctx, t.ID)
	if err != nil {
		return nil, err
	}
	verifier := oidc.NewVerifier(c.options.Issuer, payload, &oidc.Config{
		ClientID:             c.options.ClientID,
		SupportedSigningAlgs: algorithms,
		Now:                  func() time.Time { return t.received().Add(-leeway) },
	})
	token, err := verifier.Verify(ctx, t.ID)
	if err != nil {
		return nil, untrusted("ID token: %w", err)
	}
	claims := make(map[string]any)
	if err := token.Claims(&claims); err != nil {
		return nil, untrusted("ID token: %w", errJSON)
	}
	for _, audience := range token.Audience {
		if audience != c.options.ClientID {
			return nil, untrusted("ID token: for another audience beside this client")
		}
	}
	if azp, ok := claims["azp"]; ok && azp != c.options.ClientID {
		return nil, untrusted("ID token: issued to another client")
	}
	if id, ok := claims[authReqIDClaim]; ok && id != t.AuthReqID {
		return nil, untrusted("ID token: the answer to another request")
	}
	return claims, nil
}

// verified returns what the provider signed. Its keys are read again when none of them made the
// signature (OpenID Connect Core 10.1.1). A key that is not among them then may be soon: what
// publishes the keys, such as a cache or another node, can be behind what signs.
func (c *Client) verified(ctx context.Context, raw string) (signed, error) {
	token, err := parse(raw)
	if err != nil {
		return nil, untrusted("ID token: %w", err)
	}
	asked := time.Now()
	set, err := c.keys.get(ctx, func(s keySet) bool { _, ok := s.verified(token); return ok })
	if err != nil {
		return nil, err
	}
	if payload, ok := set.verified(token); ok {
		return payload, nil
	}
	if set.read.Before(asked) || len(set.of(token)) == 0 {
		return nil, &TransportError{Err: errors.New("ID token: not signed with a key that the provider had when it was last asked")}
	}
	return nil, untrusted("ID token: not signed with a key of the provider's")
}

// signed is what was signed, which [oidc.KeySet] is to find out: go-oidc checks what it says.
type signed []byte

func (s signed) VerifySignature(context.Context, string) ([]byte, error) { return s, nil }
