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
	"github.com/innsigli/innsigli/internal/openidtest"
)

const (
	kennitala = "0101302989"
	redirect  = "https://sign.example/back?page=1"
)

func person(a openidtest.Answer) openidtest.Person {
	return openidtest.Person{Kennitala: kennitala, Phone: "5550101", Name: "Anna Örk", Key: openidtest.RSAKey(), Answer: a}
}

// start returns a provider that knows one person, who is at the browser, and a client of it.
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

// visit opens an address as a browser does and returns the query with which it is sent back.
func visit(t *testing.T, address string) url.Values {
	t.Helper()
	jar, err := cookiejar.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	var back url.Values
	client := http.Client{Jar: jar, Timeout: time.Minute, CheckRedirect: func(r *http.Request, _ []*http.Request) error {
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

// begin begins a login and stores its state.
func begin(t *testing.T, b *login.Browser) (address string, s login.BrowserState) {
	t.Helper()
	address, state, err := b.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return address, stored(t, state)
}

// stored returns a state as it comes out of a store.
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
	for name, test := range map[string]struct {
		provider openidtest.Options
		options  login.BrowserOptions
		want     error
	}{
		"by a secret":        {},
		"by an assertion":    {provider: openidtest.Options{PrivateKeyJWT: true}},
		"by a method":        {options: login.BrowserOptions{ACR: []string{"app-auth"}, Reading: login.Reading{Methods: []string{"app-auth", "sim-auth"}}}},
		"by another method":  {options: login.BrowserOptions{ACR: []string{"app-auth"}, Reading: login.Reading{Methods: []string{"sim-auth"}}}, want: login.ErrMethod},
		"without kennitala":  {options: login.BrowserOptions{Reading: login.Reading{Kennitala: "nin"}}, want: login.ErrNoKennitala},
		"by another's claim": {options: login.BrowserOptions{Reading: login.Reading{Kennitala: "sub"}}, want: login.ErrNoKennitala},
		"too late":           {options: login.BrowserOptions{Lifetime: time.Nanosecond}, want: login.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
			test.provider.Redirects = []string{redirect}
			_, client := start(t, test.provider)
			test.options.Client = client
			test.options.Parameters = url.Values{"ui_locales": {"is"}, "state": {"mine"}}
			b := newBrowser(t, test.options)
			address, state := begin(t, b)
			if u, err := url.Parse(address); err != nil || u.Query().Get("ui_locales") != "is" {
				t.Errorf("%s: %v", address, err)
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
