package browser

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
)

// faulty are pages by path, and what a scene that looks at one has to say.
var faulty = map[string]struct {
	path, head, body, says string
}{
	"nothing wrong":  {path: "/good", body: "<p>Good.</p>"},
	"inline script":  {path: "/inline", body: "<script>document.title = 'x'</script>", says: "Content Security Policy"},
	"other origin":   {path: "/elsewhere", body: `<img alt="" src="http://127.0.0.1:9/x">`, says: "a request of another origin"},
	"Referer":        {path: "/referer", head: `<meta name="referrer" content="unsafe-url">`, body: `<img alt="" src="/x">`, says: "a Referer"},
	"dialog":         {path: "/dialog", head: `<script src="/dialog.js"></script>`, says: "a dialog: boo"},
	"failing script": {path: "/throws", head: `<script src="/throws.js"></script>`, says: "a script failed"},
	"status 500":     {path: "/fails", says: "status 500"},
	"contrast":       {path: "/faint", head: `<link rel="stylesheet" href="/faint.css">`, body: "<p>Faint.</p>", says: "color-contrast"},
	"no label":       {path: "/unnamed", body: "<form><input></form>", says: "label"},
	"overflow":       {path: "/wide", body: "<p>" + strings.Repeat("wide", 200) + "</p>", says: "px wide"},
	"failing scene":  {says: "it fails on purpose"},
}

var files = map[string]string{
	"/dialog.js": "alert('boo')",
	"/throws.js": "throw new Error('boo')",
	"/faint.css": "p { color: #eee }",
}

// What is promised of every scene: each of the faults is found, and nothing in a page that has none.
func TestFaultsAreFound(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(serveFaulty))
	defer server.Close()
	stage := Stage{BaseURL: strings.Replace(server.URL, "127.0.0.1", "localhost", 1), scripts: []string{"faults"}}
	played := 0
	stage.play(t, func(one Scene) {
		played++
		want, ok := faulty[one.Name]
		if !ok || one.OK != (want.says == "") || !strings.Contains(one.Detail, want.says) {
			t.Errorf("%s: %v, %s\nwant %q", one.Name, one.OK, one.Detail, want.says)
		}
	})
	if played != len(faulty) {
		t.Errorf("%d scenes of %d", played, len(faulty))
	}
}

func serveFaulty(w http.ResponseWriter, r *http.Request) {
	if text, ok := files[r.URL.Path]; ok {
		w.Header().Set("Content-Type", map[bool]string{true: "text/css", false: "text/javascript"}[strings.HasSuffix(r.URL.Path, ".css")])
		fmt.Fprint(w, text)
		return
	}
	for _, page := range faulty {
		if page.path != r.URL.Path {
			continue
		}
		w.Header().Set("Content-Security-Policy", "default-src 'none'; img-src *; style-src 'self'; script-src 'self'")
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		if !strings.Contains(page.head, "referrer") {
			w.Header().Set("Referrer-Policy", "no-referrer")
		}
		if page.path == "/fails" {
			w.WriteHeader(http.StatusInternalServerError)
		}
		fmt.Fprintf(w, `<!DOCTYPE html><html lang="en"><meta name="viewport" content="width=device-width"><title>Page</title>%s<main><h1>Page</h1>%s</main></html>`, page.head, page.body)
		return
	}
	http.NotFound(w, r)
}
