package wiretest

import (
	"os"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The documents of all environments are what OpenAPI 3.1 says, their examples are of their schemas, and two
// linters have nothing to remark on either: redocly.yaml and spectral.yaml in .ci/openapi say by which rules.
func TestLint(t *testing.T) {
	t.Parallel()
	redocly, spectral := testenv.Tool(t, "openapi/node_modules/.bin/redocly"), testenv.Tool(t, "openapi/node_modules/.bin/spectral")
	folder := t.TempDir()
	var documents []string
	for _, environment := range []string{"sandbox", "production", "trial"} {
		name := "openapi." + environment + ".json"
		content, err := os.ReadFile(filepath.Join(testenv.Root(t), "httpapi", name))
		if err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(folder, name), content)
		documents = append(documents, name)
	}
	node := nodeIn(t, folder)
	rules := filepath.Join(testenv.Root(t), ".ci", "openapi")
	node([]string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}, append([]string{redocly, "lint",
		"--config", filepath.Join(rules, "redocly.yaml"), "--max-problems=1000"}, documents...)...)
	node(nil, append([]string{spectral, "lint", "--ruleset", filepath.Join(rules, "spectral.yaml"), "--fail-severity", "hint"}, documents...)...)
}
