package env

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// OpenSSL runs openssl in a temporary folder. The arguments name the files of that folder without a path.
type OpenSSL struct {
	t               testing.TB
	program, folder string
}

// NewOpenSSL returns an OpenSSL with an empty folder.
func NewOpenSSL(t testing.TB) OpenSSL {
	t.Helper()
	return OpenSSL{t, Program(t, "openssl"), t.TempDir()}
}

// Write writes a file and returns its name.
func (o OpenSSL) Write(name string, content []byte) string {
	o.t.Helper()
	if err := os.WriteFile(filepath.Join(o.folder, name), content, 0o600); err != nil {
		o.t.Fatal(err)
	}
	return name
}

// Read reads a file.
func (o OpenSSL) Read(name string) []byte {
	o.t.Helper()
	return ReadFile(o.t, filepath.Join(o.folder, name))
}

// Try runs openssl and returns what it printed, and an error if its exit status is not 0.
func (o OpenSSL) Try(args ...string) (string, error) {
	cmd := exec.Command(o.program, args...)
	cmd.Dir = o.folder
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// Run is [OpenSSL.Try], and fails the test if there is an error.
func (o OpenSSL) Run(args ...string) string {
	o.t.Helper()
	out, err := o.Try(args...)
	if err != nil {
		o.t.Fatalf("openssl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
	return out
}
