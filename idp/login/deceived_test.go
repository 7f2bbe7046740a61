package login_test

import (
	"errors"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// What does not fit together is no login, whichever part was changed.
func TestBrowserIsDeceived(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	b := newBrowser(t, login.BrowserOptions{Client: client})
	otherAddress, other := begin(t, b)
	otherBack := visit(t, otherAddress)
	for name, test := range map[string]struct {
		change func(*login.BrowserState, url.Values)
		want   error  // or
		code   string // of a *ciba.Error
	}{
		"another login's state":    {change: func(_ *login.BrowserState, q url.Values) { q.Set("state", other.State) }, want: login.ErrForeign},
		"no state":                 {change: func(_ *login.BrowserState, q url.Values) { q.Del("state") }, want: login.ErrForeign},
		"no state at all":          {change: func(s *login.BrowserState, q url.Values) { *s = login.BrowserState{}; q.Del("state") }, want: login.ErrForeign},
		"two states":               {change: func(_ *login.BrowserState, q url.Values) { q.Add("state", q.Get("state")) }, want: login.ErrForeign},
		"another login's nonce":    {change: func(s *login.BrowserState, _ url.Values) { s.Nonce = other.Nonce }, want: login.ErrForeign},
		"no nonce":                 {change: func(s *login.BrowserState, _ url.Values) { s.Nonce = "" }, want: login.ErrForeign},
		"another login's verifier": {change: func(s *login.BrowserState, _ url.Values) { s.Verifier = other.Verifier }, code: "invalid_grant"},
		"another login's code":     {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", otherBack.Get("code")) }, code: "invalid_grant"},
		"an invented code":         {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", "invented") }, code: "invalid_grant"},
		"no code":                  {change: func(_ *login.BrowserState, q url.Values) { q.Del("code") }, want: login.ErrForeign},
		"two codes":                {change: func(_ *login.BrowserState, q url.Values) { q.Add("code", "invented") }, want: login.ErrForeign},
		"a long code":              {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", strings.Repeat("a", 9000)) }, want: login.ErrForeign},
		"another issuer":           {change: func(_ *login.BrowserState, q url.Values) { q.Set("iss", "https://other.example") }, want: login.ErrForeign},
		"an error":                 {change: func(_ *login.BrowserState, q url.Values) { q.Set("error", "server_error") }, code: "server_error"},
		"a login of yesterday":     {change: func(s *login.BrowserState, _ url.Values) { s.Expires = time.Now().Add(-time.Second) }, want: login.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			address, state := begin(t, b)
			back := visit(t, address)
			test.change(&state, back)
			identity, err := b.Finish(t.Context(), state, back)
			var refused *ciba.Error
			if test.want != nil && !errors.Is(err, test.want) || test.want == nil && (!errors.As(err, &refused) || refused.Code != test.code) {
				t.Errorf("%+v, %v", identity, err)
			}
			if identity != (login.Identity{}) {
				t.Errorf("%+v with an error", identity)
			}
		})
	}
}

// An answer is good for one login.
func TestBrowserComesBackTwice(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	b := newBrowser(t, login.BrowserOptions{Client: client})
	address, state := begin(t, b)
	back := visit(t, address)
	if _, err := b.Finish(t.Context(), state, back); err != nil {
		t.Fatal(err)
	}
	var refused *ciba.Error
	if _, err := b.Finish(t.Context(), state, back); !errors.As(err, &refused) || refused.Code != "invalid_grant" {
		t.Error(err)
	}
}

// Who refuses on the provider's pages comes back with that.
func TestBrowserRefuses(t *testing.T) {
	p, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	p.Person(person(openidtest.Answer{Error: &openidtest.Refusal{Code: "access_denied", Description: "mssp_401"}}))
	b := newBrowser(t, login.BrowserOptions{Client: client})
	address, state := begin(t, b)
	_, err := b.Finish(t.Context(), state, visit(t, address))
	var refused *ciba.Error
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	if d := cmp.Diff(ciba.Error{Code: "access_denied", Description: "mssp_401"}, *refused); d != "" {
		t.Error(d)
	}
}

// An ID token that is not for this login alone, or not about the person of the userinfo, is no login: on the
// phone or in the browser.
func TestLoginsWithOtherIDTokens(t *testing.T) {
	const authReqID = "urn:openid:params:jwt:claim:auth_req_id"
	type claims = map[string]any
	p, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	phone, browser := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"}), newBrowser(t, login.BrowserOptions{Client: client})
	untrusted := func(err error) bool { var u *ciba.UntrustedError; return errors.As(err, &u) }
	two := func(err error) bool { return errors.Is(err, login.ErrTwoPeople) }
	for name, test := range map[string]struct {
		claims  claims
		refused func(error) bool // nil: it is a login
	}{
		"as they are":                         {},
		"the kennitala in another form":       {claims: claims{"nationalRegisterId": "PNOIS-010130-2989"}},
		"no kennitala":                        {claims: claims{"nationalRegisterId": "na"}},
		"another kennitala":                   {claims: claims{"nationalRegisterId": "0101302719"}, refused: two},
		"another kennitala in its other form": {claims: claims{"nationalRegisterId": "PNOIS-010130-2719"}, refused: two},
		"another subject":                     {claims: claims{"sub": "b"}, refused: untrusted},
		"another audience beside":             {claims: claims{"aud": []string{p.ClientID, "b"}}, refused: untrusted},
		"another request":                     {claims: claims{authReqID: "b"}, refused: untrusted},
	} {
		t.Run(name, func(t *testing.T) {
			p.Person(person(openidtest.Answer{IDToken: test.claims}))
			check := func(where string, identity *login.Identity, err error) {
				t.Helper()
				switch {
				case test.refused != nil && (identity != nil || !test.refused(err)):
					t.Errorf("%s: not refused: %+v, %v", where, identity, err)
				case test.refused == nil && (err != nil || identity == nil || identity.Kennitala != kennitala):
					t.Errorf("%s: %+v, %v", where, identity, err)
				}
			}
			_, identity, err := answered(t, phone, ring(t, phone, kennitala))
			check("on the phone", identity, err)

			address, state := begin(t, browser)
			back, err := browser.Finish(t.Context(), state, visit(t, address))
			if identity = &back; back == (login.Identity{}) {
				identity = nil
			}
			check("in the browser", identity, err)
		})
	}
}

// The answer to a request of CIBA is that of the request which the state names, also after a restart.
func TestPhoneKnowsItsRequest(t *testing.T) {
	const authReqID = "urn:openid:params:jwt:claim:auth_req_id"
	p, client := start(t, openidtest.Options{})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := ring(t, phone, kennitala)
	p.Person(person(openidtest.Answer{IDToken: map[string]any{authReqID: state.ID}}))
	p.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: 502})
	state, _, _ = answered(t, phone, state) // fails at the userinfo
	if state.Tokens == nil {
		t.Fatal("the tokens are not kept")
	}
	if _, identity, err := answered(t, phone, state); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}
