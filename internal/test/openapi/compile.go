package openapi

import (
	"bytes"
	"fmt"
	"net/url"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// compiler makes schemas of the places in a document.
type compiler struct {
	document any
	*jsonschema.Compiler
}

const resource = "openapi.json"

func newCompiler(document []byte) (*compiler, error) {
	v, err := jsonschema.UnmarshalJSON(bytes.NewReader(document))
	if err != nil {
		return nil, fmt.Errorf("openapitest: the document is no JSON: %w", err)
	}
	root, ok := v.(map[string]any)
	if !ok {
		return nil, fmt.Errorf("openapitest: the document is no object")
	}
	for _, part := range []string{"paths", "webhooks", "components"} {
		seal(root[part])
	}
	c := jsonschema.NewCompiler()
	c.DefaultDraft(jsonschema.Draft2020)
	c.AssertFormat()
	if err := c.AddResource(resource, root); err != nil {
		return nil, fmt.Errorf("openapitest: %w", err)
	}
	return &compiler{root, c}, nil
}

// seal has objects take no members but those that are described. What is part of another schema says
// nothing of the whole, and stays as it is.
func seal(v any) {
	switch v := v.(type) {
	case []any:
		for _, one := range v {
			seal(one)
		}
	case map[string]any:
		for name, member := range v {
			switch name {
			case "allOf", "if", "then", "else", "not", "contains", "examples", "example":
			default:
				seal(member)
			}
		}
		properties, described := v["properties"].(map[string]any)
		if _, open := v["additionalProperties"]; described && !open && len(properties) > 0 {
			v["additionalProperties"] = false
		}
	}
}

// at is what the document has at a place, nil when that is nothing.
func (c *compiler) at(place []string) any {
	v := c.document
	for _, name := range place {
		object, _ := v.(map[string]any)
		v = object[name]
	}
	return v
}

// schema is the one at a place, nil when there is none.
func (c *compiler) schema(at ...string) (*jsonschema.Schema, error) {
	var pointer strings.Builder
	for _, name := range at {
		pointer.WriteString("/" + url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name)))
	}
	if c.at(at) == nil {
		return nil, nil
	}
	s, err := c.Compile(resource + "#" + pointer.String())
	if err != nil {
		return nil, fmt.Errorf("openapitest: %s: %w", pointer.String(), err)
	}
	return s, nil
}
