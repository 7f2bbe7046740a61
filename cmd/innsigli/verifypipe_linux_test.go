package main

import (
	"strings"
	"syscall"
	"testing"
)

// No process writes to the pipe, and the program does not wait for it. A folder is no document either.
func TestVerifyNoRegularFile(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := syscall.Mkfifo("pipe.pdf", 0o600); err != nil {
		t.Fatal(err)
	}
	got := output(t, failed, "verify", "pipe.pdf", ".")
	if strings.Count(got, "The document cannot be read: not a regular file") != 2 {
		t.Error(got)
	}
}
