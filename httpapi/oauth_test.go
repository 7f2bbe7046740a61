package httpapi_test

import (
	"bufio"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
)

const tokens = "/api/v1/auth/token"

const formType = "application/x-www-form-urlencoded"

// form requests a token with form-encoded parameters.
func (c *client) form(parameters url.Values) answer {
	c.Helper()
	return c.send(c.tokenRequest(formType, parameters.Encode()))
}

// tokenRequest returns a request for a token without credentials in the header.
func (c *client) tokenRequest(kind, body string) *http.Request {
	c.Helper()
	r := c.request(http.MethodPost, tokens, body)
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", kind)
	return r
}

// wantOAuthError checks an error answer of RFC 6749 5.2.
func (c *client) wantOAuthError(a answer, status int, code string) {
	c.Helper()
	body := c.object(a)
	if description, _ := body["error_description"].(string); description == "" || strings.ContainsFunc(description, notInDescription) {
		c.Errorf("the error_description is none of RFC 6749 5.2: %s", a.body)
	}
	delete(body, "error_description")
	diff(c.T, "error", object{"error": code}, body)
	challenge := ""
	if status == http.StatusUnauthorized {
		challenge = `Basic realm="innsigli"`
	}
	diff(c.T, "status", status, a.status)
	diff(c.T, "WWW-Authenticate", challenge, a.header.Get("WWW-Authenticate"))
	diff(c.T, "Content-Type", "application/json", a.header.Get("Content-Type"))
	diff(c.T, "Pragma", "no-cache", a.header.Get("Pragma"))
}

// notInDescription reports whether RFC 6749 5.2 does not permit a character in an error_description.
func notInDescription(r rune) bool { return r < ' ' || r > '~' || r == '"' || r == '\\' }

// spec 2.1: the client authenticates by HTTP Basic, in the form or in JSON. Without a scope, the token grants all
// scopes of the client.
func TestTokenIsIssued(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.ScopePortalWrite, account.ScopeSignatures)
	const all = account.ScopePortalWrite + " " + account.ScopeSignatures
	basic := func(body, kind string) *http.Request {
		r := c.tokenRequest(kind, body)
		r.SetBasicAuth(c.id, c.secret)
		return r
	}
	inForm := "grant_type=client_credentials&client_id=" + c.id + "&client_secret=" + c.secret
	inJSON := `{"grant_type":"client_credentials","client_id":"` + c.id + `","client_secret":"` + c.secret + `"`
	for name, test := range map[string]struct {
		request *http.Request
		scope   string
	}{
		"Basic":                     {basic("grant_type=client_credentials", formType), all},
		"Basic, charset named":      {basic("grant_type=client_credentials", formType+"; charset=UTF-8"), all},
		"Basic and JSON":            {basic(`{"grant_type":"client_credentials"}`, "application/json"), all},
		"form":                      {c.tokenRequest(formType, inForm), all},
		"JSON":                      {c.tokenRequest("application/json", inJSON+"}"), all},
		"JSON, nothing said":        {c.tokenRequest("", inJSON+"}"), all},
		"one scope":                 {c.tokenRequest(formType, inForm+"&scope=api/signatures"), account.ScopeSignatures},
		"one scope, JSON":           {c.tokenRequest("application/json", inJSON+`,"scope":"api/signatures"}`), account.ScopeSignatures},
		"two scopes":                {c.tokenRequest(formType, inForm+"&scope=api/signatures+portal/write"), account.ScopeSignatures + " " + account.ScopePortalWrite},
		"a scope twice":             {c.tokenRequest(formType, inForm+"&scope=api/signatures+api/signatures"), account.ScopeSignatures},
		"scope without value":       {c.tokenRequest(formType, inForm+"&scope="), all},
		"scope of white space":      {c.tokenRequest(formType, inForm+"&scope=+"), all},
		"scope null":                {c.tokenRequest("application/json", inJSON+`,"scope":null}`), all},
		"parameters of other kinds": {c.tokenRequest(formType, inForm+"&audience=x"), all},
		"other things in the query": {inQuery(c.tokenRequest(formType, inForm), "x=1&x=2"), all},
		"Basic in small letters":    {lower(basic("grant_type=client_credentials", formType)), all},
		"spaces around credentials": {spaced(basic("grant_type=client_credentials", formType)), all},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.send(test.request)
			c.token = c.member(a, "access_token")
			if len(c.token) < 43 {
				t.Errorf("a token of %d characters has no 256 bits", len(c.token))
			}
			c.want(a, http.StatusOK, object{"access_token": c.token, "token_type": "Bearer", "expires_in": 3600, "scope": test.scope})
			diff(t, "Pragma", "no-cache", a.header.Get("Pragma"))
			c.listed()
		})
	}
}

// inQuery adds a query to a request.
func inQuery(r *http.Request, query string) *http.Request {
	r.URL.RawQuery = query
	return r
}

// spaced adds spaces between the scheme and the credentials (RFC 9110 11.4).
func spaced(r *http.Request) *http.Request {
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), " ", "   ", 1)+" ")
	return r
}

// lower changes the scheme to lower case (RFC 9110 11.1).
func lower(r *http.Request) *http.Request {
	r.Header.Set("Authorization", strings.Replace(r.Header.Get("Authorization"), "Basic", "basic", 1))
	return r
}

// RFC 6749 2.3.1: in HTTP Basic, the client ID and the secret are form-encoded.
func TestBasicCredentialsAreFormEncoded(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t)
	chosen := account.Client{ID: "archive: a+b%", AccountID: c.account, Name: "archive"}
	if _, err := c.accounts.EnsureClient(t.Context(), chosen, "100% sure+"); err != nil {
		t.Fatal(err)
	}
	r := c.tokenRequest(formType, "grant_type=client_credentials")
	r.SetBasicAuth(url.QueryEscape(chosen.ID), url.QueryEscape("100% sure+"))
	c.member(c.send(r), "access_token")
}

// spec 2.1 and RFC 6749 5.2.
func TestTokenIsRefused(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.ScopeSignatures)
	right := url.Values{"grant_type": {"client_credentials"}, "client_id": {c.id}, "client_secret": {c.secret}}
	form := func(name string, values ...string) *http.Request {
		changed := url.Values{}
		for n, v := range right {
			changed[n] = v
		}
		changed[name] = values
		return c.tokenRequest(formType, changed.Encode())
	}
	authorized := func(body, header string) *http.Request {
		r := c.tokenRequest(formType, body)
		r.Header.Set("Authorization", header)
		return r
	}
	basic := c.tokenRequest(formType, "")
	basic.SetBasicAuth(c.id, c.secret)
	both := basic.Header.Get("Authorization")
	twice := authorized("grant_type=client_credentials", both)
	twice.Header.Add("Authorization", both)
	for name, test := range map[string]struct {
		request *http.Request
		status  int
		code    string
	}{
		"wrong secret":               {form("client_secret", "wrong"), 401, "invalid_client"},
		"unknown client":             {form("client_id", "unknown"), 401, "invalid_client"},
		"no client":                  {c.tokenRequest(formType, "grant_type=client_credentials"), 401, "invalid_client"},
		"no secret":                  {form("client_secret"), 401, "invalid_client"},
		"secret without value":       {form("client_secret", ""), 401, "invalid_client"},
		"wrong secret in Basic":      {authorized("grant_type=client_credentials", "Basic bm9ib2R5Ondyb25n"), 401, "invalid_client"},
		"Basic that is no Base64":    {authorized("grant_type=client_credentials", "Basic ???"), 401, "invalid_client"},
		"another scheme":             {authorized("grant_type=client_credentials", "Bearer "+c.token), 401, "invalid_client"},
		"no secret in Basic":         {authorized("grant_type=client_credentials", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.id+":"))), 401, "invalid_client"},
		"nothing in Basic":           {authorized("grant_type=client_credentials", "Basic Og=="), 401, "invalid_client"},
		"Basic that is no form":      {authorized("grant_type=client_credentials", "Basic "+base64.StdEncoding.EncodeToString([]byte(c.id+":%zz"))), 401, "invalid_client"},
		"two headers":                {twice, 400, "invalid_request"},
		"secret in the address":      {inQuery(c.tokenRequest(formType, right.Encode()), "client_secret="+c.secret), 400, "invalid_request"},
		"grant in the address":       {inQuery(c.tokenRequest(formType, right.Encode()), "grant_type=client_credentials"), 400, "invalid_request"},
		"both ways":                  {authorized(right.Encode(), both), 400, "invalid_request"},
		"id in both ways":            {authorized("grant_type=client_credentials&client_id="+c.id, both), 400, "invalid_request"},
		"no grant type":              {form("grant_type"), 400, "invalid_request"},
		"grant type without value":   {form("grant_type", ""), 400, "invalid_request"},
		"another grant type":         {form("grant_type", "password"), 400, "unsupported_grant_type"},
		"unknown scope":              {form("scope", "api/everything"), 400, "invalid_scope"},
		"scope of another client":    {form("scope", account.ScopePortalRead), 400, "invalid_scope"},
		"one scope of two":           {form("scope", account.ScopeSignatures+" "+account.ScopePortalRead), 400, "invalid_scope"},
		"two spaces between scopes":  {form("scope", account.ScopeSignatures+"  "+account.ScopeSignatures), 400, "invalid_scope"},
		"another white space":        {form("scope", account.ScopeSignatures+"\t"+account.ScopeSignatures), 400, "invalid_request"},
		"space around a scope":       {form("scope", account.ScopeSignatures+" "), 400, "invalid_scope"},
		"repeated parameter":         {form("grant_type", "client_credentials", "client_credentials"), 400, "invalid_request"},
		"repeated secret":            {form("client_secret", c.secret, c.secret), 400, "invalid_request"},
		"repeated unknown parameter": {form("x", "1", "2"), 400, "invalid_request"},
		"no form":                    {c.tokenRequest(formType, "grant_type=%zz"), 400, "invalid_request"},
		"no JSON":                    {c.tokenRequest("application/json", right.Encode()), 400, "invalid_request"},
		"empty JSON body":            {c.tokenRequest("application/json", ""), 400, "invalid_request"},
		"repeated member":            {c.tokenRequest("application/json", `{"grant_type":"client_credentials","grant_type":"client_credentials"}`), 400, "invalid_request"},
		"parameter that is no text":  {c.tokenRequest("application/json", `{"grant_type":["client_credentials"]}`), 400, "invalid_request"},
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			a := c.send(test.request)
			c.wantOAuthError(a, test.status, test.code)
			if strings.Contains(string(a.body), c.secret) || strings.Contains(string(a.body), c.id) {
				t.Errorf("the answer repeats the credentials: %s", a.body)
			}
		})
	}
	t.Run("another media type", func(t *testing.T) {
		c := c.in(t)
		a := c.send(c.tokenRequest("text/plain", right.Encode()))
		c.wantProblem(a, http.StatusUnsupportedMediaType, "Unsupported media type")
		for _, kind := range []string{formType, "application/json"} {
			if detail := fmt.Sprint(c.object(a)["detail"]); !strings.Contains(detail, kind) {
				t.Errorf("%q does not name %s, which is taken", detail, kind)
			}
		}
	})
	t.Run("too large", func(t *testing.T) {
		c := c.in(t)
		for _, length := range []int{16 << 10, 1 << 20} {
			c.wantProblem(c.send(form("client_secret", strings.Repeat("x", length))), http.StatusRequestEntityTooLarge, "Request too large")
		}
		c.wantOAuthError(c.send(form("client_secret", strings.Repeat("x", 15<<10))), http.StatusUnauthorized, "invalid_client")
	})
}

const revocation = "/api/v1/auth/revoke"

// revoke requests the revocation of a token with form-encoded parameters.
func (c *client) revoke(parameters url.Values) answer {
	c.Helper()
	r := c.request(http.MethodPost, revocation, parameters.Encode())
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", formType)
	return c.send(r)
}

// own returns the client's credentials, with further parameters.
func (c *client) own(more ...string) url.Values {
	v := url.Values{"client_id": {c.id}, "client_secret": {c.secret}}
	for i := 0; i < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	return v
}

// RFC 7009 2.1 and 2.2: a revoked token is not valid any more, and revoking an invalid token is not an error.
func TestTokenIsRevoked(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t, account.Scopes()...)
	basic := func(kind, body string) answer {
		r := c.request(http.MethodPost, revocation, body)
		r.SetBasicAuth(c.id, c.secret)
		r.Header.Set("Content-Type", kind)
		return c.send(r)
	}
	for name, revoke := range map[string]func(token string) answer{
		"in a form":       func(token string) answer { return c.revoke(c.own("token", token)) },
		"with Basic":      func(token string) answer { return basic(formType, "token="+token) },
		"in JSON":         func(token string) answer { return basic("application/json", `{"token":"`+token+`"}`) },
		"with a hint":     func(token string) answer { return c.revoke(c.own("token", token, "token_type_hint", "access_token")) },
		"a wrong hint":    func(token string) answer { return c.revoke(c.own("token", token, "token_type_hint", "refresh_token")) },
		"an unknown hint": func(token string) answer { return c.revoke(c.own("token", token, "token_type_hint", "?", "x", "y")) },
	} {
		t.Run(name, func(t *testing.T) {
			c := c.in(t)
			c.login()
			other := c.token
			c.login()
			for range 2 {
				a := revoke(c.token)
				c.want(a, http.StatusOK, nil)
				diff(t, "Pragma", "no-cache", a.header.Get("Pragma"))
				c.wantProblem(c.call(http.MethodGet, users, nil), http.StatusUnauthorized, "Unauthorized")
			}
			c.token = other
			c.listed()
		})
	}
}

func TestRevocationIsRefused(t *testing.T) {
	t.Parallel()
	s := start(t, wiring{})
	c := s.client(t, account.Scopes()...)
	colleague, stranger := c.colleague(), s.client(t)
	authorized := func(header string) answer {
		r := c.request(http.MethodPost, revocation, "token="+c.token)
		r.Header.Set("Authorization", header)
		r.Header.Set("Content-Type", formType)
		return c.send(r)
	}
	for name, test := range map[string]struct {
		answer answer
		status int
		code   string
	}{
		"no client":           {c.revoke(url.Values{"token": {c.token}}), 401, "invalid_client"},
		"a wrong secret":      {c.revoke(url.Values{"token": {c.token}, "client_id": {c.id}, "client_secret": {"wrong"}}), 401, "invalid_client"},
		"an unknown client":   {c.revoke(url.Values{"token": {c.token}, "client_id": {"unknown"}, "client_secret": {c.secret}}), 401, "invalid_client"},
		"the token alone":     {authorized("Bearer " + c.token), 401, "invalid_client"},
		"no token":            {c.revoke(c.own()), 400, "invalid_request"},
		"token without value": {c.revoke(c.own("token", "")), 400, "invalid_request"},
		"two tokens":          {c.revoke(c.own("token", c.token, "token", c.token)), 400, "invalid_request"},
		"a colleague's token": {colleague.revoke(colleague.own("token", c.token)), 400, "unauthorized_client"},
	} {
		t.Run(name, func(t *testing.T) { c.in(t).wantOAuthError(test.answer, test.status, test.code) })
	}
	for _, token := range []string{c.token, "none"} { // spec 1.7: another account's is like none
		c.want(stranger.revoke(stranger.own("token", token)), http.StatusOK, nil)
	}
	c.listed()
}

// RFC 6749 5.2: an incomplete body is an invalid_request.
func TestParametersThatBreakOff(t *testing.T) {
	t.Parallel()
	c := start(t, wiring{}).client(t)
	for _, path := range []string{"/api/v1/auth/token", "/api/v1/auth/revoke"} {
		for kind, body := range map[string]string{formType: "grant_type=client_credentials", "application/json": `{"grant_type":`} {
			t.Run(path+" "+kind, func(t *testing.T) {
				c := c.in(t)
				c.wantOAuthError(c.brokenOff(path, kind, body), http.StatusBadRequest, "invalid_request")
			})
		}
	}
}

// brokenOff returns the answer to a body that ends a byte early.
func (c *client) brokenOff(path, kind, body string) answer {
	c.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(c.url, "http://"))
	if err != nil {
		c.Fatal(err)
	}
	defer conn.Close()
	fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: broken\r\nContent-Type: %s\r\nContent-Length: %d\r\n\r\n%s", path, kind, len(body)+1, body)
	if err := conn.(*net.TCPConn).CloseWrite(); err != nil {
		c.Fatal(err)
	}
	response, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		c.Fatal(err)
	}
	defer response.Body.Close()
	content, err := io.ReadAll(response.Body)
	if err != nil {
		c.Fatal(err)
	}
	return answer{response.StatusCode, response.Header, content}
}

const metadata = "/.well-known/oauth-authorization-server"

// RFC 8414 2.
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

// RFC 8414 3.1: the path of the issuer follows the well-known path.
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
