package server

import (
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// probe returns the status of a path, and when to try again.
func probe(s *Server, path string) (status int, retryAfter string) {
	w := httptest.NewRecorder()
	s.Handler().ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	return w.Code, w.Header().Get("Retry-After")
}

// A server is ready when its page renderer is compiled, with which a probe begins, and alive before that.
func TestReadyWaitsForTheRenderer(t *testing.T) {
	cached := pdfium.New(pdfium.Options{Cache: testenv.RendererCache()})
	defer cached.Close()
	if _, err := cached.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	begun, finish := make(chan struct{}), make(chan struct{})
	cache := filepath.Join(t.TempDir(), "cache")
	renderer := pdfium.New(pdfium.Options{Cache: cache, Compile: func(context.Context) error {
		close(begun)
		<-finish
		return os.CopyFS(cache, os.DirFS(testenv.RendererCache()))
	}})
	t.Cleanup(func() { renderer.Close() })
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Renderer = renderer })
	for range 3 {
		if status, retry := probe(s, "/readyz"); status != http.StatusServiceUnavailable || retry != "1" {
			t.Errorf("ready while the renderer is compiled: %d, Retry-After %q", status, retry)
		}
	}
	<-begun
	if status, _ := probe(s, "/healthz"); status != http.StatusOK {
		t.Errorf("alive while the renderer is compiled: %d", status)
	}
	close(finish)
	testenv.Wait(t, "the server to be ready", func() bool { status, _ := probe(s, "/readyz"); return status == http.StatusOK })
}

// A server of a configuration without a renderer makes its own, and becomes ready.
func TestReadyWithItsOwnRenderer(t *testing.T) {
	testenv.Slow(t, "PDFium is compiled")
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), nil)
	testenv.Wait(t, "the server to be ready", func() bool { status, _ := probe(s, "/readyz"); return status == http.StatusOK })
}

// A renderer that can never draw keeps the server from being ready.
func TestNotReadyWithoutARenderer(t *testing.T) {
	renderer := pdfium.New(pdfium.Options{})
	if err := renderer.Close(); err != nil {
		t.Fatal(err)
	}
	s, _ := newServer(t, filepath.Join(t.TempDir(), "store.db"), func(c *Config) { c.Renderer = renderer })
	if status, _ := probe(s, "/readyz"); status != http.StatusServiceUnavailable {
		t.Errorf("ready: %d", status)
	}
}
