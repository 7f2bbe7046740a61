package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
)

// noScope is the scope of endpoints that take any token (spec 2.2).
const noScope = ""

// authenticated lets callers with a valid token through (RFC 6750).
func (a *api) authenticated(h func(http.ResponseWriter, *http.Request, account.Caller) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if twoTokens(r) {
			challenge(w, `, error="invalid_request"`)
			return new(ambiguousToken)
		}
		token := bearer(r)
		if token == "" {
			challenge(w, "")
			return new(noToken)
		}
		caller, err := a.Accounts.Authenticate(r.Context(), token)
		if errors.Is(err, account.ErrInvalidToken) {
			challenge(w, `, error="invalid_token"`)
			return new(badToken)
		}
		if err != nil {
			return err
		}
		return h(w, r, caller)
	}
}

// granted lets callers whose token grants the scope through.
func granted(scope string, h func(http.ResponseWriter, *http.Request, account.Caller) error) func(http.ResponseWriter, *http.Request, account.Caller) error {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		if scope != noScope && !caller.Has(scope) {
			challenge(w, fmt.Sprintf(`, error="insufficient_scope", scope=%q`, scope))
			return new(missingScope(scope))
		}
		return h(w, r, caller)
	}
}

// challenge says how to authenticate, and what of it went wrong, if anything was sent (RFC 6750 3).
func challenge(w http.ResponseWriter, fault string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`+fault)
}

// bearer is the token of the Authorization header; empty: there is none. It is the one place for a token:
// addresses, which RFC 6750 2.3 lets servers take one from, are written down by who they pass.
func bearer(r *http.Request) string {
	return authorization(r, "Bearer")
}

// authorization is what the Authorization header has for a scheme, which may be in any case and stands
// before one space or more (RFC 9110 11.4); empty: it has nothing for it.
func authorization(r *http.Request, scheme string) string {
	given, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(given, scheme) {
		return ""
	}
	return strings.Trim(credentials, " ")
}

// twoTokens says whether a request authenticates twice, which it must not: which one counts would be a
// guess (RFC 6750 2 and 3.1).
func twoTokens(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 1 || bearer(r) != "" && r.URL.Query().Has("access_token")
}
