package httpapi_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"testing"

	"go.yaml.in/yaml/v3"
)

// The files that the package embeds are made from openapi.yaml. "go generate" writes them.
func TestOpenAPIIsGenerated(t *testing.T) {
	source, err := os.ReadFile("openapi.yaml")
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range []string{"sandbox", "production", "trial"} {
		made, err := documentFor(source, environment)
		if err != nil {
			t.Fatal(err)
		}
		name := "openapi." + environment + ".json"
		if os.Getenv("INNSIGLI_GOLDEN") == "1" {
			if err := os.WriteFile(name, made, 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if there, err := os.ReadFile(name); err != nil || !bytes.Equal(there, made) {
			t.Errorf("%s is not made of openapi.yaml as it is now: run go generate ./httpapi (%v)", name, err)
		}
	}
}

// environmentsKey says in which environments something is; without it, in all.
const environmentsKey = "x-innsigli-environments"

// sandboxText is a part of a text that is the sandbox's.
var sandboxText = regexp.MustCompile(`(?s)<!-- sandbox -->\n\n(.*?)<!-- end -->\n\n`)

// documentFor returns the description in YAML as the JSON of an environment, with the members in their order.
func documentFor(source []byte, environment string) ([]byte, error) {
	var document yaml.Node
	if err := yaml.Unmarshal(source, &document); err != nil {
		return nil, err
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	converter := converter{environment: environment, out: &b, encoder: encoder}
	if err := converter.value(document.Content[0]); err != nil {
		return nil, err
	}
	var compact bytes.Buffer
	err := json.Compact(&compact, b.Bytes())
	compact.WriteByte('\n')
	return compact.Bytes(), err
}

// converter writes YAML as JSON.
type converter struct {
	environment string
	out         *bytes.Buffer
	encoder     *json.Encoder
}

// exists says whether a value is one of the environment.
func (c converter) exists(n *yaml.Node) bool {
	if n.Kind != yaml.MappingNode {
		return true
	}
	for i := 0; i < len(n.Content); i += 2 {
		if n.Content[i].Value != environmentsKey {
			continue
		}
		var environments []string
		return n.Content[i+1].Decode(&environments) == nil && slices.Contains(environments, c.environment)
	}
	return true
}

func (c converter) value(n *yaml.Node) error {
	switch n.Kind {
	case yaml.AliasNode:
		return c.value(n.Alias)
	case yaml.MappingNode:
		return c.list('{', '}', len(n.Content)/2, func(i int) (*yaml.Node, *yaml.Node) { return n.Content[2*i], n.Content[2*i+1] })
	case yaml.SequenceNode:
		return c.list('[', ']', len(n.Content), func(i int) (*yaml.Node, *yaml.Node) { return nil, n.Content[i] })
	}
	if n.Tag == "!!timestamp" {
		return fmt.Errorf("line %d: a time has to stand in quotes", n.Line)
	}
	var v any
	if err := n.Decode(&v); err != nil {
		return err
	}
	if text, is := v.(string); is {
		with := ""
		if c.environment == "sandbox" {
			with = "$1"
		}
		v = sandboxText.ReplaceAllString(text, with)
	}
	return c.encoder.Encode(v)
}

// list writes those of a list of values that exist, with their names if they have any.
func (c converter) list(open, end byte, n int, at func(i int) (name, value *yaml.Node)) error {
	separator := open
	for i := range n {
		name, value := at(i)
		if name != nil && name.Value == environmentsKey || !c.exists(value) {
			continue
		}
		c.out.WriteByte(separator)
		separator = ','
		if name != nil {
			if err := c.encoder.Encode(name.Value); err != nil {
				return err
			}
			c.out.WriteByte(':')
		}
		if err := c.value(value); err != nil {
			return err
		}
	}
	if separator == open {
		c.out.WriteByte(open)
	}
	c.out.WriteByte(end)
	return nil
}
