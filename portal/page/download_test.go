package page

import (
	"bytes"
	"mime"
	"net/http"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The file is the document byte by byte, to be saved under its name, and nothing that a browser would
// run or show within the page.
func TestDownload(t *testing.T) {
	t.Parallel()
	document := pdftest.Book(contract)
	s, v := withDocument(t, document, blank{})
	c, path := s.browser(annas), of(v, 0, "/document")
	a := c.ask(http.MethodGet, path)
	if content := bodyOf(t, a); a.StatusCode != http.StatusOK || !bytes.Equal(content, document) {
		t.Fatalf("%d, %d bytes of %d", a.StatusCode, len(content), len(document))
	}
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Accept-Ranges": "bytes", "Referrer-Policy": "no-referrer",
	} {
		if got := a.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if policy := a.Header.Values("Content-Security-Policy"); len(policy) != 1 || !strings.Contains(policy[0], "sandbox") {
		t.Errorf("%q", policy)
	}
	_, parameters, err := mime.ParseMediaType(a.Header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] != v.FileName {
		t.Errorf("%q: %v, %v", a.Header.Get("Content-Disposition"), parameters, err)
	}
	part := c.ask(http.MethodGet, path, "Range", "bytes=10-19", "If-Range", a.Header.Get("ETag"))
	if content := bodyOf(t, part); part.StatusCode != http.StatusPartialContent || !bytes.Equal(content, document[10:20]) {
		t.Errorf("a part: %d, %q", part.StatusCode, content)
	}
	part = c.ask(http.MethodGet, path, "Range", "bytes=10-19", "If-Range", `"1-99"`)
	if content := bodyOf(t, part); part.StatusCode != http.StatusOK || !bytes.Equal(content, document) {
		t.Errorf("a part of another revision: %d, %d bytes", part.StatusCode, len(content))
	}
	if a := c.ask(http.MethodHead, path); a.StatusCode != http.StatusOK || len(bodyOf(t, a)) != 0 {
		t.Errorf("HEAD: %d", a.StatusCode)
	}
	if a := c.ask(http.MethodGet, path+"?revision=0"); a.StatusCode != http.StatusOK {
		t.Errorf("this revision: %d", a.StatusCode)
	}
	if a := c.ask(http.MethodGet, path+"?revision=1"); a.StatusCode != http.StatusConflict {
		t.Errorf("another revision: %d", a.StatusCode)
	}
}

// Names are what they are in browsers of this century, and harmless in others (RFC 6266 appendix D).
func TestDisposition(t *testing.T) {
	t.Parallel()
	for name, plain := range map[string]string{
		"Samningur.pdf":           "Samningur.pdf",
		"Þjónusta.pdf":            "_j_nusta.pdf",
		`a"; filename="b.exe`:     "a_; filename=_b.exe",
		"100%41.pdf":              "100_41.pdf",
		"a'b:c=d@e!f(g)*h;i,.pdf": "a'b:c=d@e!f(g)*h;i,.pdf",
		"日本\u202efdp.exe.pdf":     "___fdp.exe.pdf",
	} {
		got := disposition(name)
		kind, parameters, err := mime.ParseMediaType(got)
		if err != nil || kind != "attachment" || parameters["filename"] != name {
			t.Errorf("%s: %s %q, %v", got, kind, parameters, err)
		}
		if !strings.Contains(got, `filename="`+plain+`";`) {
			t.Errorf("%s: want %q", got, plain)
		}
		_, extended, _ := strings.Cut(got, "UTF-8''")
		if i := strings.IndexFunc(extended, func(r rune) bool {
			return !strings.ContainsRune("!#$&+-.^_`|~%", r) && (r < '0' || r > '9') && (r < 'A' || r > 'Z') && (r < 'a' || r > 'z')
		}); i >= 0 {
			t.Errorf("%s: %q is not allowed (RFC 8187 3.2.1)", got, extended[i])
		}
	}
}
