package pdfium_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// While code is compiled, which is done once, pages are not drawn, and nobody waits for long.
// A cache that cannot be written is done without.
func TestCold(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	r := pdfium.New(pdfium.Options{Cache: filepath.Join(file, "folder"), Wait: time.Millisecond, Limit: enough})
	defer r.Close()
	document := source{page: page200}.bytes()
	if _, err := rendered(t.Context(), r, document, 200, 100); !errors.Is(err, stamp.ErrNotReady) {
		t.Errorf("drawing at once: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.Warm(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("warming when the time is up already: %v", err)
	}
	if _, err := rendered(ended, r, document, 200, 100); !errors.Is(err, context.Canceled) {
		t.Errorf("drawing when the time is up already: %v", err)
	}
	cold, err := r.Warm(t.Context())
	if err != nil || !cold || r.Kept() {
		t.Fatalf("cold: %v, kept: %v, %v", cold, r.Kept(), err)
	}
	drawn(t, r, document, 200, 100)
}

// An entry of the cache that is damaged is made again.
func TestDamagedCache(t *testing.T) {
	shared(t) // has made the entries
	folder := filepath.Join(t.TempDir(), "cache")
	if err := os.CopyFS(folder, os.DirFS(testenv.RendererCache())); err != nil {
		t.Fatal(err)
	}
	files, err := fs.Glob(os.DirFS(folder), "*/*")
	if err != nil || len(files) == 0 {
		t.Fatalf("files of the cache: %q, %v", files, err)
	}
	for _, name := range files {
		path := filepath.Join(folder, name)
		stat, err := os.Stat(path)
		if err == nil {
			err = os.Truncate(path, stat.Size()/2)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for _, want := range []bool{true, false} {
		r := pdfium.New(pdfium.Options{Cache: folder, Limit: enough})
		cold, err := r.Warm(t.Context())
		if err != nil || cold != want || !r.Kept() {
			t.Fatalf("cold: %v, want %v, kept: %v, %v", cold, want, r.Kept(), err)
		}
		drawn(t, r, source{page: page200}.bytes(), 200, 100)
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	}
}

// Close ends the compilation, and the folder that was made is for its owner alone.
func TestCloseWhileCompiling(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "cache")
	r := pdfium.New(pdfium.Options{Cache: folder})
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := r.Warm(ended); !errors.Is(err, context.Canceled) {
		t.Fatalf("warming when the time is up already: %v", err)
	}
	warmed := make(chan error)
	go func() {
		_, err := r.Warm(t.Context())
		warmed <- err
	}()
	time.Sleep(10 * time.Millisecond) // time: so that it waits; if it does not yet, it meets the end all the same
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := <-warmed; !errors.Is(err, pdfium.ErrClosed) {
		t.Errorf("warming ended with %v", err)
	}
	if stat, err := os.Stat(folder); err != nil {
		t.Error(err)
	} else if stat.Mode().Perm() != 0o700 {
		t.Errorf("the folder: %v", stat.Mode())
	}
}
