package openapi

import (
	"encoding/json"
	"slices"
)

// Schema says which JSON values are meant (JSON Schema 2020-12). The zero value allows all of them.
type Schema struct {
	Ref         string   `json:"$ref,omitempty"`
	Title       string   `json:"title,omitempty"`
	Description string   `json:"description,omitempty"`
	Type        Types    `json:"type,omitempty"`
	Enum        []any    `json:"enum,omitempty"`
	Const       any      `json:"const,omitempty"`
	Format      string   `json:"format,omitempty"`
	Pattern     string   `json:"pattern,omitempty"`
	MinLength   int      `json:"minLength,omitempty"`
	MaxLength   int      `json:"maxLength,omitempty"`
	Minimum     *float64 `json:"minimum,omitempty"`
	Maximum     *float64 `json:"maximum,omitempty"`

	ContentEncoding  string `json:"contentEncoding,omitempty"`
	ContentMediaType string `json:"contentMediaType,omitempty"`

	Items    *Schema `json:"items,omitempty"`
	MinItems int     `json:"minItems,omitempty"`
	MaxItems int     `json:"maxItems,omitempty"`
	Contains *Schema `json:"contains,omitempty"`

	Properties           Map[*Schema] `json:"properties,omitempty"`
	Required             []string     `json:"required,omitempty"`
	AdditionalProperties *Schema      `json:"additionalProperties,omitempty"`
	MaxProperties        *int         `json:"maxProperties,omitempty"`

	AllOf []*Schema `json:"allOf,omitempty"`
	AnyOf []*Schema `json:"anyOf,omitempty"`
	OneOf []*Schema `json:"oneOf,omitempty"`
	Not   *Schema   `json:"not,omitempty"`
	If    *Schema   `json:"if,omitempty"`
	Then  *Schema   `json:"then,omitempty"`
	Else  *Schema   `json:"else,omitempty"`

	Default  any   `json:"default,omitempty"`
	Examples []any `json:"examples,omitempty"`
}

// Types are the types of a value; one of them encodes as a string.
type Types []string

// MarshalJSON encodes the types.
func (t Types) MarshalJSON() ([]byte, error) {
	if len(t) == 1 {
		return json.Marshal(t[0])
	}
	return json.Marshal([]string(t))
}

// Reference is the schema of a name in the components.
func Reference(name string) *Schema { return &Schema{Ref: "#/components/schemas/" + name} }

// Object is an object with properties, of which some have to be there.
func Object(required []string, properties Map[*Schema]) *Schema {
	return &Schema{Type: Types{"object"}, Required: required, Properties: properties}
}

// List is an array of values of a schema.
func List(of *Schema) *Schema { return &Schema{Type: Types{"array"}, Items: of} }

// AnyOf is what keeps one of the schemas at least.
func AnyOf(schemas ...*Schema) *Schema {
	if len(schemas) == 1 {
		return schemas[0]
	}
	return &Schema{AnyOf: schemas}
}

// OrNull is the schema with null allowed beside: with its other keywords null has nothing to do,
// but for enum and const.
func (s Schema) OrNull() *Schema {
	if !slices.Contains(s.Type, "null") {
		s.Type = append(s.Type[:len(s.Type):len(s.Type)], "null")
	}
	if s.Enum != nil {
		s.Enum = append(s.Enum[:len(s.Enum):len(s.Enum)], nil)
	}
	return &s
}

// About is the schema with a description.
func (s Schema) About(description string) *Schema {
	s.Description = description
	return &s
}
