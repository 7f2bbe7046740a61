package httpapi

import (
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
)

// noScope is the scope of endpoints that accept any token (spec 2.2).
const noScope = ""

// callHandler answers a request of an authenticated caller.
type callHandler func(w http.ResponseWriter, r *http.Request, caller account.Caller) error

// AuthFailure is a kind of failed authentication.
type AuthFailure string

// The kinds of failed authentication.
const (
	MissingToken        AuthFailure = "missing_token"
	InvalidToken        AuthFailure = "invalid_token"        // one that is malformed, unknown, expired or revoked, or one of two
	InvalidClient       AuthFailure = "invalid_client"       // a client ID or secret that is wrong or missing
	TooManySecrets      AuthFailure = "too_many_secrets"     // a secret that was not checked, after many wrong ones
	InvalidNotification AuthFailure = "invalid_notification" // not one of the identity provider
)

// authFailed calls Config.AuthFailed.
func (a *api) authFailed(r *http.Request, kind AuthFailure, client string) {
	if a.AuthFailed != nil {
		a.AuthFailed(r.Context(), kind, client)
	}
}

// authenticate calls h only for requests with a valid access token (RFC 6750).
func (a *api) authenticate(h callHandler) handler {
	return func(w http.ResponseWriter, r *http.Request) error {
		if hasTwoTokens(r) {
			a.authFailed(r, InvalidToken, "")
			challenge(w, `, error="invalid_request"`)
			return new(severalTokens)
		}
		token := bearerToken(r)
		if token == "" {
			a.authFailed(r, MissingToken, "")
			challenge(w, "")
			return new(missingToken)
		}
		caller, err := a.Accounts.Authenticate(r.Context(), token)
		if errors.Is(err, account.ErrInvalidToken) {
			a.authFailed(r, InvalidToken, "")
			challenge(w, `, error="invalid_token"`)
			return new(invalidToken)
		}
		if err != nil {
			return err
		}
		return h(w, r, caller)
	}
}

// requireScope calls h only for callers whose token grants the scope.
func requireScope(scope string, h callHandler) callHandler {
	return func(w http.ResponseWriter, r *http.Request, caller account.Caller) error {
		if scope != noScope && !caller.Has(scope) {
			challenge(w, fmt.Sprintf(`, error="insufficient_scope", scope=%q`, scope))
			return new(missingScope(scope))
		}
		return h(w, r, caller)
	}
}

// challenge sets the WWW-Authenticate header. parameters name the error, unless the request had no credentials
// (RFC 6750 3).
func challenge(w http.ResponseWriter, parameters string) {
	w.Header().Set("WWW-Authenticate", `Bearer realm="innsigli"`+parameters)
}

// bearerToken returns the token of the Authorization header, or "". The server does not accept tokens in the URL,
// which RFC 6750 2.3 permits, because proxies log URLs.
func bearerToken(r *http.Request) string {
	return authorization(r, "Bearer")
}

// authorization returns the credentials of the Authorization header if it has the scheme, and else "". The scheme is
// not case-sensitive, and one or more spaces follow it (RFC 9110 11.4).
func authorization(r *http.Request, scheme string) string {
	given, credentials, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(given, scheme) {
		return ""
	}
	return strings.Trim(credentials, " ")
}

// hasTwoTokens reports whether a request authenticates twice, which is malformed (RFC 6750 2 and 3.1).
func hasTwoTokens(r *http.Request) bool {
	return len(r.Header.Values("Authorization")) > 1 || bearerToken(r) != "" && r.URL.Query().Has("access_token")
}
