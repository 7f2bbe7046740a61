package wiretest

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The documents of both environments are what OpenAPI 3.1 says, their examples are of their schemas, and two
// linters have nothing to remark on either: redocly.yaml and spectral.yaml in .ci/openapi say by which rules.
func TestLint(t *testing.T) {
	t.Parallel()
	redocly, spectral := testenv.Tool(t, "openapi/node_modules/.bin/redocly"), testenv.Tool(t, "openapi/node_modules/.bin/spectral")
	folder := t.TempDir()
	write(t, filepath.Join(folder, "sandbox.json"), Sandbox(t).Fetch(t, "/openapi.json"))
	write(t, filepath.Join(folder, "production.json"), production(t))
	node := nodeIn(t, folder)
	rules := filepath.Join(testenv.Root(t), ".ci", "openapi")
	node([]string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}, redocly, "lint",
		"--config", filepath.Join(rules, "redocly.yaml"), "--max-problems=1000", "sandbox.json", "production.json")
	node(nil, spectral, "lint", "--ruleset", filepath.Join(rules, "spectral.yaml"), "--fail-severity", "hint", "sandbox.json", "production.json")
}

// production is the document of a server in production.
func production(t *testing.T) []byte {
	t.Helper()
	api := httpapi.New(httpapi.Config{ // whose parts nobody calls
		BaseURL:  "https://sign.example",
		Accounts: struct{ httpapi.Accounts }{},
		Signals:  struct{ httpapi.BusySignals }{},
		Signing:  struct{ httpapi.Signing }{},
		Webhooks: struct{ httpapi.Webhooks }{},
		Portal:   struct{ httpapi.Portal }{},
	})
	recorder := httptest.NewRecorder()
	api.ServeHTTP(recorder, httptest.NewRequest(http.MethodGet, "/openapi.json", nil))
	if recorder.Code != http.StatusOK {
		t.Fatalf("status %d: %.300s", recorder.Code, recorder.Body)
	}
	return recorder.Body.Bytes()
}
