package httpapi

import (
	"errors"
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
)

// token is the token endpoint: the client credentials grant of RFC 6749 4.4, with
// the errors of its 5.2 (spec 2.1).
func (a *api) token(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Pragma", "no-cache")
	form, err := readParameters(w, r, "grant_type", "scope")
	if err != nil {
		return err
	}
	id, secret, err := credentials(r, form)
	if err != nil {
		return err
	}
	if err := checkGrant(form.get("grant_type")); err != nil {
		return err
	}
	var token account.Token
	err = a.guess(w, r, id, func() (err error) {
		token, err = a.Accounts.Issue(r.Context(), id, secret, form.scopes())
		return err
	})
	switch {
	case errors.Is(err, account.ErrInvalidClient):
		return wrongClient
	case errors.Is(err, account.ErrInvalidScope):
		return &oauthError{Code: "invalid_scope", Description: "A scope is unknown, or not one of the client's, or they are not separated by one space each."}
	case err != nil:
		return err
	}
	return writeJSON(w, http.StatusOK, struct {
		AccessToken string `json:"access_token"`
		TokenType   string `json:"token_type"`
		ExpiresIn   int    `json:"expires_in"`
		Scope       string `json:"scope"`
	}{token.Value, "Bearer", int(token.ExpiresIn.Seconds()), strings.Join(token.Scopes, " ")})
}

// checkGrant wants the client credentials grant (RFC 6749 4.4.2).
func checkGrant(kind string) error {
	switch kind {
	case "client_credentials":
		return nil
	case "":
		return &oauthError{Code: "invalid_request", Description: "grant_type is missing."}
	}
	return &oauthError{Code: "unsupported_grant_type", Description: "Only client_credentials is supported."}
}

// revoke is the revocation endpoint (RFC 7009 2.1). It takes no notice of token_type_hint, as it may:
// there are access tokens alone.
func (a *api) revoke(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Pragma", "no-cache")
	form, err := readParameters(w, r, "token", "token_type_hint")
	if err != nil {
		return err
	}
	id, secret, err := credentials(r, form)
	if err != nil {
		return err
	}
	if form.get("token") == "" {
		return &oauthError{Code: "invalid_request", Description: "token is missing."}
	}
	err = a.guess(w, r, id, func() error { return a.Accounts.Revoke(r.Context(), id, secret, form.get("token")) })
	switch {
	case errors.Is(err, account.ErrInvalidClient):
		return wrongClient
	case errors.Is(err, account.ErrOtherClient):
		return &oauthError{Code: "unauthorized_client", Description: "The token was issued to another client."}
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

var wrongClient = &oauthError{Code: "invalid_client", Description: "The client ID or secret is wrong."}
