package main

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The first server on a store compiles the page renderer and says so. It is kept beside the
// store, so that the next one has it.
func TestColdRenderer(t *testing.T) {
	testenv.Slow(t, "the page renderer is compiled")
	t.Parallel()
	program, folder := build(t), shortFolder(t)
	store := filepath.Join(folder, "store.db")
	start := func(store string) *sandboxProcess {
		return startSandbox(t, program, "bolt:"+store, []string{cacheVariable + "="})
	}
	body := withStamp(startText(pdftest.Build(pdftest.Options{}), people[0], "IdpApp", "B", ""), "IdpApp")

	server := start(filepath.Join(folder, "stopped.db"))
	server.waitFor(t, "compiling", 1)
	if rest, err := server.stop(); err != nil || rest != "" {
		t.Errorf("the end of a server while it compiles: %q, %v\n%s", rest, err, server.talk())
	}

	server = start(store)
	server.waitFor(t, `level=INFO msg="compiling the page renderer: the result is kept for the next start"`, 1)
	server.waitFor(t, `level=INFO msg="compiled the page renderer in [0-9.]+m?s"`, 1)
	c := server.signIn(t)
	c.addPeople(t, people[0])
	c.must(t, http.MethodPost, "/api/v1/signing", body)
	if stat, err := os.Stat(store + ".pdfium"); err != nil || stat.Mode().Perm() != 0o700 {
		t.Errorf("the folder of the cache: %v, %v", stat, err)
	}
	if _, err := server.stop(); err != nil {
		t.Error(err)
	}

	server = start(store)
	c.base = server.BaseURL
	c.must(t, http.MethodPost, "/api/v1/signing", body)
	if talk := server.talk(); strings.Contains(talk, "compiled") {
		t.Errorf("the second server: %s", talk)
	}
	if rest, err := server.stop(); err != nil || rest != "" {
		t.Errorf("the end of the server: %q, %v", rest, err)
	}
}
