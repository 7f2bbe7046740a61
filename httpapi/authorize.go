package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
)

// noScope is the scope of endpoints that take any token (service.md 5 item 5).
const noScope = ""

// authorized lets callers with a valid token and the scope through (RFC 6750).
func (a *api) authorized(scope string, h func(http.ResponseWriter, *http.Request, account.Caller) error) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		token, ok := bearer(r)
		if !ok {
			w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`)
			return &problem{Status: http.StatusUnauthorized, Title: "Unauthorized", Detail: "The request carries no access token."}
		}
		caller, err := a.Accounts.Authenticate(r.Context(), token)
		if errors.Is(err, account.ErrInvalidToken) {
			w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli", error="invalid_token"`)
			return &problem{Status: http.StatusUnauthorized, Title: "Unauthorized", Detail: "The access token is not valid, or no longer."}
		}
		if err != nil {
			return err
		}
		if scope != noScope && !caller.Has(scope) {
			w.Header().Set("WWW-Authenticate", fmt.Sprintf(`Bearer realm="innsigli", error="insufficient_scope", scope=%q`, scope))
			return &problem{Status: http.StatusForbidden, Title: "Forbidden", Detail: "The access token does not grant the scope " + scope + "."}
		}
		return h(w, r, caller)
	}
}

// bearer is the token of the Authorization header. Two headers are none: which one
// counts would be a guess.
func bearer(r *http.Request) (string, bool) {
	values := r.Header.Values("Authorization")
	if len(values) != 1 {
		return "", false
	}
	scheme, token, ok := strings.Cut(values[0], " ")
	return strings.TrimSpace(token), ok && strings.EqualFold(scheme, "Bearer")
}
