package ciba_test

import (
	"crypto/rsa"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

const (
	clientID = "client/1"
	secret   = "P4$sW%41+ö"
)

// wire is a provider that answers as a test writes it.
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

// unwired is such a provider without a network, which bubbles of synctest cannot have.
func unwired(answers map[string]http.HandlerFunc) wire {
	return wire{&httptest.Server{URL: "https://idp.example"}, openidtest.RSAKey(), &http.Client{Transport: direct{mux(answers)}}}
}

func mux(answers map[string]http.HandlerFunc) *http.ServeMux {
	m := http.NewServeMux()
	for path, answer := range answers {
		m.HandleFunc(path, answer)
	}
	return m
}

// direct gives requests to a handler.
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

// says answers with a status, a header of one line or none, and a body.
func says(status int, header, body string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		fmt.Fprint(w, body)
	}
}

// How the client says who it is, on the wire.
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
			if _, err := c.Ask(t.Context(), appAuth()); err != nil {
				t.Error(err)
			}
			tokens, err := c.Tokens(t.Context(), "1")
			if err != nil || tokens.Access != "2" || tokens.ID != "3" {
				t.Error(err, tokens)
			}
		})
	}
}

// CIBA Core 7.3, and what providers make of it.
func TestAsked(t *testing.T) {
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
			c := newWire(t, map[string]http.HandlerFunc{"/ask": says(200, "", body)}).client(t, nil)
			if d := cmp.Diff(ciba.Asked{ID: "1", ExpiresIn: test.expires, Interval: test.interval}, ask(t, c, appAuth())); d != "" {
				t.Error(d)
			}
		})
	}
}
