package ciba_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// tries returns the calls that send a request, by the endpoint.
func tries(t *testing.T, c *ciba.Client) map[string]func() error {
	return map[string]func() error{
		"/ask":      func() error { _, err := c.RequestAuthentication(t.Context(), appAuth()); return err },
		"/token":    func() error { _, err := c.Tokens(t.Context(), "secret-auth-req-id"); return err },
		"/userinfo": func() error { _, err := c.Claims(t.Context(), tokensFor(t, c, nil)); return err },
	}
}

// TestResponses checks the errors for responses of each endpoint.
func TestResponses(t *testing.T) {
	const denied = `{"error":"access_denied","error_description":"mssp_401 Ö"}`
	large := `{"auth_req_id":"1","access_token":"a","id_token":"b","token_type":"Bearer","sub":"a"}` + strings.Repeat(" ", 1<<20)
	inAnHour := time.Now().Add(time.Hour).UTC().Format(http.TimeFormat)
	for name, test := range map[string]struct {
		answer http.HandlerFunc
		want   error
	}{
		"an error":                {respond(400, "", denied), &ciba.Error{Status: 400, Code: "access_denied", Description: "mssp_401 Ö"}},
		"an error and its wait":   {respond(503, "Retry-After: 7", `{"error":"temporarily_unavailable"}`), &ciba.Error{Status: 503, Code: "temporarily_unavailable", RetryAfter: 7 * time.Second}},
		"an error of no length":   {respond(400, "", `{"error":"","error_description":"mssp_401"}`), &ciba.TransportError{Sent: true, Status: 400}},
		"an error of any length":  {respond(400, "", `{"error":"`+strings.Repeat("e", 201)+`"}`), &ciba.TransportError{Sent: true, Status: 400}},
		"an error of a type":      {respond(400, "", `{"error":{}}`), &ciba.TransportError{Sent: true, Status: 400}},
		"a long description":      {respond(400, "", `{"error":"e","error_description":"`+strings.Repeat("x", 5000)+`"}`), &ciba.Error{Status: 400, Code: "e", Description: strings.Repeat("x", 4096)}},
		"a description of a type": {respond(400, "", `{"error":"access_denied","error_description":{"code":"mssp_401"},"error_uri":7}`), &ciba.Error{Status: 400, Code: "access_denied", Description: `{"code":"mssp_401"}`}},
		"a long one of a type":    {respond(400, "", `{"error":"e","error_description":["`+strings.Repeat("ö", 5000)+`"]}`), &ciba.Error{Status: 400, Code: "e", Description: `["` + strings.Repeat("ö", 2047)}},
		"a null description":      {respond(400, "", `{"error":"e","error_description":null}`), &ciba.Error{Status: 400, Code: "e"}},
		"a page":                  {respond(502, "", `<html>Bad gateway</html>`), &ciba.TransportError{Sent: true, Status: 502}},
		"a page and its wait":     {respond(503, "Retry-After: 120", `<html>Maintenance</html>`), &ciba.TransportError{Sent: true, Status: 503, RetryAfter: 2 * time.Minute}},
		"a wait until a time":     {respond(503, "Retry-After: "+inAnHour, ""), &ciba.TransportError{Sent: true, Status: 503, RetryAfter: time.Hour}},
		"a wait of a year":        {respond(503, "Retry-After: 31536000", ""), &ciba.TransportError{Sent: true, Status: 503}},
		"a wait in the past":      {respond(503, "Retry-After: Sun, 06 Nov 1994 08:49:37 GMT", ""), &ciba.TransportError{Sent: true, Status: 503}},
		"garbage":                 {respond(200, "", "\x00\x01"), &ciba.TransportError{Sent: true, Status: 200}},
		"nothing":                 {respond(200, "", ""), &ciba.TransportError{Sent: true, Status: 200}},
		"an array":                {respond(200, "", "[]"), &ciba.TransportError{Sent: true, Status: 200}},
		"too much":                {respond(200, "", large), &ciba.TransportError{Sent: true, Status: 200}},
		"a redirect":              {respond(307, "Location: /token", ""), &ciba.TransportError{Sent: true, Status: 307}},
		"an error in a redirect":  {respond(302, "", denied), &ciba.TransportError{Sent: true, Status: 302}},
		"a connection that ends":  {func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }, &ciba.TransportError{Sent: true}},
		"an answer that breaks":   {breaks, &ciba.TransportError{Sent: true, Status: 200}},
		"an answer without an ID": {respond(200, "", `{"access_token":"a","token_type":"Bearer","expires_in":5}`), nil},
		"IDs with spaces":         {respond(200, "", `{"auth_req_id":"a b","access_token":"a","id_token":"b c","token_type":"Bearer"}`), nil},
		"another kind of token":   {respond(200, "", `{"access_token":"a","id_token":"b","token_type":"DPoP"}`), nil},
	} {
		for _, path := range []string{"/ask", "/token", "/userinfo"} {
			want := test.want
			if want == nil { // an object: of userinfo, one without a subject
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
				checkDiscreet(t, err)
			})
		}
	}
}

func breaks(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Content-Length", "100")
	fmt.Fprint(w, `{"auth_req_id"`)
}

// withoutCause removes the parts of an error that a test cannot predict, such as the seconds of RetryAfter.
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

// checkDiscreet checks that an error contains neither secrets nor personal data.
func checkDiscreet(t *testing.T, err error) {
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

// TestDiscoveredAddress checks that addresses of the metadata without TLS are refused.
func TestDiscoveredAddress(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/.well-known/openid-configuration": func(w http.ResponseWriter, r *http.Request) {
		fmt.Fprintf(w, `{"issuer":"http://%s","token_endpoint":"http://idp.example/token?a=b"}`, r.Host)
	}})
	c := w.client(t, func(o *ciba.Options) { o.Endpoints = ciba.Endpoints{} })
	_, err := c.Tokens(t.Context(), "secret-auth-req-id")
	if err == nil || err.Error() != "ciba: the provider's token_endpoint: must be an https URL: http://idp.example/token" {
		t.Error(err)
	}
	if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(d)
	}
}

// TestNoResponse checks TransportError.Sent without a connection, and without a response in time.
func TestNoResponse(t *testing.T) {
	w := newWire(t, map[string]http.HandlerFunc{"/": func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body) // without which the server does not see the client go
		<-r.Context().Done()
	}})
	c := w.client(t, func(o *ciba.Options) { o.HTTP = &http.Client{Timeout: 2 * time.Second} })
	_, err := c.Tokens(t.Context(), "secret-auth-req-id")
	if d := cmp.Diff([]any{"fault", true, 0, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
	checkDiscreet(t, err)
	w.Close()
	_, err = c.Tokens(t.Context(), "secret-auth-req-id")
	if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
	checkDiscreet(t, err)
}

// TestEndlessResponse checks that the client limits what it reads of a response.
func TestEndlessResponse(t *testing.T) {
	written := make(chan int, 1)
	w := newWire(t, map[string]http.HandlerFunc{"/token": func(w http.ResponseWriter, _ *http.Request) {
		const much = 256 << 20
		n, chunk := 0, make([]byte, 1<<20)
		for n < much {
			m, err := w.Write(chunk)
			if n += m; err != nil {
				break
			}
		}
		written <- n
	}})
	_, err := w.client(t, nil).Tokens(t.Context(), "secret-auth-req-id")
	if d := cmp.Diff([]any{"fault", true, 200, time.Duration(0)}, withoutCause(err)); d != "" {
		t.Error(err, d)
	}
	if n := <-written; n > 128<<20 { // 1 MiB and what is in buffers on the way
		t.Errorf("%d bytes were read", n)
	}
}
