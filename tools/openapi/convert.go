package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// environmentsKey names the environments that have a value, which is a mapping. Without it, all have the value.
const environmentsKey = "x-innsigli-environments"

// sandboxText matches a passage that only the sandbox's document has.
var sandboxText = regexp.MustCompile(`(?s)<!-- sandbox -->\n\n(.*?)<!-- end -->\n\n`)

// convert returns the OpenAPI document of an environment in JSON, with the members in the order of the YAML.
func convert(source []byte, environment string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return nil, err
	}
	if len(document.Content) != 1 {
		return nil, fmt.Errorf("it is empty")
	}
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	c := converter{environment, &out, encoder}
	if err := c.value(document.Content[0]); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	if err := json.Compact(&compact, out.Bytes()); err != nil {
		return nil, err
	}
	compact.WriteByte('\n')
	return compact.Bytes(), nil
}

// converter writes YAML as JSON.
type converter struct {
	environment string
	out         *bytes.Buffer
	encoder     *json.Encoder
}

// value writes a value, whatever its kind.
func (c converter) value(n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias)
	case yaml.MappingNode:
		return c.mapping(n)
	case yaml.SequenceNode:
		return c.sequence(n)
	}
	return c.scalar(n)
}

// mapping writes an object with those members that the environment has.
func (c converter) mapping(n *yaml.Node) error {
	c.out.WriteByte('{')
	names := make(map[string]bool)
	first := true
	for i := 0; i < len(n.Content); i += 2 {
		name, value := n.Content[i], n.Content[i+1]
		if name.Tag == "!!merge" || names[name.Value] {
			return fmt.Errorf("line %d: %q is a merge, or there twice", name.Line, name.Value)
		}
		names[name.Value] = true
		has, err := c.has(value)
		if err != nil {
			return err
		}
		if !has || name.Value == environmentsKey {
			continue
		}
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		if err := c.encoder.Encode(name.Value); err != nil {
			return err
		}
		c.out.WriteByte(':')
		if err := c.value(value); err != nil {
			return err
		}
	}
	c.out.WriteByte('}')
	return nil
}

// sequence writes an array of those values that the environment has.
func (c converter) sequence(n *yaml.Node) error {
	c.out.WriteByte('[')
	first := true
	for _, value := range n.Content {
		has, err := c.has(value)
		if err != nil {
			return err
		}
		if !has {
			continue
		}
		if !first {
			c.out.WriteByte(',')
		}
		first = false
		if err := c.value(value); err != nil {
			return err
		}
	}
	c.out.WriteByte(']')
	return nil
}

// scalar writes a string, number, boolean or null.
func (c converter) scalar(n *yaml.Node) error {
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	if n.Tag == "!!timestamp" {
		return fmt.Errorf("line %d: a time has to be in quotes", n.Line)
	}
	if text, is := v.(string); is {
		replacement := ""
		if c.environment == "sandbox" {
			replacement = "$1"
		}
		text = sandboxText.ReplaceAllString(text, replacement)
		if strings.Contains(text, "<!--") {
			return fmt.Errorf("line %d: a comment in the text is none of <!-- sandbox --> and <!-- end -->, each between empty lines", n.Line)
		}
		v = text
	}
	return c.encoder.Encode(v)
}

// has reports whether the environment has a value.
func (c converter) has(n *yaml.Node) (bool, error) {
	if n.Kind == yaml.AliasNode {
		return c.has(n.Alias)
	}
	if n.Kind != yaml.MappingNode {
		return true, nil
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value != environmentsKey {
			continue
		}
		var named []string
		if err := n.Content[i+1].Decode(&named); err != nil {
			return false, fmt.Errorf("line %d: %w", n.Content[i].Line, err)
		}
		for _, name := range named {
			if !slices.Contains(environments, name) {
				return false, fmt.Errorf("line %d: there is no environment %q", n.Content[i].Line, name)
			}
		}
		return slices.Contains(named, c.environment), nil
	}
	return true, nil
}
