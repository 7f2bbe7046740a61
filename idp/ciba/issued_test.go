package ciba_test

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/idp/ciba"
	openidtest "github.com/innsigli/innsigli/internal/test/openid"
)

// What the client signs has the claims and the lifetime that were agreed: request objects and
// assertions alike.
func TestIssuedClaims(t *testing.T) {
	all := []string{"aud", "exp", "iat", "iss", "jti", "nbf"}
	for name, test := range map[string]struct {
		omit     []string
		lifetime time.Duration
		want     []string // names, beside those of the request and of the subject
		lives    time.Duration
	}{
		"as CIBA has it":    {want: all, lives: time.Minute},
		"a longer life":     {lifetime: 5 * time.Minute, want: all, lives: 5 * time.Minute},
		"without one":       {omit: []string{"nbf"}, want: []string{"aud", "exp", "iat", "iss", "jti"}, lives: time.Minute},
		"without all three": {omit: []string{"iat", "nbf", "jti"}, want: []string{"aud", "exp", "iss"}, lives: time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			signed := make(map[string]map[string]any)
			c := newWire(t, map[string]http.HandlerFunc{"/ask": func(w http.ResponseWriter, r *http.Request) {
				for _, field := range []string{"request", "client_assertion"} {
					signed[field] = payload(t, r.PostFormValue(field))
				}
				fmt.Fprint(w, `{"auth_req_id":"1"}`)
			}}).client(t, func(o *ciba.Options) {
				o.PrivateKeyJWT, o.Secret = true, ""
				o.OmitClaims, o.Lifetime = test.omit, test.lifetime
			})
			ask(t, c, ciba.Request{})
			for field, want := range map[string][]string{"request": test.want, "client_assertion": append(slices.Clone(test.want), "sub")} {
				if d := cmp.Diff(want, slices.Sorted(maps.Keys(signed[field]))); d != "" {
					t.Errorf("claims of %s: %s", field, d)
				}
				expires, _ := signed[field]["exp"].(float64)
				if left := time.Until(time.Unix(int64(expires), 0)); left > test.lives || left < test.lives-30*time.Second {
					t.Errorf("%s lives %v", field, left)
				}
			}
		})
	}
}

func payload(t *testing.T, token string) (claims map[string]any) {
	t.Helper()
	parts := strings.Split(token, ".")
	text, err := base64.RawURLEncoding.DecodeString(parts[min(1, len(parts)-1)])
	if err == nil {
		err = json.Unmarshal(text, &claims)
	}
	if err != nil {
		t.Errorf("%q is no JWT: %v", token, err)
	}
	return claims
}

// A provider that wants the claims does not do without.
func TestClaimsAreMissed(t *testing.T) {
	p, _ := connect(t, openidtest.Options{}, nil)
	for _, name := range []string{"iat", "nbf", "jti"} {
		_, err := client(t, p, openidtest.Options{}, func(o *ciba.Options) { o.OmitClaims = []string{name} }).Ask(t.Context(), appAuth())
		var refused *ciba.Error
		if !errors.As(err, &refused) || refused.Code != "invalid_request" {
			t.Errorf("without %s: %v", name, err)
		}
	}
}
