package ciba

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/coreos/go-oidc/v3/oidc"
	"github.com/go-jose/go-jose/v4"
)

// Claims are the verified claims about a person.
type Claims struct {
	ID       map[string]any // of the ID token
	UserInfo map[string]any // of the userinfo endpoint
}

// Text returns a claim that is a string: that of the userinfo, or else that of the ID token, or else "".
func (c Claims) Text(name string) string {
	for _, claims := range []map[string]any{c.UserInfo, c.ID} {
		if s, ok := claims[name].(string); ok {
			return s
		}
	}
	return ""
}

// Claims verifies the ID token as of the time when it was received, and gets the userinfo. The caller may repeat the
// call with the same tokens. If the provider has not yet published the key that signed the ID token, the error is a
// [*TransportError]. An [*Error] means that the provider no longer accepts the access token.
func (c *Client) Claims(ctx context.Context, t Tokens) (Claims, error) {
	id, err := c.verifyIDToken(ctx, t)
	if err != nil {
		return Claims{}, err
	}
	info, err := c.userInfo(ctx, t.Access)
	if err != nil {
		return Claims{}, err
	}
	claims := Claims{ID: id, UserInfo: info}
	subject, _ := id["sub"].(string)
	if subject == "" || info["sub"] != subject { // OpenID Connect Core 5.3.2
		return Claims{}, untrusted("the ID token and the userinfo are about different persons")
	}
	return claims, nil
}

// userInfo gets the claims of the userinfo endpoint (OpenID Connect Core 5.3).
func (c *Client) userInfo(ctx context.Context, access string) (map[string]any, error) {
	address, err := c.endpoint(ctx, userInfoEndpoint)
	if err != nil {
		return nil, err
	}
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, address, nil)
	if err != nil {
		return nil, &TransportError{Err: errAddress}
	}
	req.Header.Set("Authorization", "Bearer "+access)
	resp, err := c.do(req)
	if err != nil {
		return nil, err
	}
	switch resp.status {
	case http.StatusOK:
	case http.StatusUnauthorized, http.StatusForbidden: // RFC 6750 3.1; the body may be empty
		var refused *Error
		if errors.As(resp.oauthError(), &refused) {
			return nil, refused
		}
		return nil, &Error{Status: resp.status, Code: "invalid_token"}
	default:
		return nil, resp.oauthError()
	}
	var info map[string]any
	if json.Unmarshal(resp.body, &info) != nil {
		return nil, resp.transportError(fmt.Errorf("userinfo: %w", errJSON))
	}
	return info, nil
}

// algorithms are the accepted signature algorithms of ID tokens. All are asymmetric.
var algorithms = []string{"RS256", "PS256", "ES256", "RS384", "PS384", "ES384", "RS512", "PS512", "ES512", "EdDSA"}

func parseJWS(raw string) (*jose.JSONWebSignature, error) {
	allowed := make([]jose.SignatureAlgorithm, len(algorithms))
	for i, a := range algorithms {
		allowed[i] = jose.SignatureAlgorithm(a)
	}
	return jose.ParseSignedCompact(raw, allowed)
}

// leeway is the accepted difference between the provider's clock and the local one.
const leeway = time.Minute

// authReqIDClaim identifies the CIBA request that an ID token answers (CIBA Core 10.3.1). It is mandatory in push mode
// and optional in other modes.
const authReqIDClaim = "urn:openid:params:jwt:claim:auth_req_id"

// verifyIDToken verifies an ID token as of the time when it was received, and returns its claims (OpenID Connect Core
// 3.1.3.7). The client trusts no other audience: a token with a further audience is refused, even if the client is
// its authorized party (azp).
func (c *Client) verifyIDToken(ctx context.Context, t Tokens) (map[string]any, error) {
	payload, err := c.verifySignature(ctx, t.ID)
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
			return nil, untrusted("ID token: issued to other audiences besides this client")
		}
	}
	if azp, ok := claims["azp"]; ok && azp != c.options.ClientID {
		return nil, untrusted("ID token: issued to another client")
	}
	if id, ok := claims[authReqIDClaim]; ok && id != t.AuthReqID {
		return nil, untrusted("ID token: it answers another request")
	}
	return claims, nil
}

// verifySignature verifies the signature of a JWS and returns its payload. The key set is fetched again if none of its
// keys made the signature (OpenID Connect Core 10.1.1). If the key is still missing, the error is a [*TransportError],
// since the provider may publish its keys with a delay, as behind a cache.
func (c *Client) verifySignature(ctx context.Context, raw string) (verifiedPayload, error) {
	token, err := parseJWS(raw)
	if err != nil {
		return nil, untrusted("ID token: %w", err)
	}
	start := time.Now()
	set, err := c.keys.get(ctx, func(s keySet) bool { _, ok := s.verify(token); return ok })
	if err != nil {
		return nil, err
	}
	if payload, ok := set.verify(token); ok {
		return payload, nil
	}
	if set.fetched.Before(start) || len(set.candidates(token)) == 0 {
		return nil, &TransportError{Err: errors.New("ID token: not signed with a key of the provider's last key set")}
	}
	return nil, untrusted("ID token: not signed with a key of the provider")
}

// verifiedPayload is an [oidc.KeySet] that returns a payload whose signature is already verified, so that go-oidc
// checks only the claims.
type verifiedPayload []byte

// VerifySignature implements [oidc.KeySet].
func (p verifiedPayload) VerifySignature(context.Context, string) ([]byte, error) { return p, nil }

// keySet is the provider's set of verification keys (RFC 7517 section 5).
type keySet struct {
	keys    []jose.JSONWebKey
	fetched time.Time
}

// candidates returns the keys that may have signed a token: those with its kid, or all if it has no kid (RFC 7515
// 4.1.4).
func (s keySet) candidates(token *jose.JSONWebSignature) (keys []jose.JSONWebKey) {
	kid := token.Signatures[0].Header.KeyID
	for _, key := range s.keys {
		if kid == "" || key.KeyID == kid {
			keys = append(keys, key)
		}
	}
	return keys
}

// verify returns the payload of a token if one of the keys signed it.
func (s keySet) verify(token *jose.JSONWebSignature) (payload []byte, ok bool) {
	for _, key := range s.candidates(token) {
		if payload, err := token.Verify(key); err == nil {
			return payload, true
		}
	}
	return nil, false
}

// maxKeys limits the work for a token without a kid.
const maxKeys = 100

// currentKeys gets the key set from the endpoint of the options or the metadata.
func (c *Client) currentKeys(ctx context.Context) (keySet, error) {
	address, err := c.endpoint(ctx, keysEndpoint)
	if err != nil {
		return keySet{}, err
	}
	return c.fetchKeys(ctx, address)
}

// fetchKeys gets a key set. It omits keys that it cannot use (RFC 7517 section 5).
func (c *Client) fetchKeys(ctx context.Context, address string) (keySet, error) {
	set := keySet{fetched: time.Now()}
	resp, err := c.get(ctx, address)
	if err != nil {
		return keySet{}, err
	}
	var listed struct {
		Keys []json.RawMessage `json:"keys"`
	}
	if err := resp.decode(&listed); err != nil {
		return keySet{}, err
	}
	for _, raw := range listed.Keys[:min(len(listed.Keys), maxKeys)] {
		var key jose.JSONWebKey
		if key.UnmarshalJSON(raw) == nil && canVerify(key) {
			set.keys = append(set.keys, key)
		}
	}
	return set, nil
}

// canVerify reports whether a key is a public key for signatures, and an RSA key has at least 2048 bits.
func canVerify(key jose.JSONWebKey) bool {
	if !key.Valid() || !key.IsPublic() || key.Use != "" && key.Use != "sig" {
		return false
	}
	public, isRSA := key.Key.(*rsa.PublicKey)
	return !isRSA || public.N.BitLen() >= 2048
}
