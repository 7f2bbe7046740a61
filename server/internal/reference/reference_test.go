package reference_test

import (
	"bytes"
	"compress/gzip"
	"io"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/server/internal/reference"
)

var page = reference.Handler(reference.Config{Title: "Clocks <1>", Environment: "Sandbox", Document: "openapi.json"})

func get(t *testing.T, method, path string, header ...string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	page.ServeHTTP(w, r)
	return w
}

// Whatever the page asks for is there, and nothing of it is elsewhere or in the page itself.
func TestPageIsWhole(t *testing.T) {
	w := get(t, http.MethodGet, reference.Path)
	text := w.Body.String()
	if w.Code != http.StatusOK || !strings.Contains(text, "<title>Clocks &lt;1&gt; API reference, Sandbox</title>") {
		t.Fatalf("%d %s", w.Code, text)
	}
	policy := w.Header().Get("Content-Security-Policy")
	if !strings.Contains(policy, "script-src 'self';") || !strings.Contains(policy, "default-src 'none'") {
		t.Errorf("policy %q", policy)
	}
	if strings.Contains(text, "//") || regexp.MustCompile(`<script[^>]*>[^<]`).MatchString(text) {
		t.Errorf("something is foreign, or a script is in the page: %s", text)
	}
	asked := regexp.MustCompile(`(?:src|href)="(reference/[^"]+)"`).FindAllStringSubmatch(text, -1)
	if len(asked) != 4 {
		t.Errorf("the page asks for %v", asked)
	}
	for _, one := range asked {
		w := get(t, http.MethodGet, "/"+one[1])
		script := strings.HasSuffix(one[1], ".js")
		if kind := w.Header().Get("Content-Type"); w.Code != http.StatusOK || w.Body.Len() == 0 || strings.HasPrefix(kind, "text/javascript") != script {
			t.Errorf("%s: %d, %s, %d bytes", one[1], w.Code, kind, w.Body.Len())
		}
	}
}

// A file is the same for browsers that take it compressed and for others.
func TestCompression(t *testing.T) {
	const path = reference.Path + "/swagger-ui.css"
	plain, packed := get(t, http.MethodGet, path), get(t, http.MethodGet, path, "Accept-Encoding", "gzip, br")
	if plain.Header().Get("Content-Encoding") != "" || packed.Header().Get("Content-Encoding") != "gzip" {
		t.Fatal(plain.Header(), packed.Header())
	}
	unpacked, err := gzip.NewReader(packed.Body)
	if err != nil {
		t.Fatal(err)
	}
	content, err := io.ReadAll(unpacked)
	if err != nil || !bytes.Equal(content, plain.Body.Bytes()) || len(content) == 0 {
		t.Errorf("%d bytes of %d: %v", len(content), plain.Body.Len(), err)
	}
}

func TestWhatIsNotThere(t *testing.T) {
	for _, test := range []struct {
		method, path string
		status       int
	}{
		{http.MethodGet, "/reference/", 404},
		{http.MethodGet, "/reference/page.html", 404},
		{http.MethodGet, "/reference/x/page.css", 404},
		{http.MethodGet, "/reference/assets/page.css", 404},
		{http.MethodPost, "/reference", 405},
		{http.MethodPut, "/reference/page.css", 405},
		{http.MethodHead, "/reference", 200},
	} {
		if got := get(t, test.method, test.path).Code; got != test.status {
			t.Errorf("%s %s: %d, want %d", test.method, test.path, got, test.status)
		}
	}
}
