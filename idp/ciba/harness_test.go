package ciba_test

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

const kennitala = "0101302989"

// connect starts a provider with one person and returns it with a client.
func connect(t *testing.T, o openidtest.Options, change func(*ciba.Options)) (*openidtest.Provider, *ciba.Client) {
	t.Helper()
	p := openidtest.Start(t, o)
	p.Person(person(openidtest.Answer{}))
	return p, client(t, p, o, change)
}

func person(a openidtest.Answer) openidtest.Person {
	return openidtest.Person{Kennitala: kennitala, Phone: "5550101", Name: "Anna Örk", Key: openidtest.RSAKey(), Answer: a}
}

func client(t *testing.T, p *openidtest.Provider, o openidtest.Options, change func(*ciba.Options)) *ciba.Client {
	t.Helper()
	options := ciba.Options{
		Issuer: p.Issuer, Discovery: p.Discovery, ClientID: p.ClientID, Secret: p.Secret,
		Key: p.Key, KeyID: p.KeyID, Algorithm: o.Algorithm, PrivateKeyJWT: o.PrivateKeyJWT,
	}
	if o.PrivateKeyJWT {
		options.Secret = ""
	}
	if change != nil {
		change(&options)
	}
	c, err := ciba.New(options)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func appAuth() ciba.Request {
	return ciba.Request{LoginHint: kennitala, Scope: []string{"openid", "profile", "signature"}, ACR: "app-auth", BindingMessage: "Innskráning 1234"}
}

func ask(t *testing.T, c *ciba.Client, r ciba.Request) ciba.Acknowledgement {
	t.Helper()
	asked, err := c.RequestAuthentication(t.Context(), r)
	if err != nil {
		t.Fatal(err)
	}
	return asked
}

// poll requests the tokens until the person has answered.
func poll(t *testing.T, c *ciba.Client, id string) (tokens ciba.Tokens, err error) {
	t.Helper()
	testenv.Wait(t, "the person's answer", func() bool {
		tokens, err = c.Tokens(t.Context(), id)
		var refused *ciba.Error
		return !errors.As(err, &refused) || !refused.Pending()
	})
	return tokens, err
}

// authenticate requests an authentication, polls and returns the claims.
func authenticate(t *testing.T, c *ciba.Client) (ciba.Claims, error) {
	t.Helper()
	tokens, err := poll(t, c, ask(t, c, appAuth()).ID)
	if err != nil {
		t.Fatal(err)
	}
	return c.Claims(t.Context(), tokens)
}

// checkIdentified authenticates the person and checks the claims.
func checkIdentified(t *testing.T, c *ciba.Client) {
	t.Helper()
	claims, err := authenticate(t, c)
	if err != nil {
		t.Error(err)
	}
	got := []string{claims.Text("nationalRegisterId"), claims.Text("name"), claims.Text("certificate")}
	if d := cmp.Diff([]string{kennitala, "Anna Örk", "na"}, got); d != "" {
		t.Error(d)
	}
}

// TestProviderAcceptsRequests checks that a certified provider, which requires iat, nbf, exp and jti, accepts every
// kind of key and algorithm.
func TestProviderAcceptsRequests(t *testing.T) {
	for _, algorithm := range []string{"RS256", "PS256", "ES256"} {
		t.Run(algorithm, func(t *testing.T) {
			_, c := connect(t, openidtest.Options{Algorithm: algorithm}, nil)
			checkIdentified(t, c)
		})
		t.Run("assertion in "+algorithm, func(t *testing.T) {
			_, c := connect(t, openidtest.Options{Algorithm: algorithm, PrivateKeyJWT: true}, nil)
			checkIdentified(t, c)
		})
	}
}

func TestProviderAcceptsClients(t *testing.T) {
	p, _ := connect(t, openidtest.Options{}, nil)
	for name, change := range map[string]func(*ciba.Options){
		"with a form-encoded secret": func(o *ciba.Options) { o.FormSecret = true },
		"without a kid":              func(o *ciba.Options) { o.KeyID = "" },
		"without discovery": func(o *ciba.Options) {
			o.Discovery = p.URL("nowhere")
			o.Endpoints = ciba.Endpoints{
				BackchannelAuthentication: p.URL(openidtest.Backchannel),
				Token:                     p.URL(openidtest.Token),
				UserInfo:                  p.URL(openidtest.UserInfo),
				JWKS:                      p.URL(openidtest.JWKS),
			}
		},
	} {
		t.Run(name, func(t *testing.T) { checkIdentified(t, client(t, p, openidtest.Options{}, change)) })
	}
}

// TestIssuerIsNotAddress checks a provider whose issuer identifier is not its address.
func TestIssuerIsNotAddress(t *testing.T) {
	_, c := connect(t, openidtest.Options{Issuer: "https://idp.example:443/realms/audkenni"}, nil)
	checkIdentified(t, c)
}

// TestConfiguredEndpoint checks a provider whose metadata lacks the endpoint of CIBA, which the options have.
func TestConfiguredEndpoint(t *testing.T) {
	p, c := connect(t, openidtest.Options{Undiscovered: true}, nil)
	var fault *ciba.TransportError
	if _, err := c.RequestAuthentication(t.Context(), appAuth()); !errors.As(err, &fault) || fault.Sent {
		t.Errorf("without the endpoint: %v", err)
	}
	checkIdentified(t, client(t, p, openidtest.Options{}, func(o *ciba.Options) {
		o.Endpoints.BackchannelAuthentication = p.URL(openidtest.Backchannel)
	}))
}

const (
	clientID = "client/1"
	secret   = "P4$sW%41+ö"
)

// wire is a provider whose responses a test determines.
type wire struct {
	*httptest.Server
	key  *rsa.PrivateKey // the client's, and here the provider's
	http *http.Client    // nil: the client's own
}

func newWire(t *testing.T, answers map[string]http.HandlerFunc) wire {
	t.Helper()
	s := httptest.NewServer(mux(answers))
	t.Cleanup(s.Close)
	return wire{Server: s, key: openidtest.RSAKey()}
}

// newWireInBubble returns a wire without a network, which bubbles of synctest cannot use.
func newWireInBubble(answers map[string]http.HandlerFunc) wire {
	return wire{&httptest.Server{URL: "https://idp.example"}, openidtest.RSAKey(), &http.Client{Transport: direct{mux(answers)}}}
}

func mux(answers map[string]http.HandlerFunc) *http.ServeMux {
	m := http.NewServeMux()
	for path, answer := range answers {
		m.HandleFunc(path, answer)
	}
	return m
}

// direct passes requests to a handler.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	answer := httptest.NewRecorder()
	d.ServeHTTP(answer, r)
	return answer.Result(), nil
}

func (w wire) client(t *testing.T, change func(*ciba.Options)) *ciba.Client {
	t.Helper()
	o := ciba.Options{
		Issuer: w.URL, ClientID: clientID, Secret: secret, Key: w.key, HTTP: w.http,
		Endpoints: ciba.Endpoints{
			BackchannelAuthentication: w.URL + "/ask?a=b",
			Token:                     w.URL + "/token",
			UserInfo:                  w.URL + "/userinfo",
			JWKS:                      w.URL + "/keys",
		},
	}
	if change != nil {
		change(&o)
	}
	c, err := ciba.New(o)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// respond responds with a status, a header of one line or none, and a body.
func respond(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// TestClientAuthentication checks the client authentication in the requests.
func TestClientAuthentication(t *testing.T) {
	for name, test := range map[string]struct {
		change       func(*ciba.Options)
		id, password string   // of Basic
		fields       []string // of the form, beside those of the request
	}{
		"raw":          {id: clientID, password: secret},
		"form-encoded": {change: func(o *ciba.Options) { o.FormSecret = true }, id: "client%2F1", password: "P4%24sW%2541%2B%C3%B6"},
		"assertion": {change: func(o *ciba.Options) { o.PrivateKeyJWT, o.Secret = true, "" },
			fields: []string{"client_assertion", "client_assertion_type", "client_id"}},
	} {
		t.Run(name, func(t *testing.T) {
			want := map[string][]string{"/ask": append([]string{"request"}, test.fields...), "/token": append([]string{"auth_req_id", "grant_type"}, test.fields...)}
			hear := func(w http.ResponseWriter, r *http.Request) {
				id, password, _ := r.BasicAuth()
				if id != test.id || password != test.password {
					t.Errorf("Basic %q %q", id, password)
				}
				if err := r.ParseForm(); err != nil {
					t.Error(err)
				}
				for _, field := range want[r.URL.Path] {
					if r.PostForm.Get(field) == "" {
						t.Errorf("%s: no %s", r.URL.Path, field)
					}
				}
				if len(r.PostForm) != len(want[r.URL.Path]) {
					t.Errorf("%s: %v", r.URL.Path, r.PostForm)
				}
				fmt.Fprint(w, `{"auth_req_id":"1","access_token":"2","id_token":"3","token_type":"bearer"}`)
			}
			c := newWire(t, map[string]http.HandlerFunc{"POST /ask": hear, "POST /token": hear}).client(t, test.change)
			if _, err := c.RequestAuthentication(t.Context(), appAuth()); err != nil {
				t.Error(err)
			}
			tokens, err := c.Tokens(t.Context(), "1")
			if err != nil || tokens.Access != "2" || tokens.ID != "3" {
				t.Error(err, tokens)
			}
		})
	}
}

// TestAcknowledgement checks the responses of CIBA Core 7.3, and those of providers that deviate from it.
func TestAcknowledgement(t *testing.T) {
	for name, test := range map[string]struct {
		answer            string
		expires, interval time.Duration
	}{
		"as in CIBA Core":     {`"expires_in":120,"interval":2`, 120 * time.Second, 2 * time.Second},
		"no interval":         {`"expires_in":600`, 600 * time.Second, 5 * time.Second},
		"nothing":             {``, 2 * time.Minute, 5 * time.Second},
		"strings":             {`"expires_in":"90","interval":"3"`, 90 * time.Second, 3 * time.Second},
		"fractions":           {`"expires_in":1.5,"interval":2.5`, 1500 * time.Millisecond, 2500 * time.Millisecond},
		"negative":            {`"expires_in":-1,"interval":-5`, 2 * time.Minute, 5 * time.Second},
		"nought":              {`"expires_in":0,"interval":0`, 2 * time.Minute, 5 * time.Second},
		"less than a second":  {`"expires_in":0.5,"interval":0.001`, 500 * time.Millisecond, time.Second},
		"huge":                {`"expires_in":1e300,"interval":1e300`, time.Hour, time.Minute},
		"beyond numbers":      {`"expires_in":1e999,"interval":"Inf"`, 2 * time.Minute, time.Minute},
		"no numbers":          {`"expires_in":"soon","interval":"NaN"`, 2 * time.Minute, 5 * time.Second},
		"of another type":     {`"expires_in":{},"interval":[1]`, 2 * time.Minute, 5 * time.Second},
		"null, as if missing": {`"expires_in":null,"interval":null`, 2 * time.Minute, 5 * time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			body := strings.Replace(`{"auth_req_id":"1",`+test.answer+`}`, ",}", "}", 1)
			c := newWire(t, map[string]http.HandlerFunc{"/ask": respond(200, "", body)}).client(t, nil)
			if d := cmp.Diff(ciba.Acknowledgement{ID: "1", ExpiresIn: test.expires, Interval: test.interval}, ask(t, c, appAuth())); d != "" {
				t.Error(d)
			}
		})
	}
}
