// Package openapi has the vocabulary of an OpenAPI 3.1 document, as values that encode as its JSON:
// as much of it as describes an HTTP API with JSON bodies and webhooks. It knows nothing of any API.
//
//	d := openapi.Document{
//		OpenAPI: openapi.Version,
//		Info:    openapi.Info{Title: "Clock", Version: "v1"},
//		Paths: openapi.Map[openapi.PathItem]{{Name: "/time", Value: openapi.PathItem{Get: &openapi.Operation{
//			OperationID: "getTime",
//			Responses:   openapi.Map[openapi.Response]{{Name: "200", Value: openapi.Response{Description: "The time."}}},
//		}}}},
//	}
//	b, err := json.Marshal(d)
//
// The names are those of the OpenAPI Specification 3.1.1, which says what each is for; schemas are
// JSON Schema 2020-12. What has an order for readers keeps it: see [Map].
package openapi

import "encoding/json"

// Version is the version of the specification that documents follow.
const Version = "3.1.1"

// Document describes an API (OpenAPI 4.8.1).
type Document struct {
	OpenAPI      string        `json:"openapi"`
	Info         Info          `json:"info"`
	Servers      []Server      `json:"servers,omitempty"`
	Tags         []Tag         `json:"tags,omitempty"`
	ExternalDocs *ExternalDocs `json:"externalDocs,omitempty"`
	Paths        Map[PathItem] `json:"paths"`
	Webhooks     Map[PathItem] `json:"webhooks,omitempty"`
	Components   Components    `json:"components"`
}

// Info is about the API as a whole.
type Info struct {
	Title       string   `json:"title"`
	Version     string   `json:"version"`
	Summary     string   `json:"summary,omitempty"`
	Description string   `json:"description,omitempty"`
	License     *License `json:"license,omitempty"`
}

// License is the licence of the API.
type License struct {
	Name       string `json:"name"`
	Identifier string `json:"identifier,omitempty"` // SPDX
}

// Server is an address that the API is reached at.
type Server struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// Tag is a group of operations.
type Tag struct {
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// ExternalDocs is where more is said.
type ExternalDocs struct {
	URL         string `json:"url"`
	Description string `json:"description,omitempty"`
}

// PathItem is the operations of a path, or of a webhook.
type PathItem struct {
	Get    *Operation `json:"get,omitempty"`
	Put    *Operation `json:"put,omitempty"`
	Post   *Operation `json:"post,omitempty"`
	Delete *Operation `json:"delete,omitempty"`
}

// Operation is a method of a path.
type Operation struct {
	OperationID string        `json:"operationId"`
	Tags        []string      `json:"tags,omitempty"`
	Summary     string        `json:"summary,omitempty"`
	Description string        `json:"description,omitempty"`
	Parameters  []Parameter   `json:"parameters,omitempty"`
	RequestBody *RequestBody  `json:"requestBody,omitempty"`
	Responses   Map[Response] `json:"responses"`
	// Security is the schemes of which one has to be kept; empty, but not nil: none.
	Security []Security `json:"security,omitzero"`
}

// Security is schemes that have to be kept together, with the scopes of each.
type Security map[string][]string

// Parameter is a part of the path, the query or the header. Where it is a reference to one of the
// components, it is nothing else.
type Parameter struct {
	Ref         string          `json:"$ref,omitempty"`
	Name        string          `json:"name,omitempty"`
	In          string          `json:"in,omitempty"` // path, query or header
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Schema      *Schema         `json:"schema,omitempty"`
	Example     json.RawMessage `json:"example,omitempty"`
}

// RequestBody is what a request carries, by media type.
type RequestBody struct {
	Description string         `json:"description,omitempty"`
	Required    bool           `json:"required,omitempty"`
	Content     Map[MediaType] `json:"content"`
}

// Response is what is answered with a status.
type Response struct {
	Description string         `json:"description"`
	Headers     Map[Header]    `json:"headers,omitempty"`
	Content     Map[MediaType] `json:"content,omitempty"`
}

// Header is a header of a response, or a reference to one of the components.
type Header struct {
	Ref         string          `json:"$ref,omitempty"`
	Description string          `json:"description,omitempty"`
	Required    bool            `json:"required,omitempty"`
	Schema      *Schema         `json:"schema,omitempty"`
	Example     json.RawMessage `json:"example,omitempty"`
}

// HeaderReference is a header that the components have by its name.
func HeaderReference(name string) Member[Header] {
	return Member[Header]{Name: name, Value: Header{Ref: "#/components/headers/" + name}}
}

// MediaType is a body of a media type.
type MediaType struct {
	Schema   *Schema      `json:"schema,omitempty"`
	Examples Map[Example] `json:"examples,omitempty"`
}

// Example is a body as it may come. Its value is any that encodes as JSON.
type Example struct {
	Summary string `json:"summary,omitempty"`
	Value   any    `json:"value"`
}

// Components is what is referred to from elsewhere.
type Components struct {
	Schemas         Map[*Schema]        `json:"schemas,omitempty"`
	Parameters      Map[Parameter]      `json:"parameters,omitempty"`
	Headers         Map[Header]         `json:"headers,omitempty"`
	SecuritySchemes Map[SecurityScheme] `json:"securitySchemes,omitempty"`
}

// SecurityScheme is a way in which callers say who they are.
type SecurityScheme struct {
	Type        string      `json:"type"`
	Description string      `json:"description,omitempty"`
	Scheme      string      `json:"scheme,omitempty"` // of type http
	Flows       *OAuthFlows `json:"flows,omitempty"`  // of type oauth2
}

// OAuthFlows are the grants of an authorization server.
type OAuthFlows struct {
	ClientCredentials *OAuthFlow `json:"clientCredentials,omitempty"`
}

// OAuthFlow is where a grant is had, and the scopes there are.
type OAuthFlow struct {
	TokenURL string      `json:"tokenUrl"`
	Scopes   Map[string] `json:"scopes"`
}
