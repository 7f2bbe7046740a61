package httpapi

import (
	"encoding/json"

	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

// The schemas that fields are made of (spec 1.1 and 1.2). Patterns mean the same to
// RE2, to ECMA-262 and to Python.
var (
	str       = openapi.Types{"string"}
	strOrNull = openapi.Types{"string", "null"}
	integer   = openapi.Types{"integer"}
	number    = openapi.Types{"number"}
	boolean   = openapi.Types{"boolean"}
	object    = openapi.Types{"object"}
)

const (
	controls = `\x00-\x1F\x7F-\x9F`
	plain    = `^[^` + controls + `]*$`
	notBlank = `^[^` + controls + `]*[^\s` + controls + `][^` + controls + `]*$`
	base64ed = `^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=|[A-Za-z0-9+/]{4})$`
	instant  = `^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$`
)

// field is a text that has to be there.
func field(most int, about string) *openapi.Schema {
	return &openapi.Schema{Type: str, Pattern: notBlank, MaxLength: most, Description: about}
}

// optional is a text that may be left out. Null means that it is, as white space alone does.
func optional(most int, about string) *openapi.Schema {
	return &openapi.Schema{Type: strOrNull, Pattern: plain, MaxLength: most, Description: about}
}

// choice is one of some words.
func choice(words []string, about string) *openapi.Schema {
	s := &openapi.Schema{Type: str, Description: about}
	for _, word := range words {
		s.Enum = append(s.Enum, word)
	}
	return s
}

// defaulted is an optional value with what it is when it is left out.
func defaulted(s *openapi.Schema, value any) *openapi.Schema {
	optional := s.OrNull()
	optional.Default = value
	return optional
}

func identifier(about string) *openapi.Schema {
	return &openapi.Schema{Type: str, Format: "uuid", Description: about}
}

// encoded is bytes in Base64 of RFC 4648 section 4, at least one.
func encoded(mediaType, about string) *openapi.Schema {
	return &openapi.Schema{Type: str, ContentEncoding: "base64", ContentMediaType: mediaType, Pattern: base64ed, Description: about}
}

// moment is a time as createdAt and updatedAt tell it (spec 1.5).
func moment(about string) *openapi.Schema {
	return &openapi.Schema{Type: str, Format: "date-time", Pattern: instant, Description: about}
}

// between is a number with bounds.
func between(kind openapi.Types, least, most float64, about string) *openapi.Schema {
	return &openapi.Schema{Type: kind, Minimum: &least, Maximum: &most, Description: about}
}

func atLeast(kind openapi.Types, least float64, about string) *openapi.Schema {
	return &openapi.Schema{Type: kind, Minimum: &least, Description: about}
}

// is is an object whose member has a value: what a rule depends on.
func is(member string, value any) *openapi.Schema {
	return openapi.Object([]string{member}, openapi.Map[*openapi.Schema]{{Name: member, Value: &openapi.Schema{Const: value}}})
}

// raw is an example as it is on the wire.
func raw(text string) json.RawMessage { return json.RawMessage(text) }

// sample is an example with its name.
func sample(name, summary string, value any) openapi.Member[openapi.Example] {
	return openapi.Member[openapi.Example]{Name: name, Value: openapi.Example{Summary: summary, Value: value}}
}

// jsonContent is a JSON body of a schema among the components.
func jsonContent(schema string, examples ...openapi.Member[openapi.Example]) openapi.Map[openapi.MediaType] {
	return openapi.Map[openapi.MediaType]{{Name: jsonType, Value: openapi.MediaType{Schema: openapi.Reference(schema), Examples: examples}}}
}

// jsonRequest is a JSON body that has to be sent.
func jsonRequest(schema string, examples ...openapi.Member[openapi.Example]) *openapi.RequestBody {
	return &openapi.RequestBody{Required: true, Content: jsonContent(schema, examples...)}
}

// noContent is the answer without a body.
func noContent(text string) answer { return answer{status: 204, text: text} }

// inPath is an identifier in a path. One that is no UUID is that of nothing (spec 1.5).
func inPath(name, about string) openapi.Parameter {
	return openapi.Parameter{Name: name, In: "path", Required: true, Description: about, Schema: &openapi.Schema{Type: str, Format: "uuid"}, Example: raw(`"0f8fad5b-d9cb-469f-a165-70867728950e"`)}
}

// location is where a thing that was made is.
func location(path string) openapi.Map[openapi.Header] {
	return openapi.Map[openapi.Header]{{Name: "Location", Value: openapi.Header{
		Description: "The path of what was made.", Required: true, Schema: &openapi.Schema{Type: str, Format: "uri-reference"},
		Example: raw(`"` + path + `/0f8fad5b-d9cb-469f-a165-70867728950e"`),
	}}}
}

// idempotencyParameter is the header of the two calls that create work (spec 1.8).
var idempotencyParameter = openapi.Parameter{
	Name: "Idempotency-Key", In: "header",
	Description: "A key of yours for this request, such as a UUID. For 24 hours the same key with the same body gets the same answer, of a signing process as it is by then, and makes nothing new, so that a request whose answer was lost can be repeated without harm. It may stand in quotes.",
	Schema:      &openapi.Schema{Type: str, MinLength: 1, MaxLength: maxKey, Pattern: `^[!#-~](?:[ -~]*[!-~])?$`},
	Example:     raw(`"b1a7c0de-8d1c-4f5e-9a57-2f6d1f0f7a11"`),
}
