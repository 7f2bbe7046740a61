package httpapi_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/account"
)

// tokenEndpoint is an operation that takes a token.
type tokenEndpoint struct{ method, path, scope string }

// tokenEndpoints are those of tokenRows, with IDs of nothing that exists.
func tokenEndpoints() (all []tokenEndpoint) {
	for endpoint, row := range tokenRows {
		method, template, _ := strings.Cut(endpoint, " ")
		all = append(all, tokenEndpoint{method, regexp.MustCompile(`{\w+}`).ReplaceAllString(template, uuid.NewString()), row.scope})
	}
	return all
}

// spec 2.3 and RFC 6750 3.
func TestInvalidTokens(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	const alone, invalid = `Bearer realm="innsigli"`, `Bearer realm="innsigli", error="invalid_token"`
	for name, test := range map[string]struct {
		authorization []string
		challenge     string
	}{
		"no header":                   {nil, alone},
		"empty header":                {[]string{""}, alone},
		"another scheme":              {[]string{"Basic " + c.token}, alone},
		"the scheme alone":            {[]string{"Bearer"}, alone},
		"a token that is no b64token": {[]string{"Bearer \"" + c.token + "\""}, invalid},
		"short token":                 {[]string{"Bearer x"}, invalid},
		"long token":                  {[]string{"Bearer " + c.token + c.token}, invalid},
		"the secret as the token":     {[]string{"Bearer " + c.secret}, invalid},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			r := c.request(http.MethodGet, users, nil)
			r.Header["Authorization"] = test.authorization
			a := c.send(r)
			c.wantProblem(a, http.StatusUnauthorized, "Unauthorized")
			diff(t, "challenge", []string{test.challenge}, a.header.Values("WWW-Authenticate"))
		})
	}
	for _, authorization := range []string{"bearer " + c.token, "BEARER   " + c.token} { // RFC 9110 11.1 and 11.4
		r := c.request(http.MethodGet, users, nil)
		r.Header.Set("Authorization", authorization)
		c.want(c.send(r), http.StatusOK, object{"items": []any{}})
	}
}

// RFC 6750 2 and 3.1: a request with two tokens is malformed. A token in the URL does not count as a token.
func TestTokenThatIsSentTwice(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).signer(t)
	for _, e := range tokenEndpoints() {
		twice, beside, alone := c.request(e.method, e.path, nil), c.request(e.method, e.path, nil), c.request(e.method, e.path, nil)
		twice.Header.Add("Authorization", "Bearer "+c.token)
		beside.URL.RawQuery = "access_token=" + c.token
		for _, r := range []*http.Request{twice, beside} {
			a := c.send(r)
			c.wantProblem(a, http.StatusBadRequest, "Malformed authorization")
			diff(t, e.path, []string{`Bearer realm="innsigli", error="invalid_request"`}, a.header.Values("WWW-Authenticate"))
		}
		alone.URL.RawQuery = "access_token=" + c.token
		alone.Header.Del("Authorization")
		a := c.send(alone)
		c.wantProblem(a, http.StatusUnauthorized, "Unauthorized")
		diff(t, e.path, []string{`Bearer realm="innsigli"`}, a.header.Values("WWW-Authenticate"))
	}
}

// spec 2.2: a token of another scope is 403, and sandbox users
// need a token but no scope.
func TestScopes(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	for _, scopes := range [][]string{nil, {account.ScopeSignatures}, {account.ScopePortalRead}, {account.ScopePortalWrite}, {account.ScopePortalRead, account.ScopePortalWrite}} {
		c := s.client(t, scopes...)
		for _, e := range tokenEndpoints() {
			a := c.call(e.method, e.path, nil)
			if e.scope == "" || slices.Contains(scopes, e.scope) {
				if a.status == http.StatusForbidden || a.status == http.StatusUnauthorized {
					t.Errorf("%s %s with %q: %d", e.method, e.path, scopes, a.status)
				}
				continue
			}
			c.wantProblem(a, http.StatusForbidden, "Forbidden")
			diff(t, e.path, []string{`Bearer realm="innsigli", error="insufficient_scope", scope="` + e.scope + `"`}, a.header.Values("WWW-Authenticate"))
		}
		c.update(c.user(person), fields{"phone": "222"})
		diff(t, "number of users", 1, len(c.listed()))
	}
}

// spec 2.2: a token grants only the scopes that were requested for it.
func TestTokenWithLessThanItsClientMayHave(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	c.wantProblem(c.poll(uuid.NewString()), http.StatusNotFound, finished)
	r := c.tokenRequest("application/json", `{"grant_type":"client_credentials","scope":"portal/read"}`)
	r.SetBasicAuth(c.id, c.secret)
	c.token = c.member(c.send(r), "access_token")
	c.wantProblem(c.poll(uuid.NewString()), http.StatusForbidden, "Forbidden")
}
