package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// "innsigli sandbox" prints what to type to get a document signed. Typed as it is
// printed, it does.
func TestWalkThrough(t *testing.T) {
	testenv.Program(t, "curl")
	shell := testenv.Program(t, "sh")
	folder := shortFolder(t)
	if err := os.WriteFile(filepath.Join(folder, "document.pdf"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	script, root := printedCommands(t, filepath.Join(folder, "store.db"))
	command := exec.Command(shell, "-e", "-c", script)
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, script, text)
	}
	command = exec.Command(shell, "-e", "-c", "curl -s "+root+" > root.pem")
	command.Dir = folder
	if text, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	wantStamp(t, testenv.ReadFile(t, filepath.Join(folder, "signed.pdf")))
	output(t, done, "verify", filepath.Join(folder, "signed.pdf"), "--trust", filepath.Join(folder, "root.pem"))
}

// So does what the README says, for one person and for several.
func TestREADMEWalksThrough(t *testing.T) {
	testenv.Slow(t, "the program is built")
	testenv.Program(t, "curl")
	shell := testenv.Program(t, "sh")
	folder := shortFolder(t)
	if err := os.WriteFile(filepath.Join(folder, "document.pdf"), document, 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := launch(installed(t), folder, os.Environ(), "sandbox", "--json", "--listen", "127.0.0.1:0", "--store", "bolt:store.db",
		"--client-id", "example", "--client-secret", "only-for-trying-it-out")
	if err != nil {
		t.Fatal(err)
	}
	p.killLater(t)
	script := ""
	for _, block := range testenv.Blocks(t, "README.md", "sh") {
		if strings.HasPrefix(block, "API=") || strings.HasPrefix(block, "PERSON=") {
			script += strings.ReplaceAll(block, "http://127.0.0.1:8080", p.BaseURL)
		}
	}
	command := exec.Command(shell, "-e", "-c", script)
	command.Dir = folder
	said, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(said), `"status":"Completed","createdAt"`) {
		t.Errorf("%v\n%s\n%s", err, script, said)
	}
	if err := os.WriteFile(filepath.Join(folder, "root.pem"), []byte(p.RootCertificate), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, signer := range map[string]string{"signed.pdf": "Sandbox Signer", "contract.pdf": "Jóna Jónsdóttir"} {
		wantStamp(t, testenv.ReadFile(t, filepath.Join(folder, name)))
		report := output(t, done, "verify", filepath.Join(folder, name), "--trust", filepath.Join(folder, "root.pem"))
		if !strings.Contains(report, "PAdES-BASELINE-LT") || !strings.Contains(report, signer) {
			t.Error(report)
		}
	}
}

// printedCommands starts a sandbox that talks to people, and returns the commands that
// it prints and the address of its root, which it prints last.
func printedCommands(t *testing.T, store string) (script, root string) {
	t.Helper()
	program, err := exec.LookPath("innsigli")
	if err != nil {
		t.Fatal(err)
	}
	command := exec.Command(program, "sandbox", "--listen", "127.0.0.1:0", "--store", "bolt:"+store)
	out, err := command.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		command.Process.Kill()
		command.Wait()
	})
	begun := false
	for lines := bufio.NewScanner(out); lines.Scan(); {
		line := lines.Text()
		begun = begun || strings.HasPrefix(line, "  TOKEN=")
		if _, address, ok := strings.Cut(line, "test certificates: "); ok {
			return script, address
		}
		if begun {
			script += line + "\n"
		}
	}
	t.Fatalf("the walk-through breaks off:\n%s", script)
	return "", ""
}
