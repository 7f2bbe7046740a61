package wiretest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// A client that is generated from the document compiles under the compiler's strict rules, and signs to the
// end: by a signing request, and in a signing process.
func TestTypeScriptClient(t *testing.T) {
	testenv.Slow(t, "a client is made and compiled")
	t.Parallel()
	tools := filepath.Dir(filepath.Dir(testenv.Tool(t, "openapi/node_modules/.bin")))
	server, folder := Sandbox(t), t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(filepath.Join(testenv.Root(t), "docs/examples/typescript/generated"))); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(filepath.Join(tools, "node_modules"), filepath.Join(folder, "node_modules")); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(folder, "document.pdf"), pdftest.Build(pdftest.Options{}))
	write(t, filepath.Join(folder, "root.pem"), []byte(server.RootCertificate))
	node := nodeIn(t, folder)
	node(nil, "node_modules/.bin/openapi-typescript", server.BaseURL+"/openapi.json", "--default-non-nullable=false", "--output", "api.d.ts")
	node(nil, "node_modules/.bin/tsc")
	node([]string{"INNSIGLI_URL=" + server.BaseURL, "CLIENT_ID=" + server.ClientID, "CLIENT_SECRET=" + server.ClientSecret},
		"sign.js", "document.pdf", "signed.pdf", "signed-in-process.pdf")
	for _, name := range []string{"signed.pdf", "signed-in-process.pdf"} {
		verify := exec.CommandContext(t.Context(), server.Program, "verify", "--trust", "root.pem", name)
		verify.Dir = folder
		if output, err := verify.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, output)
		}
	}
}

// nodeIn runs scripts with the Node that .ci/run installs, in a folder and with more environment.
func nodeIn(t *testing.T, folder string) func(environment []string, arguments ...string) []byte {
	t.Helper()
	program := testenv.Tool(t, "openid/bin/node")
	return func(environment []string, arguments ...string) []byte {
		t.Helper()
		command := exec.CommandContext(t.Context(), program, arguments...)
		command.Dir, command.Env = folder, append(os.Environ(), environment...)
		output, err := command.CombinedOutput()
		if err != nil {
			t.Fatalf("%s: %v\n%s", arguments, err, output)
		}
		return output
	}
}

func write(t *testing.T, path string, content []byte) {
	t.Helper()
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
}
