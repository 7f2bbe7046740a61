package ciba_test

import (
	"errors"
	"maps"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// What the provider was sent, byte for byte where it is text.
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
			asked, err := c.Ask(t.Context(), request)
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

// An answer is given once. Its tokens can be used until the request is asked about again,
// for which the provider takes them back (RFC 6749 4.1.2).
func TestAnswerIsGivenOnce(t *testing.T) {
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
