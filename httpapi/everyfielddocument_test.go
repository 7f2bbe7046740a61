package httpapi_test

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
)

// Each member that the document describes of a body in JSON has rows in everyBody, and each row is of a member
// that it describes. Bodies of the token and revocation endpoints have tests of their own, for their answers
// are those of RFC 6749.
func TestEveryFieldOfTheDocumentHasRows(t *testing.T) {
	t.Parallel()
	c := start(t, empty).sender(t)
	rows := map[string][]string{}
	for _, o := range everyBody(c) {
		key := o.method + " " + o.path
		rows[key] = []string{}
		for _, f := range o.fields {
			rows[key] = append(rows[key], f.path)
		}
		slices.Sort(rows[key])
	}
	_, text := documentOf(t, c.server)
	text, err := openapitest.Resolve(text)
	if err != nil {
		t.Fatal(err)
	}
	var document object
	if err := json.Unmarshal(text, &document); err != nil {
		t.Fatal(err)
	}
	described := map[string][]string{}
	for path, item := range document["paths"].(object) {
		for method, o := range item.(object) {
			content, _ := insideOf(o, "requestBody", "content", "application/json").(object)
			if content == nil || strings.HasPrefix(path, "/api/v1/auth/") {
				continue
			}
			found := map[string]bool{}
			members(document, content["schema"], "", found)
			described[strings.ToUpper(method)+" "+path] = slices.AppendSeq([]string{}, maps.Keys(found))
			slices.Sort(described[strings.ToUpper(method)+" "+path])
		}
	}
	if len(described) < 9 {
		t.Errorf("the document has but %d bodies", len(described))
	}
	diff(t, "members that the document describes, and rows", described, rows)
}

// insideOf is what is inside of a value.
func insideOf(value any, names ...string) any {
	for _, name := range names {
		inner, _ := value.(object)
		value = inner[name]
	}
	return value
}

// members gathers the paths of the members that a schema describes. An element of a list is its first.
func members(document object, schema any, path string, found map[string]bool) {
	s, _ := schema.(object)
	if ref, is := s["$ref"].(string); is {
		members(document, insideOf(document, strings.Split(strings.TrimPrefix(ref, "#/"), "/")...), path, found)
	}
	for _, all := range []string{"oneOf", "anyOf", "allOf"} {
		list, _ := s[all].([]any)
		for _, one := range list {
			members(document, one, path, found)
		}
	}
	if items := s["items"]; items != nil {
		found[path+"[0]"] = true
		members(document, items, path+"[0]", found)
	}
	properties, _ := s["properties"].(object)
	for name, property := range properties {
		inner := strings.TrimPrefix(path+"."+name, ".")
		found[inner] = true
		members(document, property, inner, found)
	}
}
