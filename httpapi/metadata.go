package httpapi

import (
	"net/http"
	"net/url"

	"github.com/innsigli/innsigli/account"
)

// metadataPath is where the metadata of the authorization server is (RFC 8414 3). Where the base URL has a
// path, whoever follows the RFC asks for it with that path behind it, at the root of the host (3.1), and the
// proxy that leads there leads it on. The document at /openapi.json has the one alone, since its paths begin
// with the base URL.
const metadataPath = "/.well-known/oauth-authorization-server"

// insertedMetadataPath is the other one; empty: the base URL has no path.
func (a *api) insertedMetadataPath() string {
	base, err := url.Parse(a.BaseURL)
	if err != nil || base.Path == "" {
		return ""
	}
	return metadataPath + base.Path
}

// metadata is what a client needs to know of the authorization server (RFC 8414 2). There is no
// authorization endpoint, so there are no response types.
func (a *api) metadata(w http.ResponseWriter, _ *http.Request) error {
	return writeJSON(w, http.StatusOK, a.metadataBody())
}

// serverMetadata is its body.
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
