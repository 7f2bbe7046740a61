package login_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/idp/login"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

const (
	kennitala = "0101302989"
	redirect  = "https://sign.example/back?page=1"
)

func person(a openidtest.Answer) openidtest.Person {
	return openidtest.Person{Kennitala: kennitala, Phone: "5550101", Name: "Anna Örk", Key: openidtest.RSAKey(), Answer: a}
}

// start starts a provider with one person, and returns it with a client.
func start(t *testing.T, o openidtest.Options) (*openidtest.Provider, *ciba.Client) {
	t.Helper()
	p := openidtest.Start(t, o)
	p.Person(person(openidtest.Answer{}))
	p.Login(kennitala)
	options := ciba.Options{Issuer: p.Issuer, ClientID: p.ClientID, Secret: p.Secret, Key: p.Key, KeyID: p.KeyID}
	if o.PrivateKeyJWT {
		options.Secret, options.PrivateKeyJWT = "", true
	}
	c, err := ciba.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return p, c
}

func newBrowser(t *testing.T, o login.BrowserOptions) *login.Browser {
	t.Helper()
	o.Redirect = redirect
	b, err := login.NewBrowser(o)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// visit follows the redirects of an address as a browser does, and returns the query of the last one.
func visit(t *testing.T, address string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back url.Values
	client := http.Client{Jar: jar, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
		if !strings.HasPrefix(r.URL.String(), redirect) {
			return nil
		}
		back = r.URL.Query()
		return http.ErrUseLastResponse
	}}
	response, err := client.Get(address)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if back == nil {
		t.Fatalf("not sent back: %s", response.Status)
	}
	return back
}

// begin begins a login and returns its stored state.
func begin(t *testing.T, b *login.Browser) (address string, s login.BrowserState) {
	t.Helper()
	address, state, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address, stored(t, state)
}

// stored encodes and decodes a state, as a store does.
func stored[S any](t *testing.T, state S) (out S) {
	t.Helper()
	text, err := json.Marshal(state)
	if err == nil {
		err = json.Unmarshal(text, &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func TestBrowser(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	for name, test := range map[string]struct {
		options login.BrowserOptions
		changed string // acr_values of the request, as the person changed them in the browser; "-": they are removed
		want    error
	}{
		"by any method":       {},
		"by a method":         {options: login.BrowserOptions{ACR: []string{"app-auth"}, Claims: login.ClaimRules{Methods: []string{"app-auth", "sim-auth"}}}},
		"by another method":   {options: login.BrowserOptions{ACR: []string{"app-auth"}, Claims: login.ClaimRules{Methods: []string{"sim-auth"}}}, want: login.ErrMethod},
		"as requested":        {options: login.BrowserOptions{ACR: []string{"app-auth"}}},
		"not as requested":    {options: login.BrowserOptions{ACR: []string{"app-auth"}}, changed: "sim-auth", want: login.ErrMethod},
		"no longer requested": {options: login.BrowserOptions{ACR: []string{"app-auth"}}, changed: "-", want: login.ErrMethod},
		"by no method":        {options: login.BrowserOptions{Claims: login.ClaimRules{Methods: []string{""}}}, want: login.ErrMethod},
		"without kennitala":   {options: login.BrowserOptions{Claims: login.ClaimRules{Kennitala: "nin"}}, want: login.ErrNoKennitala},
		"by another claim":    {options: login.BrowserOptions{Claims: login.ClaimRules{Kennitala: "sub"}}, want: login.ErrNoKennitala},
		"too late":            {options: login.BrowserOptions{Lifetime: time.Nanosecond}, want: login.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			test.options.Client = client
			test.options.Parameters = url.Values{"ui_locales": {"is"}, "state": {"mine"}}
			b := newBrowser(t, test.options)
			address, state := begin(t, b)
			if u, err := url.Parse(address); err != nil || u.Query().Get("ui_locales") != "is" {
				t.Errorf("%s: %v", address, err)
			}
			if test.changed != "" {
				address = strings.Replace(address, "acr_values=app-auth", "acr_values="+strings.Trim(test.changed, "-"), 1)
			}
			identity, err := b.Finish(t.Context(), state, visit(t, address))
			if !errors.Is(err, test.want) {
				t.Fatal(err)
			}
			if test.want == nil && (identity.Kennitala != kennitala || identity.Name != "Anna Örk" || identity.Subject == "") {
				t.Errorf("%+v", identity)
			}
		})
	}
}

// TestBrowserWithPrivateKeyJWT checks a login by a client without a secret.
func TestBrowserWithPrivateKeyJWT(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}, PrivateKeyJWT: true})
	b := newBrowser(t, login.BrowserOptions{Client: client})
	address, state := begin(t, b)
	if identity, err := b.Finish(t.Context(), state, visit(t, address)); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}

// TestBrowserRejectsManipulation checks that a login fails if any part of the state or the answer was changed.
func TestBrowserRejectsManipulation(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	b := newBrowser(t, login.BrowserOptions{Client: client})
	otherAddress, other := begin(t, b)
	otherBack := visit(t, otherAddress)
	for name, test := range map[string]struct {
		change func(*login.BrowserState, url.Values)
		want   error  // or
		code   string // of a *ciba.Error
	}{
		"another login's state":    {change: func(_ *login.BrowserState, q url.Values) { q.Set("state", other.State) }, want: login.ErrMismatch},
		"no state":                 {change: func(_ *login.BrowserState, q url.Values) { q.Del("state") }, want: login.ErrMismatch},
		"no state at all":          {change: func(s *login.BrowserState, q url.Values) { *s = login.BrowserState{}; q.Del("state") }, want: login.ErrMismatch},
		"two states":               {change: func(_ *login.BrowserState, q url.Values) { q.Add("state", q.Get("state")) }, want: login.ErrMismatch},
		"another login's nonce":    {change: func(s *login.BrowserState, _ url.Values) { s.Nonce = other.Nonce }, want: login.ErrMismatch},
		"no nonce":                 {change: func(s *login.BrowserState, _ url.Values) { s.Nonce = "" }, want: login.ErrMismatch},
		"another login's verifier": {change: func(s *login.BrowserState, _ url.Values) { s.Verifier = other.Verifier }, code: "invalid_grant"},
		"another login's code":     {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", otherBack.Get("code")) }, code: "invalid_grant"},
		"an invented code":         {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", "invented") }, code: "invalid_grant"},
		"no code":                  {change: func(_ *login.BrowserState, q url.Values) { q.Del("code") }, want: login.ErrMismatch},
		"two codes":                {change: func(_ *login.BrowserState, q url.Values) { q.Add("code", "invented") }, want: login.ErrMismatch},
		"a long code":              {change: func(_ *login.BrowserState, q url.Values) { q.Set("code", strings.Repeat("a", 9000)) }, want: login.ErrMismatch},
		"another issuer":           {change: func(_ *login.BrowserState, q url.Values) { q.Set("iss", "https://other.example") }, want: login.ErrMismatch},
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

// TestBrowserAnswerIsForOneLogin checks that an answer cannot be used twice.
func TestBrowserAnswerIsForOneLogin(t *testing.T) {
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

// TestBrowserRefused checks the error of a person who refuses on the provider's pages.
func TestBrowserRefused(t *testing.T) {
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

// TestUntrustedIDTokens checks that an ID token for another login or another audience, or about another person than the
// userinfo, is refused, on the phone and in the browser.
func TestUntrustedIDTokens(t *testing.T) {
	const authReqID = "urn:openid:params:jwt:claim:auth_req_id"
	type claims = map[string]any
	p, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	phone, browser := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"}), newBrowser(t, login.BrowserOptions{Client: client})
	untrusted := func(err error) bool { var u *ciba.UntrustedError; return errors.As(err, &u) }
	two := func(err error) bool { return errors.Is(err, login.ErrKennitalaMismatch) }
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
			_, identity, err := pollUntilAnswer(t, phone, beginPhone(t, phone, kennitala))
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

// TestPhoneChecksAuthReqID checks that an answer has to be the one to the request in the state, also after a restart.
func TestPhoneChecksAuthReqID(t *testing.T) {
	const authReqID = "urn:openid:params:jwt:claim:auth_req_id"
	p, client := start(t, openidtest.Options{})
	p.Person(person(openidtest.Answer{Silent: true}))
	phone := newPhone(t, login.PhoneOptions{Client: client, ACR: "app-auth"})
	state := beginPhone(t, phone, kennitala)
	p.Person(person(openidtest.Answer{IDToken: map[string]any{authReqID: state.ID}}))
	p.Fault(openidtest.Fault{Endpoint: openidtest.UserInfo, Status: 502})
	state, _, _ = pollUntilAnswer(t, phone, state) // fails at the userinfo
	if state.Tokens == nil {
		t.Fatal("the tokens are not kept")
	}
	if _, identity, err := pollUntilAnswer(t, phone, state); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}

// TestCheck checks that Browser.Check finds out whether the provider knows the client, for each kind of client
// authentication, and that the client needs no key.
func TestCheck(t *testing.T) {
	for name, asserts := range map[string]bool{"by its secret": false, "by an assertion": true} {
		t.Run(name, func(t *testing.T) {
			p, client := start(t, openidtest.Options{Redirects: []string{redirect}, PrivateKeyJWT: asserts, Undiscovered: true})
			if r, err := newBrowser(t, login.BrowserOptions{Client: client}).Check(t.Context()); err != nil || r.Problems != nil || r.Warnings != nil {
				t.Errorf("all is right, but %v, %v, %v", r.Problems, r.Warnings, err)
			}
			stranger, err := ciba.New(ciba.Options{Issuer: p.Issuer, ClientID: p.ClientID, Secret: "another"})
			if err != nil {
				t.Fatal(err)
			}
			r, err := newBrowser(t, login.BrowserOptions{Client: stranger}).Check(t.Context())
			if err != nil || len(r.Problems) != 1 || r.Problems[0].Topic != ciba.TopicClient {
				t.Errorf("the provider does not know the secret, but %v, %v", r.Problems, err)
			}
		})
	}
}
