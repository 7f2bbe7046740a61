package wiretest

import (
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/httpapi"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// The documents of both environments are what OpenAPI 3.1 says, their examples are of their schemas, and the
// linter has nothing to remark on either: .ci/openapi/redocly.yaml says by which rules.
func TestLint(t *testing.T) {
	t.Parallel()
	redocly := testenv.Tool(t, "openapi/node_modules/.bin/redocly")
	folder := t.TempDir()
	write(t, filepath.Join(folder, "sandbox.json"), Sandbox(t).Fetch(t, "/openapi.json"))
	write(t, filepath.Join(folder, "production.json"), production(t))
	node := nodeIn(t, folder)
	node([]string{"REDOCLY_TELEMETRY=off", "REDOCLY_SUPPRESS_UPDATE_NOTICE=true"}, redocly, "lint",
		"--config", filepath.Join(testenv.Root(t), ".ci", "openapi", "redocly.yaml"), "--max-problems=1000", "sandbox.json", "production.json")
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
