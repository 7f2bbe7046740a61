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

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/jsonbody"
)

// oauthError is an error answer of RFC 6749 5.2, which restricts the description to ASCII without quotation marks and
// backslashes.
type oauthError struct {
	Code        string `json:"error"`
	Description string `json:"error_description"`
}

// invalidClient is the answer to a wrong client ID or secret.
var invalidClient = &oauthError{Code: "invalid_client", Description: "The client ID or secret is wrong."}

const basicChallenge = `Basic realm="innsigli"`

func (e *oauthError) Error() string { return e.Code + ": " + e.Description }

// write answers with the error. The status is 401 with a challenge for invalid_client, and else 400.
func (e *oauthError) write(w http.ResponseWriter) {
	status := http.StatusBadRequest
	if e.Code == "invalid_client" {
		status = http.StatusUnauthorized
		w.Header().Set("WWW-Authenticate", basicChallenge)
	}
	_ = writeJSON(w, status, e) // if this fails, the client is gone
}

// invalidRequest is the answer to a malformed request.
func invalidRequest(description string) error {
	return &oauthError{Code: "invalid_request", Description: description}
}

// token is the token endpoint. It supports the client credentials grant of RFC 6749 4.4, with the errors of 5.2
// (spec 2.1).
func (a *api) token(w http.ResponseWriter, r *http.Request) (err error) {
	var id, secret string
	defer func() { a.reportClient(r, id, err) }()
	w.Header().Set("Pragma", "no-cache")
	form, err := readParameters(w, r, "grant_type", "scope")
	if err != nil {
		return err
	}
	if id, secret, err = credentials(r, form); err != nil {
		return err
	}
	if err := checkGrant(form.get("grant_type")); err != nil {
		return err
	}
	var token account.Token
	err = a.limitSecretGuesses(w, r, id, func() (err error) {
		token, err = a.Accounts.Issue(r.Context(), id, secret, form.scopes())
		return err
	})
	switch {
	case errors.Is(err, account.ErrInvalidClient):
		return invalidClient
	case errors.Is(err, account.ErrInvalidScope):
		return &oauthError{Code: "invalid_scope", Description: "A scope is unknown or not granted to the client, or the scopes are not separated by single spaces."}
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

// checkGrant refuses any grant but client_credentials (RFC 6749 4.4.2).
func checkGrant(kind string) error {
	switch kind {
	case "client_credentials":
		return nil
	case "":
		return invalidRequest("grant_type is missing.")
	}
	return &oauthError{Code: "unsupported_grant_type", Description: "grant_type must be client_credentials."}
}

// revoke is the revocation endpoint (RFC 7009 2.1). It ignores token_type_hint, as it may, because the server issues
// only access tokens.
func (a *api) revoke(w http.ResponseWriter, r *http.Request) (err error) {
	var id, secret string
	defer func() { a.reportClient(r, id, err) }()
	w.Header().Set("Pragma", "no-cache")
	form, err := readParameters(w, r, "token", "token_type_hint")
	if err != nil {
		return err
	}
	if id, secret, err = credentials(r, form); err != nil {
		return err
	}
	if form.get("token") == "" {
		return invalidRequest("token is missing.")
	}
	err = a.limitSecretGuesses(w, r, id, func() error { return a.Accounts.Revoke(r.Context(), id, secret, form.get("token")) })
	switch {
	case errors.Is(err, account.ErrInvalidClient):
		return invalidClient
	case errors.Is(err, account.ErrOtherClient):
		return &oauthError{Code: "unauthorized_client", Description: "The token was issued to another client."}
	case err != nil:
		return err
	}
	w.WriteHeader(http.StatusOK)
	return nil
}

// parameters are the parameters of a request to the token or revocation endpoint.
type parameters url.Values

func (p parameters) get(name string) string { return url.Values(p).Get(name) }

// scopes returns the requested scopes, which are separated by single spaces (RFC 6749 3.3). Two spaces in a row result
// in an empty scope, which no client has.
func (p parameters) scopes() []string {
	if p.get("scope") == "" {
		return nil
	}
	return strings.Split(p.get("scope"), " ")
}

const formType = "application/x-www-form-urlencoded"

// maxParameters limits the body of an unauthenticated request, to which no byte budget applies. Client IDs, secrets and
// scopes take a few hundred bytes.
const maxParameters = 16 << 10

const invalidParameter = "A parameter is not a string, or contains control characters."

// readParameters reads the named parameters and the client's credentials from the body, which is form-encoded or JSON.
// They must not be in the URL, because servers and proxies log URLs (RFC 6749 2.3.1). A repeated parameter is an error
// (3.2).
func readParameters(w http.ResponseWriter, r *http.Request, names ...string) (parameters, error) {
	names = append(names, "client_id", "client_secret")
	query := r.URL.Query()
	if slices.ContainsFunc(names, query.Has) {
		return nil, invalidRequest("Parameters belong in the body, not in the URL.")
	}
	if err := limitBody(w, r, maxParameters); err != nil {
		return nil, err
	}
	if kind, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); kind != formType {
		return readJSONParameters(r, names)
	}
	body, err := io.ReadAll(bodyReader{r.Body})
	if err != nil {
		return nil, bodyError(err)
	}
	values, err := url.ParseQuery(string(body))
	if err != nil {
		return nil, invalidRequest("The body is not form-encoded.")
	}
	for name, v := range values {
		switch {
		case len(v) > 1:
			return nil, invalidRequest("A parameter is repeated.")
		case strings.TrimSpace(v[0]) == "":
			delete(values, name) // a parameter without a value counts as omitted (RFC 6749 3.2)
		case slices.Contains(names, name) && strings.ContainsFunc(v[0], unicode.IsControl):
			return nil, invalidRequest(invalidParameter)
		}
	}
	return parameters(values), nil
}

func readJSONParameters(r *http.Request, names []string) (parameters, error) {
	if checkJSONType(r) != nil {
		return nil, &wrongParametersType
	}
	body, err := jsonbody.Read(bodyReader{r.Body}, jsonbody.Options{})
	var syntax *jsonbody.SyntaxError
	if errors.As(err, &syntax) {
		return nil, invalidRequest("The body must be form-encoded or a JSON object, and must not repeat a member.")
	}
	if err != nil {
		return nil, bodyError(err)
	}
	values := url.Values{}
	for _, name := range names {
		if v := body.OptionalString(name); v != nil {
			values.Set(name, *v)
		}
	}
	if body.Errors() != nil {
		return nil, invalidRequest(invalidParameter)
	}
	return parameters(values), nil
}

// wrongParametersType is the answer to a body that is neither form-encoded nor JSON.
var wrongParametersType = wrongType(formType + ", or " + jsonType + " in UTF-8")

// bodyError returns the answer of these endpoints to an incomplete body (RFC 6749 5.2), and any other error unchanged.
func bodyError(err error) error {
	if errors.Is(err, errIncompleteBody) || errors.Is(err, errSlowBody) {
		return invalidRequest("The body is incomplete, or arrived too slowly.")
	}
	return err
}

// reportClient reports an error of these endpoints that means that the client is not authenticated.
func (a *api) reportClient(r *http.Request, id string, err error) {
	var refused *oauthError
	var limit *problem
	switch {
	case errors.As(err, &refused) && refused.Code == invalidClient.Code:
		a.authFailed(r, InvalidClient, id)
	case errors.As(err, &limit) && limit.Status == http.StatusTooManyRequests:
		a.authFailed(r, TooManySecrets, id)
	}
}

// credentials returns the client's credentials from HTTP Basic or the body. To use both is an error (RFC 6749 2.3). In
// HTTP Basic they are form-encoded (2.3.1). With an error it returns the ID if there is one.
func credentials(r *http.Request, form parameters) (id, secret string, err error) {
	id, secret = form.get("client_id"), form.get("client_secret")
	headers := r.Header.Values("Authorization")
	if len(headers) == 0 || len(headers) == 1 && headers[0] == "" {
		if id == "" || secret == "" {
			return id, "", &oauthError{Code: "invalid_client", Description: "The client ID or secret is missing."}
		}
		return id, secret, nil
	}
	if id != "" || secret != "" || len(headers) > 1 {
		return "", "", invalidRequest("The client authenticates in two ways. Use HTTP Basic or the body, not both.")
	}
	pair, err := base64.StdEncoding.DecodeString(authorization(r, "Basic"))
	user, password, ok := strings.Cut(string(pair), ":")
	if err != nil || !ok {
		return "", "", &oauthError{Code: "invalid_client", Description: "The Authorization header must be HTTP Basic."}
	}
	if id, err = url.QueryUnescape(user); err == nil {
		secret, err = url.QueryUnescape(password)
	}
	if err != nil {
		return "", "", &oauthError{Code: "invalid_client", Description: "The client ID or secret is not form-encoded."}
	}
	return id, secret, nil
}

// metadataPath is the path of the authorization server's metadata (RFC 8414 3). If the base URL has a path, clients that
// follow the RFC request insertedMetadataPath instead, and a proxy has to forward it. The OpenAPI document has only
// metadataPath, because its paths begin with the base URL.
const metadataPath = "/.well-known/oauth-authorization-server"

// insertedMetadataPath returns metadataPath with the path of the base URL after it (RFC 8414 3.1), or "" if the base URL
// has no path.
func (a *api) insertedMetadataPath() string {
	base, err := url.Parse(a.BaseURL)
	if err != nil || base.Path == "" {
		return ""
	}
	return metadataPath + base.Path
}

// metadata serves the metadata of the authorization server (RFC 8414 2). It has no response types, because there is no
// authorization endpoint.
func (a *api) metadata(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, a.metadataBody())
}

// serverMetadata is the body of metadata.
type serverMetadata struct {
	Issuer            string   `json:"issuer"`
	Token             string   `json:"token_endpoint"`
	TokenMethods      []string `json:"token_endpoint_auth_methods_supported"`
	Revocation        string   `json:"revocation_endpoint"`
	RevocationMethods []string `json:"revocation_endpoint_auth_methods_supported"`
	GrantTypes        []string `json:"grant_types_supported"`
	ResponseTypes     []string `json:"response_types_supported"`
	Scopes            []string `json:"scopes_supported"`
	Documentation     string   `json:"service_documentation"`
}

func (a *api) metadataBody() serverMetadata {
	methods := []string{"client_secret_basic", "client_secret_post"}
	return serverMetadata{
		a.BaseURL, a.BaseURL + tokenPath, methods, a.BaseURL + revokePath, methods,
		[]string{"client_credentials"}, []string{}, account.Scopes(), a.BaseURL + "/reference",
	}
}
