package archtest_test

import (
	"bufio"
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The README's steps, typed into a shell, sign a document in the sandbox.
func TestREADMEStepsSign(t *testing.T) {
	bash := testenv.Program(t, "bash")
	testenv.Program(t, "curl")
	start, steps := "", ""
	for _, block := range blocks(t, "README.md", "sh") {
		if strings.Contains(block, "innsigli sandbox") {
			start = block
		}
		if strings.Contains(block, "curl") {
			steps = block
		}
	}
	folder := t.TempDir()
	program := build(t, folder)
	base, root := startSandbox(t, program, folder, strings.Fields(start)[3:])
	for name, content := range map[string][]byte{"document.pdf": pdftest.Build(pdftest.Options{}), "root.pem": []byte(root)} {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}

	const documented = "http://127.0.0.1:8080/"
	if !strings.Contains(steps, documented) {
		t.Fatalf("the steps do not name %s", documented)
	}
	shell := exec.CommandContext(t.Context(), bash, "-euo", "pipefail", "-c", strings.ReplaceAll(steps, documented, base+"/"))
	shell.Dir = folder
	out, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("the steps: %v\n%s", err, out)
	}
	if !bytes.Contains(out, []byte("AuthorizationPending")) || !bytes.Contains(out, []byte(`"1234"`)) {
		t.Errorf("no pending answer with a code:\n%s", out)
	}
	verify := exec.CommandContext(t.Context(), program, "verify", "signed.pdf", "--trust", "root.pem")
	verify.Dir = folder
	if out, err := verify.CombinedOutput(); err != nil {
		t.Errorf("verify: %v\n%s", err, out)
	}
}

// build builds the program.
func build(t *testing.T, folder string) string {
	t.Helper()
	noticeChanges(t)
	program := filepath.Join(folder, "innsigli")
	command := exec.CommandContext(t.Context(), "go", "build", "-o", program, "./cmd/innsigli")
	command.Dir = testenv.Root(t)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	return program
}

// startSandbox runs the sandbox with the arguments given on a free port until the test
// ends.
func startSandbox(t *testing.T, program, folder string, arguments []string) (base, root string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, append(arguments, "--listen", "127.0.0.1:0", "--json")...)
	command.Dir, command.Stderr = folder, os.Stderr
	command.Env = append(os.Environ(), "INNSIGLI_RENDERER_CACHE="+testenv.RendererCache())
	command.Cancel = func() error { return command.Process.Signal(os.Interrupt) }
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { // the context has ended by now, and so interrupted the sandbox
		err := command.Wait()
		if !command.ProcessState.Success() {
			t.Errorf("the sandbox: %v", err)
		}
	})
	line, err := bufio.NewReader(out).ReadBytes('\n')
	if err != nil {
		t.Fatalf("the sandbox said nothing: %v", err)
	}
	var ready struct{ BaseURL, RootCertificate string }
	if err := json.Unmarshal(line, &ready); err != nil {
		t.Fatalf("%v: %s", err, line)
	}
	testenv.Wait(t, "the page renderer is compiled", func() bool {
		response, err := http.Get(ready.BaseURL + "/readyz")
		if err != nil {
			return false
		}
		response.Body.Close()
		return response.StatusCode == http.StatusOK
	})
	return ready.BaseURL, ready.RootCertificate
}
