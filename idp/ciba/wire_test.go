package ciba_test

import (
	"crypto/rsa"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	"github.com/innsigli/innsigli/internal/openidtest"
)

const (
	clientID = "client/1"
	secret   = "P4$sW%41+ö"
)

// wire is a provider that answers as a test writes it.
type wire struct {
	*httptest.Server
	key *rsa.PrivateKey // the client's, and here the provider's
}

func newWire(t *testing.T, answers map[string]http.HandlerFunc) wire {
	t.Helper()
	mux := http.NewServeMux()
	for path, answer := range answers {
		mux.HandleFunc(path, answer)
	}
	s := httptest.NewServer(mux)
	t.Cleanup(s.Close)
	return wire{s, openidtest.RSAKey()}
}

func (w wire) client(t *testing.T, change func(*ciba.Options)) *ciba.Client {
	t.Helper()
	o := ciba.Options{
		Issuer: w.URL, ClientID: clientID, Secret: secret, Key: w.key,
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
			if d := cmp.Diff(ciba.Tokens{Access: "2", ID: "3"}, tokens); err != nil || d != "" {
				t.Error(err, d)
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

// tries are the calls that ask the provider something, by the endpoint.
func tries(t *testing.T, c *ciba.Client) map[string]func() error {
	return map[string]func() error{
		"/ask":      func() error { _, err := c.Ask(t.Context(), appAuth()); return err },
		"/token":    func() error { _, err := c.Tokens(t.Context(), "secret-auth-req-id"); return err },
		"/userinfo": func() error { _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); return err },
	}
}

// An answer that is none is a fault, and an error answer is one, wherever it comes from.
func TestAnswers(t *testing.T) {
	const denied = `{"error":"access_denied","error_description":"mssp_401 Ö"}`
	large := `{"auth_req_id":"1","sub":"a","x":"` + strings.Repeat("x", 1<<20) + `"}`
	inAnHour := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"an error":                {says(400, "", denied), &ciba.Error{Status: 400, Code: "access_denied", Description: "mssp_401 Ö"}},
		"an error and its wait":   {says(503, "Retry-After: 7", `{"error":"temporarily_unavailable"}`), &ciba.Error{Status: 503, Code: "temporarily_unavailable", RetryAfter: 7 * time.Second}},
		"an error of no length":   {says(400, "", `{"error":"","error_description":"mssp_401"}`), &ciba.TransportError{Sent: true, Status: 400}},
		"an error of any length":  {says(400, "", `{"error":"`+strings.Repeat("e", 201)+`"}`), &ciba.TransportError{Sent: true, Status: 400}},
		"an error of a type":      {says(400, "", `{"error":{}}`), &ciba.TransportError{Sent: true, Status: 400}},
		"a long description":      {says(400, "", `{"error":"e","error_description":"`+strings.Repeat("x", 5000)+`"}`), &ciba.Error{Status: 400, Code: "e", Description: strings.Repeat("x", 4096)}},
		"a page":                  {says(502, "", `<html>Bad gateway</html>`), &ciba.TransportError{Sent: true, Status: 502}},
		"a page and its wait":     {says(503, "Retry-After: 120", `<html>Maintenance</html>`), &ciba.TransportError{Sent: true, Status: 503, RetryAfter: 2 * time.Minute}},
		"a wait until a time":     {says(503, "Retry-After: "+inAnHour, ""), &ciba.TransportError{Sent: true, Status: 503, RetryAfter: time.Hour}},
		"a wait of a year":        {says(503, "Retry-After: 31536000", ""), &ciba.TransportError{Sent: true, Status: 503}},
		"a wait in the past":      {says(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", ""), &ciba.TransportError{Sent: true, Status: 503}},
		"garbage":                 {says(200, "", "\x00\x01"), &ciba.TransportError{Sent: true, Status: 200}},
		"nothing":                 {says(200, "", ""), &ciba.TransportError{Sent: true, Status: 200}},
		"an array":                {says(200, "", "[]"), &ciba.TransportError{Sent: true, Status: 200}},
		"too much":                {says(200, "", large), &ciba.TransportError{Sent: true, Status: 200}},
		"a redirect":              {says(307, "Location: /token", ""), &ciba.TransportError{Sent: true, Status: 307}},
		"an error in a redirect":  {says(302, "", denied), &ciba.TransportError{Sent: true, Status: 302}},
		"a connection that ends":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, &ciba.TransportError{Sent: true}},
		"an answer that breaks":   {breaks, &ciba.TransportError{Sent: true, Status: 200}},
		"an answer without an ID": {says(200, "", `{"access_token":"a","token_type":"Bearer","expires_in":5}`), nil},
		"IDs with spaces":         {says(200, "", `{"auth_req_id":"a b","access_token":"a","id_token":"b c","token_type":"Bearer"}`), nil},
		"another kind of token":   {says(200, "", `{"access_token":"a","id_token":"b","token_type":"DPoP"}`), nil},
	} {
		for _, path := range []string{"/ask", "/token", "/userinfo"} {
			want := test.want
			if want == nil { // an object: of userinfo, one of nobody
				want = &ciba.TransportError{Sent: true, Status: 200}
				if path == "/userinfo" {
					want = &ciba.UntrustedError{}
				}
			}
			t.Run(name+path, func(t *testing.T) {
				w := newWire(t, map[string]http.HandlerFunc{path: test.answer, "/keys": keys(t, openidtest.RSAKey())})
				c := w.client(t, nil)
				err := tries(t, c)[path]()
				if d := cmp.Diff(withoutCause(want), withoutCause(err)); d != "" {
					t.Errorf("%v\n%s", err, d)
				}
				discreet(t, err)
			})
		}
	}
}

func breaks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, `{"auth_req_id"`)
}

// withoutCause leaves what a test can foretell; of a fault's wait the minutes.
func withoutCause(err error) any {
	var fault *ciba.TransportError
	var refused *ciba.Error
	var untrusted *ciba.UntrustedError
	switch {
	case errors.As(err, &fault):
		return []any{"fault", fault.Sent, fault.Status, fault.RetryAfter.Round(time.Minute)}
	case errors.As(err, &refused):
		return []any{"refused", *refused}
	case errors.As(err, &untrusted):
		return []any{"untrusted"}
	}
	return nil
}

// discreet: an error has nothing that is secret or that names a person.
func discreet(t *testing.T, err error) {
	t.Helper()
	if err == nil || !strings.HasPrefix(err.Error(), "ciba: ") {
		t.Fatalf("error: %v", err)
	}
	for _, s := range []string{kennitala, secret, url.QueryEscape(secret), "secret-", "mssp", "a=b"} {
		if strings.Contains(err.Error(), s) {
			t.Errorf("%q has %q", err, s)
		}
	}
}

// Without a connection nothing was sent; without an answer in time something may have been.
func TestNoAnswer(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without which the server does not see the client go
		<-r.Context().Done()
	}})
	c := w.client(t, func(o *ciba.Options) { o.HTTP = &http.Client{Timeout: 100 * time.Millisecond} })
	_, err := c.Tokens(t.Context(), "secret-auth-req-id")
	if d := cmp.Diff([]any{"fault", true, 0, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
	discreet(t, err)
	w.Close()
	_, err = c.Tokens(t.Context(), "secret-auth-req-id")
	if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
	discreet(t, err)
}
