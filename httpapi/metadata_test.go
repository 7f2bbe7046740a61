package httpapi_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
)

const metadata = "/.well-known/oauth-authorization-server"

// RFC 8414 2: what is named is there, and does what it is named for.
func TestMetadata(t *testing.T) {
	t.Parallel()
	for name, w := range map[string]wiring{"sandbox": {}, "production": {production: true}} {
		t.Run(name, func(t *testing.T) {
			c := start(t, w).client(t)
			a := c.call(http.MethodGet, metadata, nil)
			methods := []any{"client_secret_basic", "client_secret_post"}
			c.want(a, http.StatusOK, object{
				"issuer":         c.url,
				"token_endpoint": c.url + tokens, "token_endpoint_auth_methods_supported": methods,
				"revocation_endpoint": c.url + revocation, "revocation_endpoint_auth_methods_supported": methods,
				"grant_types_supported": []any{"client_credentials"}, "response_types_supported": []any{},
				"scopes_supported":      []any{account.ScopeSignatures, account.ScopePortalRead, account.ScopePortalWrite},
				"service_documentation": c.url + "/reference",
			})
			diff(t, "Content-Type", "application/json", a.header.Get("Content-Type"))
		})
	}
}

// RFC 8414 3.1: the path of an issuer goes behind the well-known one, at the root of the host.
func TestMetadataOfAnIssuerWithAPath(t *testing.T) {
	t.Parallel()
	for base, paths := range map[string]map[string]int{
		"https://sign.example":               {metadata: 200, metadata + "/innsigli": 404, metadata + "/": 404},
		"https://sign.example/innsigli":      {metadata: 200, metadata + "/innsigli": 200, metadata + "/other": 404},
		"https://sign.example/a/b{c}%20%7Bd": {metadata: 200, metadata + "/a/b{c}%20%7Bd": 200, metadata + "/a/bx%20%7Bd": 404},
	} {
		api := httpapi.New(httpapi.Config{BaseURL: base, Accounts: (*account.Service)(nil)})
		for path, want := range paths {
			w := httptest.NewRecorder()
			api.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
			var got struct{ Issuer string }
			if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
				t.Fatal(err)
			}
			if w.Code != want || want == 200 && got.Issuer != base {
				t.Errorf("%s of %s: %d, %s", path, base, w.Code, w.Body)
			}
		}
	}
}
