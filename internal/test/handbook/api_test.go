package handbook_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
)

// document is what the pages say of the API's OpenAPI document.
type document struct {
	Info  struct{ Description string }
	Tags  []struct{ Name string }
	Paths map[string]map[string]operation
}

type operation struct {
	Summary   string
	Tags      []string
	Security  []map[string][]string
	Responses map[string]struct {
		Description string
		Content     map[string]struct {
			Examples map[string]struct{ Value json.RawMessage }
		}
	}
}

// docs/reference has the operations and the problems of the API's document.
func TestAPIIsThatOfTheDocument(t *testing.T) {
	d := apiDocument(t)
	made(t, "docs/reference/api.md", "operations", d.operations())
	made(t, "docs/reference/errors.md", "problems", d.problems(t))
}

// apiDocument is that of a sandbox.
func apiDocument(t *testing.T) (d document) {
	t.Helper()
	answer, err := http.Get(theSandbox(t).BaseURL + "/openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	if text, err = openapitest.Resolve(text); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(text, &d); err != nil {
		t.Fatal(err)
	}
	return d
}

// operations are a table for each tag.
func (d document) operations() string {
	var out strings.Builder
	for _, tag := range d.Tags {
		rows := ""
		for _, path := range slices.Sorted(maps.Keys(d.Paths)) {
			for _, method := range []string{"post", "get", "put", "delete"} {
				if o, ok := d.Paths[path][method]; ok && slices.Contains(o.Tags, tag.Name) {
					rows += fmt.Sprintf("| `%s %s` | %s | %s |\n", strings.ToUpper(method), path, o.Summary, o.scope())
				}
			}
		}
		if rows != "" {
			fmt.Fprintf(&out, "### %s\n\n| | | Scope |\n|---|---|---|\n%s\n", tag.Name, rows)
		}
	}
	return strings.TrimSuffix(out.String(), "\n")
}

// scope is what a token has to have.
func (o operation) scope() string {
	if len(o.Security) == 0 || slices.ContainsFunc(o.Security, func(s map[string][]string) bool { return len(s) == 0 }) {
		return "no token"
	}
	for _, scheme := range o.Security {
		for _, scopes := range scheme {
			for _, scope := range scopes {
				return "`" + scope + "`"
			}
		}
	}
	return "any token"
}

// problems are a table of all titles, by status.
func (d document) problems(t *testing.T) string {
	t.Helper()
	explained := map[string]string{}
	title := regexp.MustCompile(`\*\*(.+?)\*\* (.+)`)
	rows := map[string]bool{}
	for _, operations := range d.Paths {
		for _, o := range operations {
			for status, response := range o.Responses {
				for paragraph := range strings.SplitSeq(response.Description, "\n\n") {
					if m := title.FindStringSubmatch(strings.ReplaceAll(paragraph, "\n", " ")); m != nil {
						explained[m[1]] = m[2]
					}
				}
				for _, example := range response.Content["application/problem+json"].Examples {
					var p struct{ Title, Type string }
					if err := json.Unmarshal(example.Value, &p); err != nil {
						t.Fatal(err)
					}
					rows[fmt.Sprintf("| %s | `%s` | %s |", status, p.Title, explained[p.Title])] = true
				}
			}
		}
	}
	for row := range rows {
		if strings.HasSuffix(row, " |  |") {
			t.Errorf("no explanation: %s", row)
		}
	}
	return "| Status | `title` | What it means |\n|---|---|---|\n" + strings.Join(slices.Sorted(maps.Keys(rows)), "\n") + "\n"
}

// docs/reference/errors.md says what to do about each errorCode.
func TestErrorCodesAreExplained(t *testing.T) {
	paper := string(contents(t, filepath.Join(testenv.Root(t), "docs", "reference", "errors.md")))
	codes, _ := at(t, anything(t, theSandbox(t).BaseURL+"/openapi.json"), "components/schemas/SigningFailure/properties/errorCode/enum").([]any)
	if len(codes) < 30 {
		t.Fatalf("%d codes", len(codes))
	}
	for _, code := range codes {
		if !regexp.MustCompile(fmt.Sprintf("(?m)^\\| .*`%v`.* \\| ", cmp.Or(code, any("null")))).MatchString(paper) {
			t.Errorf("nothing is said of %v", code)
		}
	}
}
