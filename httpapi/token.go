package httpapi

import (
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/internal/jsonbody"
)

// token is the token endpoint: the client credentials grant of RFC 6749 4.4, with
// the errors of its 5.2 (decisions.md 3).
func (a *api) token(w http.ResponseWriter, r *http.Request) error {
	w.Header().Set("Pragma", "no-cache")
	form, err := readTokenForm(w, r)
	if err != nil {
		return err
	}
	id, secret, err := credentials(r, form)
	if err != nil {
		return err
	}
	switch form.get("grant_type") {
	case "client_credentials":
	case "":
		return &oauthError{Code: "invalid_request", Description: "grant_type is missing."}
	default:
		return &oauthError{Code: "unsupported_grant_type", Description: "Only client_credentials is supported."}
	}
	token, err := a.Accounts.Issue(r.Context(), id, secret, strings.Fields(form.get("scope")))
	switch {
	case errors.Is(err, account.ErrInvalidClient):
		return &oauthError{Code: "invalid_client", Description: "The client ID or secret is wrong."}
	case errors.Is(err, account.ErrInvalidScope):
		return &oauthError{Code: "invalid_scope", Description: "A scope is unknown or not one of the client's."}
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

// oauthError is an error answer of RFC 6749 5.2.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

// write answers with the error. Wrong credentials are 401 with a challenge.
func (e *oauthError) write(w http.ResponseWriter) {
	status := http.StatusBadRequest
	if e.Code == "invalid_client" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", `Basic realm="innsigli"`)
	}
	_ = writeJSON(w, status, e) // nobody is left to tell when this fails
}

// tokenForm is the parameters of a token request.
type tokenForm url.Values

func (f tokenForm) get(name string) string { return url.Values(f).Get(name) }

// readTokenForm reads the body, form-encoded or JSON. A repeated parameter is an
// error (RFC 6749 3.2).
func readTokenForm(w http.ResponseWriter, r *http.Request) (tokenForm, error) {
	r.Body = http.MaxBytesReader(w, r.Body, maxSmallBody)
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return readTokenJSON(r)
	}
	body, err := io.ReadAll(wholeBody{r.Body})
	if err != nil {
		return nil, err
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &oauthError{Code: "invalid_request", Description: "The body is not form-encoded."}
	}
	for name, v := range values {
		if len(v) > 1 {
			return nil, &oauthError{Code: "invalid_request", Description: "A parameter is repeated."}
		}
		if v[0] == "" {
			delete(values, name) // sent without a value: as if omitted, RFC 6749 3.2
		}
	}
	return tokenForm(values), nil
}

func readTokenJSON(r *http.Request) (tokenForm, error) {
	if err := checkJSONType(r); err != nil {
		return nil, err
	}
	body, err := jsonbody.Read(wholeBody{r.Body}, jsonbody.Options{})
	var syntax *jsonbody.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &oauthError{Code: "invalid_request", Description: "The body is neither form-encoded nor a JSON object."}
	}
	if err != nil {
		return nil, err
	}
	values := url.Values{}
	for _, name := range []string{"grant_type", "scope", "client_id", "client_secret"} {
		if v := body.OptionalString(name); v != nil {
			values.Set(name, *v)
		}
	}
	if body.Errors() != nil {
		return nil, &oauthError{Code: "invalid_request", Description: "A parameter is not a string."}
	}
	return tokenForm(values), nil
}

// credentials are the client's, from HTTP Basic or the body, but not from both
// (RFC 6749 2.3). In Basic they are form-encoded first (2.3.1).
func credentials(r *http.Request, form tokenForm) (id, secret string, err error) {
	id, secret = form.get("client_id"), form.get("client_secret")
	if r.Header.Get("Authorization") == "" {
		if id == "" || secret == "" {
			return "", "", &oauthError{Code: "invalid_client", Description: "The client ID or secret is missing."}
		}
		return id, secret, nil
	}
	if id != "" || secret != "" {
		return "", "", &oauthError{Code: "invalid_request", Description: "The client authenticates in two ways."}
	}
	user, password, ok := r.BasicAuth()
	if !ok {
		return "", "", &oauthError{Code: "invalid_client", Description: "The Authorization header is not HTTP Basic."}
	}
	if id, err = url.QueryUnescape(user); err == nil {
		secret, err = url.QueryUnescape(password)
	}
	if err != nil {
		return "", "", &oauthError{Code: "invalid_client", Description: "The client ID or secret is not form-encoded."}
	}
	return id, secret, nil
}
