package httpapi_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/innsigli/innsigli/account"
)

const revocation = "/api/v1/auth/revoke"

// revoke asks for the end of a token with a form.
func (c *client) revoke(parameters url.Values) answer {
	c.Helper()
	r := c.request(http.MethodPost, revocation, parameters.Encode())
	r.Header.Del("Authorization")
	r.Header.Set("Content-Type", formType)
	return c.send(r)
}

// own are the client's credentials, with some parameters more.
func (c *client) own(more ...string) url.Values {
	v := url.Values{"client_id": {c.id}, "client_secret": {c.secret}}
	for i := 0; i < len(more); i += 2 {
		v.Add(more[i], more[i+1])
	}
	return v
}

// RFC 7009 2.1 and 2.2: what is revoked is no token any more, and what was none is no error. There is
// nothing in the answer.
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
		"an unknown client":   {c.revoke(url.Values{"token": {c.token}, "client_id": {"nobody"}, "client_secret": {c.secret}}), 401, "invalid_client"},
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
