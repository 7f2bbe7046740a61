package httpapi

import (
	"net/http"
	"strings"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

const (
	tokenPath  = "/api/v1/auth/token"
	revokePath = "/api/v1/auth/revoke"
	formType   = "application/x-www-form-urlencoded"
)

// tokenOperations are those of the authorization server (spec 2 and 2.1).
func (a *api) tokenOperations() []operation {
	return []operation{a.tokenOperation(), a.revokeOperation(), a.metadataOperation()}
}

const byBasic = " The client authenticates with HTTP Basic, its ID and secret form-encoded first (RFC 6749 section 2.3.1), or with `client_id` and `client_secret` in the body, but not with both."

func (a *api) tokenOperation() operation {
	return operation{
		method: "POST", path: tokenPath, open: a.fromStrangers(a.token),
		id: "getToken", tag: tokensTag, summary: "Get an access token",
		text: "The client credentials grant of OAuth 2.0 (RFC 6749 section 4.4)." + byBasic + "\n\n" +
			"Send the token in the header `Authorization: Bearer` of every call, and get a new one when it has expired. Without `scope` it grants all scopes of the client.",
		body: parametersBody("TokenRequest",
			sample("all", "For all scopes of the client", raw(`{"grant_type":"client_credentials","client_id":"my-client","client_secret":"my-secret"}`)),
			sample("some", "For some of them", raw(`{"grant_type":"client_credentials","scope":"portal/read portal/write","client_id":"my-client","client_secret":"my-secret"}`))),
		answers: []answer{
			{status: 200, text: "The token.", headers: notStored, content: jsonContent("Token",
				sample("token", "A token", raw(`{"access_token":"Wn3vXr9kQz0G3Yt0q2gq1xkq6m1c9H4d8s5b7n2p0aE","token_type":"Bearer","expires_in":3600,"scope":"api/signatures portal/read portal/write"}`)))},
			oauthRefused("The request is not one for a token, or asks for scopes that the client does not have.", http.StatusBadRequest,
				sample("invalid-request", "No grant", oauthError{"invalid_request", "grant_type is missing."}),
				sample("invalid-scope", "A scope of somebody else", oauthError{"invalid_scope", "A scope is unknown, or not one of the client's, or they are not separated by one space each."}),
				sample("unsupported-grant-type", "Another grant", oauthError{"unsupported_grant_type", "Only client_credentials is supported."})),
			oauthUnauthorized(),
		},
		problems: openProblems,
	}
}

func (a *api) revokeOperation() operation {
	return operation{
		method: "POST", path: revokePath, open: a.fromStrangers(a.revoke),
		id: "revokeToken", tag: tokensTag, summary: "Revoke an access token",
		text: "Ends a token of the client's before its time (RFC 7009)." + byBasic + " A token that is unknown or has expired is as good as revoked.",
		body: parametersBody("RevocationRequest",
			sample("token", "A token", raw(`{"token":"Wn3vXr9kQz0G3Yt0q2gq1xkq6m1c9H4d8s5b7n2p0aE","client_id":"my-client","client_secret":"my-secret"}`))),
		answers: []answer{
			{status: 200, text: "The token opens nothing any more.", headers: notStored},
			oauthRefused("The request names no token, or one of another client's.", http.StatusBadRequest,
				sample("invalid-request", "No token", oauthError{"invalid_request", "token is missing."}),
				sample("unauthorized-client", "Another client's", oauthError{"unauthorized_client", "The token was issued to another client."})),
			oauthUnauthorized(),
		},
		problems: openProblems,
	}
}

func (a *api) metadataOperation() operation {
	scopes := openapi.List(choice(account.Scopes(), ""))
	texts := openapi.List(&openapi.Schema{Type: str})
	url := &openapi.Schema{Type: str, Format: "uri"}
	return operation{
		method: "GET", path: metadataPath, open: a.metadata,
		id: "getAuthorizationServer", tag: tokensTag, summary: "Read the metadata of the authorization server",
		text: "What OAuth 2.0 clients configure themselves with (RFC 8414).",
		answers: []answer{{status: 200, text: "The metadata.", content: openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{
			Schema: openapi.Object([]string{"issuer", "token_endpoint", "response_types_supported"}, openapi.Map[*openapi.Schema]{
				{Name: "issuer", Value: url},
				{Name: "token_endpoint", Value: url},
				{Name: "token_endpoint_auth_methods_supported", Value: texts},
				{Name: "revocation_endpoint", Value: url},
				{Name: "revocation_endpoint_auth_methods_supported", Value: texts},
				{Name: "grant_types_supported", Value: texts},
				{Name: "response_types_supported", Value: texts},
				{Name: "scopes_supported", Value: scopes},
				{Name: "service_documentation", Value: url},
			}),
			Examples: openapi.Map[openapi.Example]{sample("metadata", "This server", a.metadataBody())},
		}}}}},
	}
}

// openProblems are those of calls that take no token but reach the store.
var openProblems = []problem{tooLarge, noParameters, tooOften, internalError, unavailable, noRoomLeft}

// notStored is what answers with secrets carry (RFC 6749 5.1).
var notStored = openapi.Map[openapi.Header]{
	{Name: "Cache-Control", Value: openapi.Header{Required: true, Description: "No copy is kept on the way.", Schema: &openapi.Schema{Type: str, Const: "no-store"}}},
	{Name: "Pragma", Value: openapi.Header{Required: true, Description: "The same, for old caches.", Schema: &openapi.Schema{Type: str, Const: "no-cache"}}},
}

// parametersBody is a body that comes as a form or as JSON, with the same members.
func parametersBody(schema string, examples ...openapi.Member[openapi.Example]) *openapi.RequestBody {
	body := jsonRequest(schema, examples...)
	body.Content = append(openapi.Map[openapi.MediaType]{{Name: formType, Value: body.Content[0].Value}}, body.Content...)
	return body
}

// oauthRefused is an error of RFC 6749 5.2.
func oauthRefused(text string, status int, examples ...openapi.Member[openapi.Example]) answer {
	return answer{status: status, text: text, content: jsonContent("OAuthError", examples...)}
}

func oauthUnauthorized() answer {
	refused := oauthRefused("The client ID or secret is wrong or missing.", http.StatusUnauthorized, sample("invalid-client", "Wrong credentials", *wrongClient))
	refused.headers = openapi.Map[openapi.Header]{{Name: "WWW-Authenticate", Value: openapi.Header{
		Required: true, Description: "How clients authenticate.", Schema: &openapi.Schema{Type: str, Const: basicChallenge},
	}}}
	return refused
}

// scopesAskedFor is the pattern of scopes that there are, with one space between two (RFC 6749 3.3).
func scopesAskedFor() string {
	scope := "(?:" + strings.Join(account.Scopes(), "|") + ")"
	return "^" + scope + "(?: " + scope + ")*$"
}

// tokenSchemas are the bodies of spec 2.1 and RFC 7009.
func tokenSchemas() openapi.Map[*openapi.Schema] {
	text := func(about string) *openapi.Schema { return &openapi.Schema{Type: str, Description: about} }
	optionalText := func(about string) *openapi.Schema {
		return &openapi.Schema{Type: strOrNull, Pattern: plain, Description: about}
	}
	id := openapi.Member[*openapi.Schema]{Name: "client_id", Value: optionalText("The client ID, where it is not sent with HTTP Basic.")}
	secret := openapi.Member[*openapi.Schema]{Name: "client_secret", Value: optionalText("The client secret, where it is not sent with HTTP Basic.")}
	codes := choice([]string{"invalid_request", "invalid_client", "invalid_scope", "unauthorized_client", "unsupported_grant_type"}, "What is wrong (RFC 6749 section 5.2).")
	return openapi.Map[*openapi.Schema]{
		{Name: "TokenRequest", Value: openapi.Object([]string{"grant_type"}, openapi.Map[*openapi.Schema]{
			{Name: "grant_type", Value: choice([]string{"client_credentials"}, "The only grant there is.")},
			{Name: "scope", Value: &openapi.Schema{Type: strOrNull, Pattern: scopesAskedFor(), Description: "The scopes asked for, separated by one space each. Left out: all that the client may have."}},
			id, secret,
		})},
		{Name: "RevocationRequest", Value: openapi.Object([]string{"token"}, openapi.Map[*openapi.Schema]{
			{Name: "token", Value: &openapi.Schema{Type: str, Pattern: notBlank, Description: "The token to revoke."}},
			{Name: "token_type_hint", Value: optionalText("Of no effect: there are access tokens alone.")},
			id, secret,
		})},
		{Name: "Token", Value: openapi.Object([]string{"access_token", "token_type", "expires_in", "scope"}, openapi.Map[*openapi.Schema]{
			{Name: "access_token", Value: text("The token. It is opaque: nothing is to be read from it.")},
			{Name: "token_type", Value: choice([]string{"Bearer"}, "")},
			{Name: "expires_in", Value: atLeast(integer, 1, "Seconds until it expires.")},
			{Name: "scope", Value: text("The scopes that it grants, separated by spaces.")},
		})},
		{Name: "OAuthError", Value: openapi.Object([]string{"error", "error_description"}, openapi.Map[*openapi.Schema]{
			{Name: "error", Value: codes},
			{Name: "error_description", Value: text("A sentence for people.")},
		}).About("An error of the authorization server (RFC 6749 section 5.2).")},
	}
}
