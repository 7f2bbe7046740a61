package ciba_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
)

// TestDiscoveredLoopback checks that the metadata of a remote provider cannot make the client send its secret to
// the local machine.
func TestDiscoveredLoopback(t *testing.T) {
	const path = "/.well-known/openid-configuration"
	for name, test := range map[string]struct {
		issuer    string // "http", "https": the server's
		discovery string
		own       bool // the endpoint is one of the options
		taken     bool
	}{
		"of a provider elsewhere":            {issuer: "https", discovery: "https"},
		"of a provider here":                 {issuer: "http", discovery: "http", taken: true},
		"of one here by its metadata":        {issuer: "https", discovery: "http", taken: true},
		"of one here by its name":            {issuer: "http", discovery: "https", taken: true},
		"of a provider elsewhere, as chosen": {issuer: "https", discovery: "https", own: true, taken: true},
	} {
		t.Run(name, func(t *testing.T) {
			asked := 0
			var issuer, token string
			handler := mux(map[string]http.HandlerFunc{
				path: func(w http.ResponseWriter, _ *http.Request) {
					fmt.Fprintf(w, `{"issuer":%q,"token_endpoint":%q}`, issuer, token)
				},
				"/token": func(w http.ResponseWriter, _ *http.Request) {
					asked++
					fmt.Fprint(w, `{"access_token":"a","id_token":"b","token_type":"Bearer"}`)
				},
			})
			plain, secure := httptest.NewServer(handler), httptest.NewTLSServer(handler)
			defer plain.Close()
			defer secure.Close()
			at := map[string]string{"http": plain.URL, "https": secure.URL}
			issuer, token = at[test.issuer], plain.URL+"/token"
			o := ciba.Options{Issuer: issuer, Discovery: at[test.discovery] + path, ClientID: clientID, Secret: secret, HTTP: secure.Client()}
			if test.own {
				o.Endpoints.Token = token
			}
			c, err := ciba.New(o)
			if err != nil {
				t.Fatal(err)
			}
			if r, err := c.Check(t.Context()); err != nil || (r.Endpoints.Token != "") != test.taken {
				t.Errorf("%+v, %v", r, err)
			}
			asked = 0
			_, err = c.Tokens(t.Context(), "secret-auth-req-id")
			if test.taken {
				if err != nil || asked != 1 {
					t.Errorf("%v, asked %d times", err, asked)
				}
				return
			}
			if d := cmp.Diff([]any{"fault", false, 0, time.Duration(0)}, withoutCause(err)); d != "" || asked != 0 {
				t.Errorf("%v, asked %d times\n%s", err, asked, d)
			}
			checkDiscreet(t, err)
		})
	}
}
