package main

import (
	"context"
	"encoding/json"
	"io"
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

func TestRequestsAsTheyWereReceived(t *testing.T) {
	want := http.Header{"Webhook-Id": {"1"}, "X": {"a", "b"}}
	const headers = "webhook-id: 1\nX: a\nx:b\n"
	for name, test := range map[string]struct {
		request string
		want    http.Header
		body    string
	}{
		"headers and body":          {headers + "\n{}", want, "{}"},
		"with a request line":       {"POST /hooks?a=b:c HTTP/1.1\n" + headers + "\n{}", want, "{}"},
		"of HTTP/2":                 {"POST /hooks HTTP/2\n" + headers + "\n{}", want, "{}"},
		"line ends of the wire":     {strings.ReplaceAll("POST / HTTP/1.1\n"+headers+"\n", "\n", "\r\n") + "{}", want, "{}"},
		"the body's own line ends":  {headers + "\n\n{\r\n}\n\n", want, "\n{\r\n}\n\n"},
		"bytes that are no text":    {headers + "\n\xff\x00", want, "\xff\x00"},
		"no body":                   {headers + "\n", want, ""},
		"no headers":                {"\n{}", http.Header{}, "{}"},
		"a body like a header":      {headers + "\na: b\n", want, "a: b\n"},
		"a line that is continued":  {"X: a\n  b\n\n", http.Header{"X": {"a b"}}, ""},
		"as much as there may be":   {headers + "\n" + strings.Repeat("a", maxRequest-len(headers)-1), want, strings.Repeat("a", maxRequest-len(headers)-1)},
		"more":                      {headers + "\n" + strings.Repeat("a", maxRequest), nil, ""},
		"nothing":                   {"", nil, ""},
		"no empty line":             {headers, nil, ""},
		"a body alone":              {`{"type":"a"}` + "\n", nil, ""},
		"a line that is no header":  {"webhook-id: 1\nhello\n\n{}", nil, ""},
		"two request lines":         {"POST / HTTP/1.1\nPOST / HTTP/1.1\n" + headers + "\n", nil, ""},
		"a request line at the end": {"X: a\nPOST / HTTP/1.1\n\n", nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			header, body, err := readRequest(strings.NewReader(test.request))
			if diff := cmp.Diff(test.want, header); diff != "" || string(body) != test.body || (err == nil) != (test.want != nil) {
				t.Errorf("%v, %d bytes of body %s", err, len(body), diff)
			}
		})
	}
	if _, _, err := readRequest(io.MultiReader(strings.NewReader(headers), brokenPipe{})); err == nil {
		t.Error("no error of a request that breaks off")
	}
}

type brokenPipe struct{}

func (brokenPipe) Read([]byte) (int, error) { return 0, io.ErrClosedPipe }

// What is foreign does nothing to a terminal, and is not endless.
func TestForeignTextIsShownSafely(t *testing.T) {
	for text, want := range map[string]string{
		"":                        "",
		"process.completed":       "process.completed",
		"Jón":                     "Jón",
		"\x1b[2J\n\x00":           `\x1b[2J\n\x00`,
		"\u202e":                  `\u202e`,
		"\xff":                    `\xff`,
		`"quoted"`:                `\"quoted\"`,
		strings.Repeat("a", 1000): strings.Repeat("a", 256),
	} {
		if got := shown(text); got != want {
			t.Errorf("%q is shown as %q, want %q", text, got, want)
		}
	}
}

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
