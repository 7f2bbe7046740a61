package httpapi

import (
	"encoding/base64"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
)

// oauthError is an error answer of RFC 6749 5.2. Its description is in ASCII, without quotation marks and
// backslashes.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

const basicChallenge = `Basic realm="innsigli"`

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

// write answers with the error. Wrong credentials are 401 with a challenge.
func (e *oauthError) write(w http.ResponseWriter) {
	status := http.StatusBadRequest
	if e.Code == "invalid_client" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", basicChallenge)
	}
	_ = writeJSON(w, status, e) // nobody is left to tell when this fails
}

// parameters are those of a request to the authorization server.
type parameters url.Values

func (p parameters) get(name string) string { return url.Values(p).Get(name) }

// scopes are those asked for. One space stands between two (RFC 6749 3.3); what is otherwise is no scope
// that anybody has.
func (p parameters) scopes() []string {
	if p.get("scope") == "" {
		return nil
	}
	return strings.Split(p.get("scope"), " ")
}

// readParameters reads the body, form-encoded or JSON: the parameters that a client authenticates with, and
// those named. The address is no place for them (RFC 6749 2.3.1): servers and proxies write it down. A
// repeated parameter is an error (3.2).
func readParameters(w http.ResponseWriter, r *http.Request, names ...string) (parameters, error) {
	names = append(names, "client_id", "client_secret")
	query := r.URL.Query()
	if slices.ContainsFunc(names, query.Has) {
		return nil, &oauthError{Code: "invalid_request", Description: "Parameters belong into the body, not into the address."}
	}
	if err := limitBody(w, r, maxParameters); err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != "application/x-www-form-urlencoded" {
		return readJSONParameters(r, names)
	}
	body, err := io.ReadAll(wholeBody{r.Body})
	if err != nil {
		return nil, notReceived(err)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, &oauthError{Code: "invalid_request", Description: "The body is not form-encoded."}
	}
	for name, v := range values {
		switch {
		case len(v) > 1:
			return nil, &oauthError{Code: "invalid_request", Description: "A parameter is repeated."}
		case strings.TrimSpace(v[0]) == "":
			delete(values, name) // sent without a value: as if omitted, RFC 6749 3.2
		case slices.Contains(names, name) && strings.ContainsFunc(v[0], unicode.IsControl):
			return nil, &oauthError{Code: "invalid_request", Description: notPlain}
		}
	}
	return parameters(values), nil
}

func readJSONParameters(r *http.Request, names []string) (parameters, error) {
	if checkJSONType(r) != nil {
		return nil, &noParameters
	}
	body, err := jsonbody.Read(wholeBody{r.Body}, jsonbody.Options{})
	var syntax *jsonbody.SyntaxError
	if errors.As(err, &syntax) {
		return nil, &oauthError{Code: "invalid_request", Description: "The body is neither form-encoded nor a JSON object, or repeats a member."}
	}
	if err != nil {
		return nil, notReceived(err)
	}
	values := url.Values{}
	for _, name := range names {
		if v := body.OptionalString(name); v != nil {
			values.Set(name, *v)
		}
	}
	if body.Errors() != nil {
		return nil, &oauthError{Code: "invalid_request", Description: notPlain}
	}
	return parameters(values), nil
}

const formType = "application/x-www-form-urlencoded"

// noParameters is the answer to a body of a type that has no parameters.
var noParameters = wrongType(formType + ", or " + jsonType + " in UTF-8")

// notReceived is the answer to a body that did not come whole, as this endpoint gives it (RFC 6749 5.2).
func notReceived(err error) error {
	if errors.Is(err, errBrokenOff) || errors.Is(err, errTooSlow) {
		return &oauthError{Code: "invalid_request", Description: "The body did not come whole, or too slowly."}
	}
	return err
}

// maxParameters bounds a body that comes from who nobody knows yet, and that no room bounds: names, secrets and
// scopes take a few hundred bytes.
const maxParameters = 16 << 10

const notPlain = "A parameter is not a string, or contains control characters."

// credentials are the client's, from HTTP Basic or the body, but not from both
// (RFC 6749 2.3). In Basic they are form-encoded first (2.3.1).
func credentials(r *http.Request, form parameters) (id, secret string, err error) {
	id, secret = form.get("client_id"), form.get("client_secret")
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 || len(headers) == 1 && headers[0] == "" {
		if id == "" || secret == "" {
			return "", "", &oauthError{Code: "invalid_client", Description: "The client ID or secret is missing."}
		}
		return id, secret, nil
	}
	if id != "" || secret != "" || len(headers) > 1 {
		return "", "", &oauthError{Code: "invalid_request", Description: "The client authenticates in two ways."}
	}
	pair, err := base64.StdEncoding.DecodeString(authorization(r, "Basic"))
	user, password, ok := strings.Cut(string(pair), ":")
	if err != nil || !ok {
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
