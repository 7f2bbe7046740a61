package ciba_test

import (
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// TestRequestObject checks the claims that the provider received.
func TestRequestObject(t *testing.T) {
	p, c := connect(t, openidtest.Options{}, nil)
	before := time.Now().Unix()
	extra := map[string]any{"binding_message": "", "vchoice": "true", "iss": "other", "exp": 1, "login_hint": "other"}
	given := maps.Clone(extra)
	ask(t, c, ciba.Request{
		LoginHint: kennitala, Scope: []string{"openid", "RELATEDPARTY:Felag"}, ACR: "app-auth", Extra: extra,
	})
	if d := cmp.Diff(given, extra); d != "" {
		t.Errorf("the caller's claims: %s", d)
	}
	asked := p.Asked()[0]
	claims := asked.Claims
	for name, within := range map[string][2]int64{"iat": {0, 10}, "nbf": {-30, 10}, "exp": {60, 70}} {
		at, _ := claims[name].(float64)
		if int64(at) < before+within[0] || int64(at) > before+within[1] {
			t.Errorf("%s is %v, at %d", name, claims[name], before)
		}
		delete(claims, name)
	}
	if id, _ := claims["jti"].(string); len(id) < 20 {
		t.Errorf("jti is %q", id)
	}
	delete(claims, "jti")
	want := map[string]any{
		"iss": p.ClientID, "aud": p.Issuer, "login_hint": kennitala, "scope": "openid RELATEDPARTY:Felag",
		"acr_values": "app-auth", "binding_message": "", "vchoice": "true",
	}
	if d := cmp.Diff(want, claims); d != "" {
		t.Errorf("claims: %s", d)
	}
	if d := cmp.Diff(map[string]any{"typ": "JWT", "alg": "RS256", "kid": p.KeyID}, asked.Header); d != "" {
		t.Errorf("header: %s", d)
	}
}

func TestProviderRefuses(t *testing.T) {
	p, _ := connect(t, openidtest.Options{}, nil)
	refusal := &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}
	for name, test := range map[string]struct {
		answer  openidtest.Answer
		change  func(*ciba.Options)
		request func(*ciba.Request)
		want    ciba.Error
	}{
		"a wrong secret": {change: func(o *ciba.Options) { o.Secret = "wrong" },
			want: ciba.Error{Status: 401, Code: "invalid_client", Description: "client authentication failed"}},
		"who is not known": {request: func(r *ciba.Request) { r.LoginHint = "0000000000" },
			want: ciba.Error{Status: 400, Code: "access_denied", Description: "audkenni_404"}},
		"on the phone": {answer: openidtest.Answer{Error: refusal},
			want: ciba.Error{Status: 400, Code: "access_denied", Description: "mssp_401"}},
	} {
		t.Run(name, func(t *testing.T) {
			p.Person(person(test.answer))
			request := appAuth()
			if test.request != nil {
				test.request(&request)
			}
			c := client(t, p, openidtest.Options{}, test.change)
			asked, err := c.RequestAuthentication(t.Context(), request)
			if err == nil {
				_, err = poll(t, c, asked.ID)
			}
			var refused *ciba.Error
			if !errors.As(err, &refused) {
				t.Fatalf("%v", err)
			}
			if d := cmp.Diff(test.want, *refused); d != "" {
				t.Error(d)
			}
		})
	}
}

func TestRequestExpires(t *testing.T) {
	p, c := connect(t, openidtest.Options{Expires: time.Second}, nil)
	p.Person(person(openidtest.Answer{Silent: true}))
	_, err := poll(t, c, ask(t, c, appAuth()).ID)
	var refused *ciba.Error
	if !errors.As(err, &refused) || refused.Code != "expired_token" || refused.Pending() {
		t.Errorf("%v", err)
	}
}

// TestTokensAreIssuedOnce checks that the provider issues the tokens once. They can be used until the client
// requests them again, after which the provider revokes them (RFC 6749 4.1.2).
func TestTokensAreIssuedOnce(t *testing.T) {
	_, c := connect(t, openidtest.Options{}, nil)
	asked := ask(t, c, appAuth())
	tokens, err := poll(t, c, asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := c.Claims(t.Context(), tokens); err != nil {
			t.Error(err)
		}
	}
	var refused *ciba.Error
	if _, err := c.Tokens(t.Context(), asked.ID); !errors.As(err, &refused) || refused.Code != "invalid_grant" {
		t.Errorf("asked again: %v", err)
	}
	if _, err := c.Claims(t.Context(), tokens); !errors.As(err, &refused) || refused.Status != 401 {
		t.Errorf("an access token that does not count any more: %v", err)
	}
}

// TestPing checks that tokens are available after the ping.
func TestPing(t *testing.T) {
	type ping struct{ token, id string }
	pings := make(chan ping, 1)
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		token, id, err := ciba.ReadNotification(r)
		if err != nil {
			t.Error(err)
		}
		pings <- ping{token, id}
		w.WriteHeader(http.StatusNoContent)
	}))
	defer receiver.Close()
	authority := filepath.Join(t.TempDir(), "receiver.pem")
	certificate := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: receiver.Certificate().Raw})
	if err := os.WriteFile(authority, certificate, 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("NODE_EXTRA_CA_CERTS", authority) // the provider's
	_, c := connect(t, openidtest.Options{Notify: receiver.URL}, nil)
	request := appAuth()
	request.Ping = "8d67dc78-7faa-4d41-aabd-67707b374255"
	asked := ask(t, c, request)
	if got, _ := testenv.Receive(t, "a ping", pings); got != (ping{request.Ping, asked.ID}) {
		t.Errorf("the ping is %v, the request %q", got, asked.ID)
	}
	tokens, err := c.Tokens(t.Context(), asked.ID)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Claims(t.Context(), tokens); err != nil {
		t.Error(err)
	}
}

func TestReadNotification(t *testing.T) {
	const body = `{"auth_req_id":"1c266114-a1be-4252-8ad1-04986c5b9ac1"}`
	for name, test := range map[string]struct {
		method, authorization, body string
		ok                          bool
	}{
		"as in CIBA Core 10.2":      {"POST", "Bearer 8d67dc78", body, true},
		"another scheme's case":     {"POST", "bearer 8d67dc78", body, true},
		"GET":                       {"GET", "Bearer 8d67dc78", body, false},
		"no token":                  {"POST", "", body, false},
		"an empty token":            {"POST", "Bearer ", body, false},
		"a token with a space":      {"POST", "Bearer 8d67 dc78", body, false},
		"Basic":                     {"POST", "Basic OGQ2N2RjNzg=", body, false},
		"no body":                   {"POST", "Bearer 8d67dc78", "", false},
		"no JSON":                   {"POST", "Bearer 8d67dc78", "auth_req_id=1", false},
		"no auth_req_id":            {"POST", "Bearer 8d67dc78", `{}`, false},
		"an auth_req_id of a line":  {"POST", "Bearer 8d67dc78", `{"auth_req_id":"a\nb"}`, false},
		"an auth_req_id too long":   {"POST", "Bearer 8d67dc78", `{"auth_req_id":"` + strings.Repeat("a", 20<<10) + `"}`, false},
		"an auth_req_id, no string": {"POST", "Bearer 8d67dc78", `{"auth_req_id":1}`, false},
		"a large body":              {"POST", "Bearer 8d67dc78", body + strings.Repeat(" ", 64<<10), false},
	} {
		t.Run(name, func(t *testing.T) {
			r := httptest.NewRequest(test.method, "/", strings.NewReader(test.body))
			r.Header.Set("Authorization", test.authorization)
			token, id, err := ciba.ReadNotification(r)
			switch {
			case test.ok && (err != nil || token != "8d67dc78" || id != "1c266114-a1be-4252-8ad1-04986c5b9ac1"):
				t.Errorf("%q, %q, %v", token, id, err)
			case !test.ok && !errors.Is(err, ciba.ErrNotification):
				t.Errorf("%q, %q, %v", token, id, err)
			}
		})
	}
}

// TestJWTClaims checks the claims and the lifetime of request objects and assertions.
func TestJWTClaims(t *testing.T) {
	all := []string{"aud", "exp", "iat", "iss", "jti", "nbf"}
	for name, test := range map[string]struct {
		omit     []string
		lifetime time.Duration
		want     []string // names, beside those of the request and of the subject
		lives    time.Duration
	}{
		"as CIBA has it":    {want: all, lives: time.Minute},
		"a longer life":     {lifetime: 5 * time.Minute, want: all, lives: 5 * time.Minute},
		"without one":       {omit: []string{"nbf"}, want: []string{"aud", "exp", "iat", "iss", "jti"}, lives: time.Minute},
		"without all three": {omit: []string{"iat", "nbf", "jti"}, want: []string{"aud", "exp", "iss"}, lives: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			signed := make(map[string]map[string]any)
			c := newWire(t, map[string]http.HandlerFunc{"/ask": func(w http.ResponseWriter, r *http.Request) {
				for _, field := range []string{"request", "client_assertion"} {
					signed[field] = payload(t, r.PostFormValue(field))
				}
				fmt.Fprint(w, `{"auth_req_id":"1"}`)
			}}).client(t, func(o *ciba.Options) {
				o.PrivateKeyJWT, o.Secret = true, ""
				o.OmitClaims, o.Lifetime = test.omit, test.lifetime
			})
			ask(t, c, ciba.Request{})
			for field, want := range map[string][]string{"request": test.want, "client_assertion": append(slices.Clone(test.want), "sub")} {
				if d := cmp.Diff(want, slices.Sorted(maps.Keys(signed[field]))); d != "" {
					t.Errorf("claims of %s: %s", field, d)
				}
				expires, _ := signed[field]["exp"].(float64)
				if left := time.Until(time.Unix(int64(expires), 0)); left > test.lives || left < test.lives-30*time.Second {
					t.Errorf("%s lives %v", field, left)
				}
			}
		})
	}
}

func payload(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Errorf("%q is no JWT: %v", token, err)
	}
	return claims
}

// TestOmittedClaims checks that a provider that requires the claims refuses a client that omits them.
func TestOmittedClaims(t *testing.T) {
	p, _ := connect(t, openidtest.Options{}, nil)
	for _, name := range []string{"iat", "nbf", "jti"} {
		_, err := client(t, p, openidtest.Options{}, func(o *ciba.Options) { o.OmitClaims = []string{name} }).RequestAuthentication(t.Context(), appAuth())
		var refused *ciba.Error
		if !errors.As(err, &refused) || refused.Code != "invalid_request" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
