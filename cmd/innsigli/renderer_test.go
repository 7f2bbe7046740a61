package main

import (
	"context"
	"errors"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	server.waitFor(t, `level=INFO msg="compiling the page renderer, to be kept for the next time"`, 1)
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

// Who has no folder for it is not told that it is kept.
func TestColdRendererWithoutFolder(t *testing.T) {
	t.Parallel()
	var said []string
	renderer := newRenderer("")
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	err := renderer.warm(ctx, func(text string) {
		said = append(said, text)
		cancel()
	})
	if diff := cmp.Diff([]string{"compiling the page renderer"}, said); diff != "" || !errors.Is(err, context.Canceled) {
		t.Errorf("%v\n%s", err, diff)
	}
	if err := renderer.Close(); err != nil {
		t.Error(err)
	}
}

// A folder that others can write to is not used, and the log and the doctor say so.
func TestRendererOfUnsafeFolder(t *testing.T) {
	testenv.Slow(t, "the page renderer is compiled")
	t.Parallel()
	folder := t.TempDir()
	store, cache := "bolt:"+filepath.Join(folder, "store.db"), filepath.Join(folder, "cache")
	for _, made := range []string{cache, filepath.Join(cache, "of-others")} {
		if err := errors.Join(os.Mkdir(made, 0o700), os.Chmod(made, 0o777)); err != nil {
			t.Fatal(err)
		}
	}
	for cache, wants := range map[string]string{"": "", testenv.RendererCache(): "", cache: "not kept: " + cache + " has to be a folder"} {
		renderer := newRenderer(cache)
		if wants == "" && cache != "" {
			if _, err := renderer.Warm(t.Context()); err != nil {
				t.Error(err)
			}
		}
		if got := renderer.lost(); !strings.Contains(got, wants) || (got == "") != (wants == "") {
			t.Errorf("of %q: %q", cache, got)
		}
		if err := renderer.Close(); err != nil {
			t.Error(err)
		}
	}
	var sheet checkSheet // of a doctor with all the time that it takes to compile
	doctor{flags: serverFlags{Store: store, storedRendererFlag: storedRendererFlag{cache}}}.renderer(t.Context(), &sheet)
	if len(sheet) != 1 || sheet[0].verdict != checkDoubt || !strings.Contains(sheet[0].says, cache) {
		t.Errorf("the doctor: %+v", sheet)
	}
}
