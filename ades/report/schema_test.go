package report

import (
	"bytes"
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/santhosh-tekuri/jsonschema/v6"
)

// schemaObject is the schema as JSON.
func schemaObject(t *testing.T) map[string]any {
	t.Helper()
	var object map[string]any
	if err := json.Unmarshal(Schema(), &object); err != nil {
		t.Fatal(err)
	}
	return object
}

// Compiled is the schema, for the tests of real reports.
func Compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	object, err := jsonschema.UnmarshalJSON(bytes.NewReader(Schema()))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("schema.json", object); err != nil {
		t.Fatal(err)
	}
	compiled, err := c.Compile("schema.json") // which checks it against its own draft's schema
	if err != nil {
		t.Fatal(err)
	}
	return compiled
}

// The schema has the members of the values that are printed, all of them required, and the values that they
// may have.
func TestSchemaHasWhatIsPrinted(t *testing.T) {
	schema := schemaObject(t)
	defs := schema["$defs"].(map[string]any)
	for name, value := range map[string]any{
		"": Document{}, "signature": Signature{}, "certificate": Certificate{}, "certificateStatus": CertificateStatus{}, "algorithm": Algorithm{}, "timestamp": Timestamp{}, "change": Change{},
	} {
		object := schema
		if name != "" {
			object = defs[name].(map[string]any)
		}
		var members []string
		for i := range reflect.TypeOf(value).NumField() {
			members = append(members, reflect.TypeOf(value).Field(i).Tag.Get("json"))
		}
		properties := object["properties"].(map[string]any)
		slices.Sort(members)
		if diff := cmp.Diff(members, slices.Sorted(maps.Keys(properties))); diff != "" {
			t.Errorf("%q: printed (-) and described (+):\n%s", name, diff)
		}
		if diff := cmp.Diff(members, sortedTexts(object["required"])); diff != "" {
			t.Errorf("%q: printed (-) and required (+):\n%s", name, diff)
		}
		for member, p := range properties {
			if d, _ := p.(map[string]any)["description"].(string); len(d) < 10 {
				t.Errorf("%s.%s is not described", name, member)
			}
		}
	}
	for typeName, place := range map[string][2]string{
		"Indication": {"signature", "indication"}, "Coverage": {"signature", "coverage"}, "TimestampType": {"timestamp", "type"}, "ChangeKind": {"change", "kind"},
		"SubIndication": {"signature", "subIndication"}, "RevocationStatus": {"certificateStatus", "revocation"},
	} {
		property := defs[place[0]].(map[string]any)["properties"].(map[string]any)[place[1]].(map[string]any)
		described := sortedTexts(property["enum"])
		for _, value := range values(t, typeName) {
			if !slices.Contains(described, value) {
				t.Errorf("%s.%s: the schema does not have %s", place[0], place[1], value)
			}
		}
	}
}

func sortedTexts(list any) (out []string) {
	for _, one := range list.([]any) {
		out = append(out, one.(string))
	}
	slices.Sort(out)
	return out
}
