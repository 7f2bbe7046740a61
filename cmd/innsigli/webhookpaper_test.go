package main

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/webhook"
)

// What docs/webhooks.md says about subscribing, typed as it stands there. The endpoint learns the
// secret in between, and is told off as the paper says when it accepts everything.
func TestPaperSubscribes(t *testing.T) {
	testenv.Program(t, "curl")
	shell := testenv.Program(t, "sh")
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	folder := shortFolder(t)
	p := startSandbox(t, program, "bolt:"+filepath.Join(folder, "store.db"), nil, "--insecure-allow-private-webhooks")
	steps, refusals := testenv.Blocks(t, "docs/webhooks.md", "shell"), testenv.Blocks(t, "docs/webhooks.md", "json")
	if len(steps) != 2 || len(refusals) != 1 {
		t.Fatalf("%d blocks of shell and %d of JSON", len(steps), len(refusals))
	}
	run := func(endpoint http.Handler) []string {
		t.Helper()
		server := httptest.NewServer(endpoint)
		defer server.Close()
		here := strings.NewReplacer("https://sign.example", p.BaseURL, "https://hooks.example.com", server.URL)
		const withStatus = "curl() { command curl -w ' %{http_code}\\n' \"$@\"; }\n" // behind each answer, which is a line
		script := withStatus + here.Replace(steps[0]+"printf %s \"$SECRET\" > secret\n"+steps[1])
		command := exec.CommandContext(t.Context(), shell, "-e", "-c", script)
		command.Dir = folder
		command.Env = append(os.Environ(), "CLIENT_ID="+clientID, "CLIENT_SECRET="+clientSecret)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("%v\n%s\n%s", err, script, out)
		}
		return strings.Split(strings.TrimSpace(string(out)), "\n")
	}

	verifying := webhook.Receiver{GetKeys: func() []webhook.Key {
		text, unread := os.ReadFile(filepath.Join(folder, "secret"))
		keys, err := webhook.ParseKeys(string(text))
		if err != nil {
			t.Error(unread, err)
		}
		return keys
	}}
	said := run(verifying.Handler(func(context.Context, webhook.Event) error { return nil }))
	if len(said) != 3 || !strings.Contains(said[0], `"isActive":true`) || !strings.HasSuffix(said[0], " 200") || said[1] != " 204" || !strings.HasSuffix(said[2], " 200") {
		t.Errorf("an endpoint that verifies: %q", said)
	}

	said = run(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusNoContent) }))
	body, refused := strings.CutSuffix(said[0], " 422")
	if diff := cmp.Diff(members(t, strings.Replace(refusals[0], "https://sign.example", p.BaseURL, 1)), members(t, body)); diff != "" || !refused {
		t.Errorf("an endpoint that accepts everything: %q\n%s", said[0], diff)
	}
}

func members(t *testing.T, text string) (object map[string]any) {
	t.Helper()
	if err := json.Unmarshal([]byte(text), &object); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return object
}
