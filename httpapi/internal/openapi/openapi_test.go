package openapi_test

import (
	"encoding/json"
	"fmt"
	"os"
	"testing"

	"github.com/innsigli/innsigli/httpapi/internal/openapi"
)

func Example() {
	d := openapi.Document{
		OpenAPI: openapi.Version,
		Info:    openapi.Info{Title: "Clock", Version: "v1"},
		Paths: openapi.Map[openapi.PathItem]{{Name: "/time", Value: openapi.PathItem{Get: &openapi.Operation{
			OperationID: "getTime",
			Responses:   openapi.Map[openapi.Response]{{Name: "200", Value: openapi.Response{Description: "The time."}}},
			Security:    []openapi.Security{},
		}}}},
	}
	if err := json.NewEncoder(os.Stdout).Encode(d); err != nil {
		fmt.Println(err)
	}
	// Output:
	// {"openapi":"3.1.1","info":{"title":"Clock","version":"v1"},"paths":{"/time":{"get":{"operationId":"getTime","responses":{"200":{"description":"The time."}},"security":[]}}},"components":{}}
}

// Members keep their order, types are a word or a list, and null is added once.
func TestSchemas(t *testing.T) {
	word := openapi.Schema{Type: openapi.Types{"string"}, Enum: []any{"b", "a"}}
	for want, s := range map[string]*openapi.Schema{
		`{"type":"string","enum":["b","a"]}`:                                          &word,
		`{"type":["string","null"],"enum":["b","a",null]}`:                            word.OrNull(),
		`{"type":["string","null"]}`:                                                  (&openapi.Schema{Type: openapi.Types{"string"}}).OrNull().OrNull(),
		`{"description":"It.","type":"string","enum":["b","a"]}`:                      word.About("It."),
		`{"$ref":"#/components/schemas/One"}`:                                         openapi.AnyOf(openapi.Reference("One")),
		`{"anyOf":[{"$ref":"#/components/schemas/One"},{"type":"array","items":{}}]}`: openapi.AnyOf(openapi.Reference("One"), openapi.List(&openapi.Schema{})),
		`{"type":"object","properties":{"z":{},"a":{"minimum":0}},"required":["z"]}`:  openapi.Object([]string{"z"}, openapi.Map[*openapi.Schema]{{Name: "z", Value: &openapi.Schema{}}, {Name: "a", Value: &openapi.Schema{Minimum: new(0.0)}}}),
	} {
		got, err := json.Marshal(s)
		if err != nil || string(got) != want {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
	if got, _ := json.Marshal(word); string(got) != `{"type":"string","enum":["b","a"]}` {
		t.Errorf("a schema that another was made of is %s now", got)
	}
}

func TestMapGet(t *testing.T) {
	m := openapi.Map[int]{{Name: "two", Value: 2}}
	if v, ok := m.Get("two"); v != 2 || !ok {
		t.Error(v, ok)
	}
	if v, ok := m.Get("three"); v != 0 || ok {
		t.Error(v, ok)
	}
}
