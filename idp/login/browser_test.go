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
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}})
	for name, test := range map[string]struct {
		options login.BrowserOptions
		want    error
	}{
		"by any method":     {},
		"by a method":       {options: login.BrowserOptions{ACR: []string{"app-auth"}, Reading: login.Reading{Methods: []string{"app-auth", "sim-auth"}}}},
		"by another method": {options: login.BrowserOptions{ACR: []string{"app-auth"}, Reading: login.Reading{Methods: []string{"sim-auth"}}}, want: login.ErrMethod},
		"without kennitala": {options: login.BrowserOptions{Reading: login.Reading{Kennitala: "nin"}}, want: login.ErrNoKennitala},
		"by another claim":  {options: login.BrowserOptions{Reading: login.Reading{Kennitala: "sub"}}, want: login.ErrNoKennitala},
		"too late":          {options: login.BrowserOptions{Lifetime: time.Nanosecond}, want: login.ErrExpired},
	} {
		t.Run(name, func(t *testing.T) {
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

// The client may have no secret.
func TestBrowserOfAnAssertingClient(t *testing.T) {
	_, client := start(t, openidtest.Options{Redirects: []string{redirect}, PrivateKeyJWT: true})
	b := newBrowser(t, login.BrowserOptions{Client: client})
	address, state := begin(t, b)
	if identity, err := b.Finish(t.Context(), state, visit(t, address)); err != nil || identity.Kennitala != kennitala {
		t.Errorf("%+v, %v", identity, err)
	}
}
