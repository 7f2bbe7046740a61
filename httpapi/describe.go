package httpapi

import (
	"net/http"
	"slices"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

// The groups that operations are shown in.
const (
	tokensTag    = "Access tokens"
	signingTag   = "Signing API"
	processesTag = "Signing processes"
	webhooksTag  = "Webhook subscriptions"
	sandboxTag   = "Sandbox"
	serverTag    = "Server"
	authorityTag = "Test authority"
)

// document is the OpenAPI document of the API: that of its environment, since what it lacks has no
// operations here.
func (a *api) document(operations []operation) openapi.Document {
	d := openapi.Document{
		OpenAPI: openapi.Version,
		Info: openapi.Info{
			Title: "Innsigli", Version: "v1", Summary: "Electronic signatures with Icelandic electronic IDs.", Description: a.introduction(),
			License: &openapi.License{Name: "Apache License 2.0", Identifier: "Apache-2.0"},
		},
		Servers:  []openapi.Server{{URL: a.BaseURL, Description: a.environment()}},
		Tags:     a.tags(operations),
		Webhooks: a.events(),
		Components: openapi.Components{
			Schemas:         a.schemas(),
			Headers:         sharedHeaders,
			SecuritySchemes: a.securitySchemes(),
		},
	}
	for _, o := range operations {
		d.Paths = put(d.Paths, o.path, o.method, a.described(o))
	}
	return d
}

// put adds an operation to its path.
func put(paths openapi.Map[openapi.PathItem], path, method string, o *openapi.Operation) openapi.Map[openapi.PathItem] {
	i := slices.IndexFunc(paths, func(p openapi.Member[openapi.PathItem]) bool { return p.Name == path })
	if i < 0 {
		i = len(paths)
		paths = append(paths, openapi.Member[openapi.PathItem]{Name: path})
	}
	item := &paths[i].Value
	switch method {
	case http.MethodGet:
		item.Get = o
	case http.MethodPut:
		item.Put = o
	case http.MethodPost:
		item.Post = o
	case http.MethodDelete:
		item.Delete = o
	}
	return paths
}

// described is an operation in the words of OpenAPI.
func (a *api) described(o operation) *openapi.Operation {
	return &openapi.Operation{
		OperationID: o.id,
		Tags:        []string{o.tag},
		Summary:     o.summary,
		Description: o.text,
		Parameters:  o.parameters,
		RequestBody: o.body,
		Responses:   a.responses(o),
		Security:    o.security(),
	}
}

// security is what a caller shows.
func (o operation) security() []openapi.Security {
	switch {
	case o.call == nil:
		return []openapi.Security{}
	case o.scope == noScope:
		return []openapi.Security{{oauthScheme: {}}, {bearerScheme: {}}}
	}
	return []openapi.Security{{oauthScheme: {o.scope}}, {bearerScheme: {}}}
}

const oauthScheme, bearerScheme = "clientCredentials", "accessToken"

func (a *api) securitySchemes() openapi.Map[openapi.SecurityScheme] {
	flow := &openapi.OAuthFlow{TokenURL: a.BaseURL + tokenPath, Scopes: openapi.Map[string]{
		{Name: account.ScopeSignatures, Value: "The Signing API: busy signals, starting a signature, polling for it."},
		{Name: account.ScopePortalRead, Value: "Read signing processes, their documents, and webhook subscriptions."},
		{Name: account.ScopePortalWrite, Value: "Create and delete signing processes, and everything that changes webhook subscriptions."},
	}}
	return openapi.Map[openapi.SecurityScheme]{
		{Name: oauthScheme, Value: openapi.SecurityScheme{
			Type: "oauth2", Flows: &openapi.OAuthFlows{ClientCredentials: flow},
			Description: "The client ID and secret that the operator issued, exchanged for an access token (RFC 6749 section 4.4).",
		}},
		{Name: bearerScheme, Value: openapi.SecurityScheme{
			Type: "http", Scheme: "bearer",
			Description: "An access token that was had before, in the header `Authorization: Bearer` (RFC 6750).",
		}},
	}
}

// tags are the groups that have an operation.
func (a *api) tags(operations []operation) (tags []openapi.Tag) {
	for _, tag := range []openapi.Tag{
		{Name: tokensTag, Description: "A client exchanges its ID and secret for a token that opens the API for an hour."},
		{Name: signingTag, Description: "One document, one signer, who approves on their phone. The client starts a signature, polls for it and gets the signed document."},
		{Name: processesTag, Description: "One PDF and those who sign or read it. The service invites them, they sign on its own page, and webhooks tell what happens."},
		{Name: webhooksTag, Description: "Where the events of signing processes are sent. What is sent is under Webhooks."},
		{Name: sandboxTag, Description: "Test users in place of people with electronic IDs. These paths exist in the sandbox alone."},
		{Name: serverTag, Description: "Paths beside the API. They take no token."},
		{Name: authorityTag, Description: "The authority that certifies the sandbox's test users: timestamps (RFC 3161), certificate status (RFC 6960) and revocation lists (RFC 5280), for any client. They take no token."},
	} {
		if slices.ContainsFunc(operations, func(o operation) bool { return o.tag == tag.Name }) {
			tags = append(tags, tag)
		}
	}
	return append(tags, openapi.Tag{Name: eventsTag, Description: "What the service sends to the endpoints of webhook subscriptions."})
}

// schemas are those that are referred to.
func (a *api) schemas() openapi.Map[*openapi.Schema] {
	all := slices.Concat(tokenSchemas(), signingSchemas(), processSchemas(), webhookSchemas())
	if a.Sandbox != nil {
		all = append(all, sandboxSchemas()...)
	}
	return slices.Concat(all, eventSchemas(), problemSchemas())
}

// environment is what a server is for, in a word.
func (a *api) environment() string {
	if a.Sandbox != nil {
		return "Sandbox"
	}
	return "Production"
}
