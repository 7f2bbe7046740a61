package wiretest

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// Clients that generators make of the document with default settings compile, and sign.
// testdata/clients has the program around each; TestTypeScriptClient is about one more generator.
func TestGeneratedClients(t *testing.T) {
	testenv.Slow(t, "clients are made and compiled")
	t.Parallel()
	tools := filepath.Dir(testenv.Tool(t, "clients/bin/ogen"))
	python := filepath.Dir(testenv.Tool(t, "openapi-python/bin/openapi-python-client"))
	for name, c := range map[string]struct {
		folder           string
		generate, invoke []string
	}{
		"oapi-codegen": {
			"oapicodegen", []string{filepath.Join(tools, "oapi-codegen"), "-package", "api", "-o", "api/api.gen.go", "openapi.json"},
			[]string{"go", "run", "."},
		},
		"ogen": {
			"ogen", []string{filepath.Join(tools, "ogen"), "--target", "api", "--clean", "openapi.json"},
			[]string{"go", "run", "."},
		},
		"openapi-python-client": {
			"python", []string{filepath.Join(python, "openapi-python-client"), "generate", "--path", "openapi.json", "--meta", "none", "--output-path", "api"},
			[]string{filepath.Join(python, "python"), "sign.py"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server, folder := Sandbox(t), t.TempDir()
			if err := os.CopyFS(folder, os.DirFS("testdata/clients")); err != nil {
				t.Fatal(err)
			}
			inside := filepath.Join(folder, c.folder)
			write(t, filepath.Join(inside, "openapi.json"), server.Fetch(t, "/openapi.json"))
			write(t, filepath.Join(inside, "document.pdf"), pdftest.Build(pdftest.Options{}))
			write(t, filepath.Join(inside, "root.pem"), []byte(server.RootCertificate))
			run := func(environment []string, arguments ...string) {
				t.Helper()
				command := exec.CommandContext(t.Context(), arguments[0], arguments[1:]...)
				command.Dir, command.Env = inside, append(os.Environ(), environment...)
				if output, err := command.CombinedOutput(); err != nil {
					t.Fatalf("%s: %v\n%s", arguments, err, output)
				}
			}
			run([]string{"PATH=" + python + ":" + os.Getenv("PATH")}, c.generate...)
			run([]string{"INNSIGLI_URL=" + server.BaseURL, "CLIENT_ID=" + server.ClientID, "CLIENT_SECRET=" + server.ClientSecret},
				append(c.invoke, "document.pdf", "signed.pdf")...)
			run(nil, server.Program, "verify", "--trust", "root.pem", "signed.pdf")
		})
	}
}
