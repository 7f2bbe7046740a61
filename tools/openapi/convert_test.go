package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	openapitest "github.com/innsigli/innsigli/internal/test/openapi"
)

// The JSON in httpapi is that of openapi.yaml as it is now, its references lead somewhere, and its examples are what
// their schemas say.
func TestJSONIsGenerated(t *testing.T) {
	folder := filepath.Join(testenv.Root(t), "httpapi")
	source, err := os.ReadFile(filepath.Join(folder, "openapi.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, environment := range environments {
		document, err := convert(source, environment)
		if err != nil {
			t.Fatal(err)
		}
		if committed, err := os.ReadFile(filepath.Join(folder, jsonName(environment))); err != nil || !bytes.Equal(committed, document) {
			t.Errorf("%s is not made from openapi.yaml as it is now: run go generate ./httpapi (%v)", jsonName(environment), err)
		}
		if _, err := openapitest.Parse(document); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
		if err := openapitest.Examples(document); err != nil {
			t.Errorf("%s: %v", environment, err)
		}
	}
}

func TestConvert(t *testing.T) {
	const source = `
b: &shared {x: 1, y: [true, null, 1.5]}
a: {x-innsigli-environments: [sandbox], z: '0101302989'}
c:
  - {x-innsigli-environments: [production, trial], in: production}
  - *shared
d: |
  Both.

  <!-- sandbox -->

  Sandbox & <b>.

  <!-- end -->

  After.
`
	for environment, want := range map[string]string{
		"sandbox":    `{"b":{"x":1,"y":[true,null,1.5]},"a":{"z":"0101302989"},"c":[{"x":1,"y":[true,null,1.5]}],"d":"Both.\n\nSandbox & <b>.\n\nAfter.\n"}`,
		"production": `{"b":{"x":1,"y":[true,null,1.5]},"c":[{"in":"production"},{"x":1,"y":[true,null,1.5]}],"d":"Both.\n\nAfter.\n"}`,
	} {
		got, err := convert([]byte(source), environment)
		if err != nil || string(got) != want+"\n" {
			t.Errorf("%s: %v\n%s\nwant\n%s", environment, err, got, want)
		}
	}
}

func TestConvertRefuses(t *testing.T) {
	for source, want := range map[string]string{
		"":                                       "empty",
		"a: 1\nb: 2\na: 3":                       "line 3",
		"a: {x-innsigli-environments: [sanbox]}": "sanbox",
		"a: {x-innsigli-environments: sandbox}":  "line 1",
		"a: |\n  x\n  <!-- sandbox -->\n  y":     "comment",
		"a: 2026-03-02T09:15:00Z":                "quotes",
		"b: &b {x: 1}\na:\n  <<: *b\n  y: 2":     "merge",
	} {
		if _, err := convert([]byte(source), "production"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want an error with %q", source, err, want)
		}
	}
}
