package main

import (
	"os"
	"testing"
	"testing/fstest"

	"github.com/google/go-cmp/cmp"
)

// Each text of a small module is found, with its line and its kind, and nothing that people do not read.
func TestList(t *testing.T) {
	module := fstest.MapFS{
		"portal/portal.go": {Data: []byte(`package portal
import "errors"
const query = "SELECT id FROM processes"
var errGone = errors.New("gone")
func open(name string) error {
	s.log.WarnContext(ctx, "link refused", "reason", errors.New("the link has expired"))
	note("the participant has " + fmt.Sprint(fmt.Errorf("%s: signed", name)) + " already")
	return fmt.Errorf("%s: %w", name, regexp.MustCompile("a b").Match("kennitala"))
}
`)},
		"cmd/innsigli/main.go": {Data: []byte("package main\n" +
			"type Flags struct {\n\tFile string `name:\"a b\" help:\"File to sign.\"`\n}\n" +
			"func (Flags) Help() string { return \"It signs.\" }\n" +
			"var _ = kong.Description(\"A service.\")\n" +
			"func run() { fmt.Fprintln(out, \"signed it\") }\n")},
		"cmd/innsigli/main_test.go":            {Data: []byte("package main\nvar _ = errors.New(\"of a test\")\n")},
		"server/config/config.go":              {Data: []byte("package config\nfunc f() { found.add(\"--listen\", \"is missing here\") }\n")},
		"server/internal/notify/wording.go":    {Data: []byte("package notify\nvar label = \"Reason\"\n")},
		"server/internal/telemetry/metrics.go": {Data: []byte("package telemetry\nvar help = \"Requests that were answered.\"\n")},
		"ades/report/words.go":                 {Data: []byte("package report\nvar valid = words{\"Valid.\", \"Gild undirskrift.\"}\n")},
		"httpapi/problems.go":                  {Data: []byte("package httpapi\nvar page = `\n<style>p { color: red }</style>\n<p>{{.Title}} not found</p>`\n")},
		"httpapi/openapi.yaml":                 {Data: []byte("info:\n  description: An API.\npaths:\n  /a:\n    get: {summary: Gets it, operationId: get a}\n")},
		"portal/page/words/sign.json":          {Data: []byte("{\n\t\"sign\": {\"is\": \"Undirrita \\\"skjal\\\"\", \"en\": \"Sign\"}\n}\n")},
		"portal/page/html/sign.html":           {Data: []byte("<p class=\"a b\">\nSign\n{{.T \"sign\"}}</p><img alt=\"A picture\">\n")},
		"portal/page/testdata/records-1.json":  {Data: []byte(`{"is": "a record"}`)},
		"internal/test/pdf/pdf.go":             {Data: []byte("not Go")},
	}
	want := []text{
		{"ades/report/words.go", 2, "report", "Valid."},
		{"ades/report/words.go", 2, "report", "Gild undirskrift."},
		{"cmd/innsigli/main.go", 3, "help", "File to sign."},
		{"cmd/innsigli/main.go", 5, "help", "It signs."},
		{"cmd/innsigli/main.go", 6, "help", "A service."},
		{"cmd/innsigli/main.go", 7, "output", "signed it"},
		{"httpapi/openapi.yaml", 2, "api", "An API."},
		{"httpapi/openapi.yaml", 5, "api", "Gets it"},
		{"httpapi/problems.go", 4, "problem", "not found"},
		{"portal/page/html/sign.html", 1, "page", "Sign"},
		{"portal/page/html/sign.html", 3, "page", "A picture"},
		{"portal/page/words/sign.json", 2, "page", `is: Undirrita "skjal"`},
		{"portal/page/words/sign.json", 2, "page", "en: Sign"},
		{"portal/portal.go", 4, "error", "gone"},
		{"portal/portal.go", 6, "log", "link refused"},
		{"portal/portal.go", 6, "error", "the link has expired"},
		{"portal/portal.go", 7, "error", "%s: signed"},
		{"portal/portal.go", 7, "other", "the participant has … already"},
		{"server/config/config.go", 2, "fault", "is missing here"},
		{"server/internal/notify/wording.go", 2, "mail", "Reason"},
		{"server/internal/telemetry/metrics.go", 2, "metric", "Requests that were answered."},
	}
	got, err := list(module)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, got, cmp.AllowUnexported(text{})); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// This module has texts of each kind.
func TestModuleHasEachKind(t *testing.T) {
	texts, err := list(os.DirFS("../.."))
	if err != nil {
		t.Fatal(err)
	}
	count := make(map[string]int)
	for _, one := range texts {
		count[one.kind]++
	}
	for _, kind := range kinds {
		if count[kind] < 20 {
			t.Errorf("%d texts of kind %s", count[kind], kind)
		}
	}
	if len(count) != len(kinds) {
		t.Errorf("kinds %v, listed are %v", count, kinds)
	}
}
