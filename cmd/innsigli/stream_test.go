package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	catest "github.com/innsigli/innsigli/internal/test/ca"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// A PDF is not read into memory to be signed or extended, from a file or a pipe, to another name or its own. The file that is
// written begins with what was read, has the permissions of any new file, and is the only one.
func TestLargePDFs(t *testing.T) {
	const size, limit = 32 << 20, 8 << 20
	ca := catest.New(t)
	address := catest.Serve(t, ca)
	folder := t.TempDir()
	writeSigner(t, folder, ca)
	t.Chdir(folder)
	if err := os.WriteFile("in.pdf", pdftest.Build(pdftest.Options{Payload: size}), 0o600); err != nil {
		t.Fatal(err)
	}
	sign := []string{"--cert", "chain.pem", "--key", "key.pem"}
	extend := []string{"--level", "LT", "--trust", "root.pem", "--tsa", address + sandboxca.PathTimestamp, "--insecure-allow-private-addresses"}
	for _, step := range []struct {
		name, command, in, out string
		flags                  []string
	}{
		{"sign", "sign", "in.pdf", "signed.pdf", sign},
		{"extend", "extend", "signed.pdf", "extended.pdf", extend},
		{"sign in place", "sign", "extended.pdf", "extended.pdf", sign},
		{"extend in place", "extend", "extended.pdf", "extended.pdf", extend},
		{"sign from a pipe", "sign", "pipe", "piped.pdf", sign},
	} {
		t.Run(step.name, func(t *testing.T) {
			in, path := "in.pdf", step.in
			if step.in == "pipe" {
				path = pipe(t, in)
			} else {
				in = step.in
			}
			before := testenv.ReadFile(t, in)
			args := append([]string{step.command, path, "-o", step.out}, step.flags...)
			if allocated := testenv.Allocated(func() { output(t, done, args...) }); allocated > limit {
				t.Errorf("%d MB were allocated for %d MB, more than %d", allocated>>20, size>>20, limit>>20)
			}
			after := testenv.ReadFile(t, step.out)
			if !bytes.HasPrefix(after, before) || len(after) == len(before) {
				t.Errorf("%d bytes do not begin with the %d that were read", len(after), len(before))
			}
			output(t, done, "verify", step.out, "--trust", "root.pem")
			checkNewFile(t, step.out)
		})
	}
}

// A command that is canceled leaves no file.
func TestCanceled(t *testing.T) {
	folder := t.TempDir()
	writeSigner(t, folder, catest.New(t))
	t.Chdir(folder)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	var stdout, stderr bytes.Buffer
	status := run(ctx, []string{"sign", "in.pdf", "--cert", "chain.pem", "--key", "key.pem", "-o", "out.pdf"}, &stdout, &stderr)
	if status != failed || !strings.Contains(stderr.String(), "writing out.pdf: context canceled") {
		t.Errorf("exit status %d: %s", status, &stderr)
	}
	if left, err := filepath.Glob("out.pdf*"); err != nil || len(left) > 0 {
		t.Error(left, err)
	}
}

// pipe returns the path of a pipe from which the content of a file is read.
func pipe(t *testing.T, file string) string {
	t.Helper()
	if runtime.GOOS == "windows" {
		t.Skip("a pipe has no path on Windows")
	}
	from, to, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	content := testenv.ReadFile(t, file)
	written := make(chan error, 1)
	go func() {
		_, err := to.Write(content)
		written <- err
		to.Close()
	}()
	t.Cleanup(func() {
		from.Close()
		if err := <-written; err != nil {
			t.Error(err)
		}
	})
	return fmt.Sprintf("/dev/fd/%d", from.Fd())
}

// checkNewFile checks that a file has the permissions of a new file, and that no temporary file is beside it.
func checkNewFile(t *testing.T, path string) {
	t.Helper()
	if err := os.WriteFile("new", nil, 0o666); err != nil {
		t.Fatal(err)
	}
	want, err := os.Stat("new")
	if err != nil {
		t.Fatal(err)
	}
	if got, err := os.Stat(path); err != nil || got.Mode() != want.Mode() {
		t.Errorf("permissions %v, want %v: %v", got, want.Mode(), err)
	}
	if left, err := filepath.Glob("*.tmp"); err != nil || len(left) > 0 {
		t.Errorf("left behind: %s, %v", strings.Join(left, " "), err)
	}
}
