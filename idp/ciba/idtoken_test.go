package ciba_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/json"
	"errors"
	"maps"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/go-jose/go-jose/v4/jwt"
	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/idp/ciba"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// keys publishes the public parts of keys. The kid of a key is its index.
func keys(t *testing.T, of ...crypto.Signer) http.HandlerFunc {
	t.Helper()
	var set jose.JSONWebKeySet
	for i, key := range of {
		set.Keys = append(set.Keys, jose.JSONWebKey{Key: key.Public(), KeyID: string(rune('0' + i))})
	}
	text, err := json.Marshal(set)
	if err != nil {
		t.Fatal(err)
	}
	return respond(200, "", string(text))
}

// token signs an ID token for the client, with further claims.
func token(t *testing.T, issuer string, algorithm jose.SignatureAlgorithm, kid string, key any, claims map[string]any) string {
	t.Helper()
	all := map[string]any{"iss": issuer, "aud": clientID, "sub": "a", "exp": time.Now().Add(time.Minute).Unix(), "name": "Anna"}
	maps.Copy(all, claims)
	maps.DeleteFunc(all, func(_ string, value any) bool { return value == nil })
	options := &jose.SignerOptions{}
	if kid != "" {
		options = options.WithHeader("kid", kid)
	}
	s, err := jose.NewSigner(jose.SigningKey{Algorithm: algorithm, Key: key}, options)
	if err != nil {
		t.Fatal(err)
	}
	text, err := jwt.Signed(s).Claims(all).Serialize()
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func tokensFor(t *testing.T, c *ciba.Client, claims map[string]any) ciba.Tokens {
	t.Helper()
	return ciba.Tokens{Access: "secret-access", ID: token(t, c.Issuer(), jose.RS256, "0", openidtest.RSAKey(), claims)}
}

// TestClaims checks the rules of OpenID Connect Core 3.1.3.7 and 5.3.2.
func TestClaims(t *testing.T) {
	ours := openidtest.RSAKey()
	other := certtest.NewRSAKey(t, 2048)
	ec := certtest.NewKey(t, elliptic.P256())
	_, ed, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	ago := func(d time.Duration) int64 { return time.Now().Add(-d).Unix() }
	type claims = map[string]any
	for name, test := range map[string]struct {
		algorithm jose.SignatureAlgorithm // RS256
		key       any                     // ours
		kid       string                  // "0"; "-": none
		claims    claims
		userinfo  string // {"sub":"a"}
		trusted   bool
	}{
		"good":                        {trusted: true},
		"PS256":                       {algorithm: jose.PS256, trusted: true},
		"ES256":                       {algorithm: jose.ES256, key: ec, kid: "1", trusted: true},
		"EdDSA":                       {algorithm: jose.EdDSA, key: ed, kid: "2", trusted: true},
		"without a kid":               {kid: "-", trusted: true},
		"in a list of audiences":      {claims: claims{"aud": []string{clientID}, "azp": clientID}, trusted: true},
		"about the request":           {claims: claims{authReqIDClaim: "a-request"}, trusted: true},
		"expired within the leeway":   {claims: claims{"exp": ago(30 * time.Second)}, trusted: true},
		"HS256 with the public key":   {algorithm: jose.HS256, key: []byte(strings.Repeat("k", 32))},
		"of another key":              {key: other},
		"of another key without kid":  {key: other, kid: "-"},
		"of another key's kid":        {kid: "1"},
		"of another issuer":           {claims: claims{"iss": "https://other.example"}},
		"of the issuer with a slash":  {claims: claims{"iss": "/"}},
		"for another client":          {claims: claims{"aud": "b"}},
		"for another client too":      {claims: claims{"aud": []string{"b", clientID}}},
		"and issued to this one":      {claims: claims{"aud": []string{clientID, "b"}, "azp": clientID}},
		"without an audience":         {claims: claims{"aud": nil}},
		"issued to another client":    {claims: claims{"azp": "b"}},
		"about another request":       {claims: claims{authReqIDClaim: "b-request"}},
		"about no request":            {claims: claims{authReqIDClaim: ""}},
		"about a numbered request":    {claims: claims{authReqIDClaim: 1}},
		"expired":                     {claims: claims{"exp": ago(2 * time.Minute)}},
		"without an end":              {claims: claims{"exp": nil}},
		"not yet valid":               {claims: claims{"nbf": ago(-time.Hour)}},
		"without a subject":           {claims: claims{"sub": nil}},
		"without one, as userinfo":    {claims: claims{"sub": nil}, userinfo: `{"sub":""}`},
		"about a number":              {claims: claims{"sub": 101302989}},
		"and userinfo about another":  {userinfo: `{"sub":"b"}`},
		"userinfo without a subject":  {userinfo: `{}`},
		"and userinfo about a number": {userinfo: `{"sub":1}`},
	} {
		t.Run(name, func(t *testing.T) {
			userinfo := `{"sub":"a"}`
			if test.userinfo != "" {
				userinfo = test.userinfo
			}
			w := newWire(t, map[string]http.HandlerFunc{
				"/userinfo": respond(200, "", userinfo),
				"/keys":     keys(t, ours, ec, ed),
			})
			algorithm, key, kid := test.algorithm, test.key, test.kid
			if algorithm == "" {
				algorithm = jose.RS256
			}
			if key == nil {
				key = ours
			}
			switch kid {
			case "":
				kid = "0"
			case "-":
				kid = ""
			}
			id := token(t, w.URL, algorithm, kid, key, test.claims)
			got, err := w.client(t, nil).Claims(t.Context(), ciba.Tokens{Access: "secret-access", ID: id, AuthReqID: "a-request"})
			var untrusted *ciba.UntrustedError
			switch {
			case test.trusted && (err != nil || got.Text("name") != "Anna"):
				t.Errorf("%v, %v", got, err)
			case !test.trusted && !errors.As(err, &untrusted):
				t.Errorf("%v, %v", got, err)
			case !test.trusted:
				checkDiscreet(t, err)
			}
		})
	}
}

const authReqIDClaim = "urn:openid:params:jwt:claim:auth_req_id"

// TestUntrustedIDTokens checks that an ID token of the provider is refused if it has a further audience (OpenID Connect
// Core 3.1.3.7), answers another request (CIBA Core 10.3.1), or is about another person than the userinfo (Core 5.3.2).
func TestUntrustedIDTokens(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	for name, test := range map[string]struct {
		claims  func(authReqID string) map[string]any // over those of the ID token
		trusted bool
	}{
		"its own":                 {func(string) map[string]any { return nil }, true},
		"for this client, listed": {func(string) map[string]any { return map[string]any{"aud": []string{p.ClientID}} }, true},
		"for others too":          {func(string) map[string]any { return map[string]any{"aud": []string{p.ClientID, "b"}} }, false},
		"for others too, by azp": {func(string) map[string]any {
			return map[string]any{"aud": []string{p.ClientID, "b"}, "azp": p.ClientID}
		}, false},
		"of this request":      {func(id string) map[string]any { return map[string]any{authReqIDClaim: id} }, true},
		"of another request":   {func(id string) map[string]any { return map[string]any{authReqIDClaim: id + "0"} }, false},
		"about another person": {func(string) map[string]any { return map[string]any{"sub": "b"} }, false},
	} {
		t.Run(name, func(t *testing.T) {
			p.Person(person(openidtest.Answer{Silent: true}))
			id := ask(t, c, appAuth()).ID
			p.Person(person(openidtest.Answer{IDToken: test.claims(id)}))
			tokens, err := poll(t, c, id)
			if err != nil {
				t.Fatal(err)
			}
			_, err = c.Claims(t.Context(), tokens)
			var untrusted *ciba.UntrustedError
			switch {
			case test.trusted && err != nil:
				t.Error(err)
			case !test.trusted && !errors.As(err, &untrusted):
				t.Errorf("not refused: %v", err)
			}
		})
	}
}

// TestUserInfoRefuses checks the error after the provider no longer accepts the access token, for all forms of its
// response (RFC 6750 3.1).
func TestUserInfoRefuses(t *testing.T) {
	for name, test := range map[string]struct {
		status int
		body   string
		code   string
	}{
		"401":                {401, "", "invalid_token"},
		"403":                {403, "<html>", "invalid_token"},
		"401 and its reason": {401, `{"error":"expired_token"}`, "expired_token"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWire(t, map[string]http.HandlerFunc{"/userinfo": respond(test.status, "", test.body), "/keys": keys(t, openidtest.RSAKey())})
			c := w.client(t, nil)
			_, err := c.Claims(t.Context(), tokensFor(t, c, nil))
			if d := cmp.Diff([]any{"refused", ciba.Error{Status: test.status, Code: test.code}}, withoutCause(err)); d != "" {
				t.Error(err, d)
			}
		})
	}
}

// TestInvalidTokens checks tokens that are not a JWS in compact serialization, or not signed (RFC 7515).
func TestInvalidTokens(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/keys": keys(t, openidtest.RSAKey())})
	good := tokensFor(t, w.client(t, nil), nil).ID
	parts := strings.Split(good, ".")
	for name, id := range map[string]string{
		"nothing":              "",
		"words":                "secret-words",
		"not signed":           "eyJhbGciOiJub25lIn0." + parts[1] + ".",
		"without a signature":  parts[0] + "." + parts[1] + ".",
		"of another signature": parts[0] + "." + parts[1] + "." + strings.Repeat("A", len(parts[2])),
		"of other claims":      parts[0] + ".e30." + parts[2],
		"in JSON":              `{"protected":"` + parts[0] + `","payload":"` + parts[1] + `","signature":"` + parts[2] + `"}`,
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.client(t, nil).Claims(t.Context(), ciba.Tokens{Access: "secret-access", ID: id})
			var untrusted *ciba.UntrustedError
			if !errors.As(err, &untrusted) {
				t.Fatal(err)
			}
			checkDiscreet(t, err)
		})
	}
}
