package webhook_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// snippetCase is a request, and whether it verifies.
type snippetCase struct {
	Name     string
	Header   http.Header
	Body     []byte
	Keys     []string
	Verifies bool
}

// The paper's verifiers for Node and Python judge as Verify does.
func TestPaperVerifies(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		block, program string
		command        []string
	}{
		"Node":   {block(t, "js", "verify"), "verify.mjs", []string{testenv.Tool(t, "openid/bin/node"), "run.mjs"}},
		"Python": {block(t, "python", "verify"), "verify.py", []string{testenv.Tool(t, "pyhanko/bin/python"), "run.py"}},
	} {
		t.Run(name, func(t *testing.T) {
			folder := t.TempDir()
			if err := os.WriteFile(filepath.Join(folder, test.program), []byte(test.block), 0o600); err != nil {
				t.Fatal(err)
			}
			want, all := make(map[string]bool), cases(t)
			for _, c := range all {
				want[c.Name] = c.Verifies
			}
			got := make(map[string]bool)
			runForeign(t, folder, test.command, asForeign(all), &got)
			if diff := cmp.Diff(want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// asForeign has headers as other languages have them: by name in lower case, one value each.
func asForeign(all []snippetCase) []map[string]any {
	var out []map[string]any
	for _, c := range all {
		h := make(map[string]string)
		for name := range c.Header {
			h[strings.ToLower(name)] = c.Header.Get(name)
		}
		out = append(out, map[string]any{"name": c.Name, "headers": h, "body": c.Body, "keys": append([]string{}, c.Keys...)})
	}
	return out
}

// runForeign runs a program of testdata/foreign in a folder, with JSON for it to read and to write.
func runForeign(t *testing.T, folder string, command []string, in, out any) {
	t.Helper()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join("testdata", "foreign"))); err != nil {
		t.Fatal(err)
	}
	input, err := json.Marshal(in)
	if err != nil {
		t.Fatal(err)
	}
	run := exec.CommandContext(t.Context(), command[0], command[1:]...)
	var talk bytes.Buffer
	run.Dir, run.Stdin, run.Stderr = folder, bytes.NewReader(input), &talk
	output, err := run.Output()
	if err != nil {
		t.Fatalf("%v: %v\n%s", command, err, talk.Bytes())
	}
	if err := json.Unmarshal(output, out); err != nil {
		t.Fatalf("%v: %v: %s", command, err, output)
	}
}
