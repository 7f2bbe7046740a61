package pdfium_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// TestCompiling checks that no caller waits for the compilation longer than its context or Options.Wait,
// and that a renderer works without a cache that cannot be written.
func TestCompiling(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(file, "folder")
	r := pdfium.New(pdfium.Options{Cache: folder, Wait: time.Millisecond, Limit: enough})
	defer r.Close()
	document := source{page: page200}.bytes()
	if _, err := render(t.Context(), r, document, 200, 100); !errors.Is(err, stamp.ErrNotReady) {
		t.Errorf("Render while compiling: got error %v, want ErrNotReady", err)
	}
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := r.Warm(canceled); !errors.Is(err, context.Canceled) {
		t.Errorf("Warm after the end of its context: got error %v", err)
	}
	if _, err := render(canceled, r, document, 200, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("Render after the end of its context: got error %v", err)
	}
	cold, err := r.Warm(t.Context())
	want := ", which was not kept: " + folder + " has to be a folder that only this user can write to"
	if got := r.NotKept(); err != nil || !cold || r.IsCached() || got != want {
		t.Fatalf("got cold %v, kept %v, error %v, reason %q, want %q", cold, r.IsCached(), err, got, want)
	}
	drawn(t, r, document, 200, 100)
}

// TestDamagedCache checks that damaged entries of the cache are compiled again, once.
func TestDamagedCache(t *testing.T) {
	shared(t) // makes the entries
	folder := filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(folder, os.DirFS(testenv.RendererCache())); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(folder), "*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("got files of the cache %q, error %v", files, err)
	}
	for _, name := range files {
		path := filepath.Join(folder, name)
		if err := os.Truncate(path, int64(len(testenv.ReadFile(t, path))/2)); err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []bool{true, false} {
		r := pdfium.New(pdfium.Options{Cache: folder, Limit: enough})
		cold, err := r.Warm(t.Context())
		if err != nil || cold != want || !r.IsCached() || r.NotKept() != "" {
			t.Fatalf("got cold %v, kept %v, error %v, want cold %v and kept", cold, r.IsCached(), err, want)
		}
		drawn(t, r, source{page: page200}.bytes(), 200, 100)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// TestCloseWhileCompiling checks that Close ends the compilation, and that the folder of the cache is made
// for its owner alone.
func TestCloseWhileCompiling(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	r := pdfium.New(pdfium.Options{Cache: folder})
	warmed := make(chan error)
	go func() {
		_, err := r.Warm(t.Context())
		warmed <- err
	}()
	testenv.Wait(t, "the folder of the cache", func() bool {
		_, err := os.Stat(folder)
		return err == nil
	})
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-warmed; !errors.Is(err, pdfium.ErrClosed) {
		t.Errorf("Warm: got error %v, want ErrClosed", err)
	}
	if stat, err := os.Stat(folder); err != nil || stat.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v, error %v, want 0700", stat.Mode(), err)
	}
}

// TestWarmTelling checks that a caller without a cache is notified of the compilation, and not that the
// code is kept.
func TestWarmTelling(t *testing.T) {
	t.Parallel()
	r := pdfium.New(pdfium.Options{})
	ctx, cancel := context.WithCancel(t.Context())
	var texts []string
	err := r.WarmNotify(ctx, func(text string) {
		texts = append(texts, text)
		cancel()
	})
	if want := "[compiling the page renderer]"; fmt.Sprint(texts) != want || !errors.Is(err, context.Canceled) || r.NotKept() != "" {
		t.Errorf("got %q, error %v, reason %q, want %s", texts, err, r.NotKept(), want)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}
