package page

import (
	"crypto/sha256"
	"encoding/hex"
	"mime"
	"net/http"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// The download is the document, byte by byte, under its name, and browsers neither run nor frame it. It can be resumed
// while the document is the same.
func TestDownload(t *testing.T) {
	t.Parallel()
	document := pdftest.Book(contract)
	s, v := withDocument(t, document, blank{})
	b, path := s.browserOf(annas), of(v, 0, "/document")
	want := func(what string, a answer, status int, content []byte) {
		t.Helper()
		if a.status != status || content != nil && a.body != string(content) {
			t.Errorf("%s: %d, %d bytes of %d", what, a.status, len(a.body), len(content))
		}
	}
	a := b.get(path)
	want("GET", a, http.StatusOK, document)
	for name, want := range map[string]string{
		"Content-Type": "application/pdf", "X-Content-Type-Options": "nosniff", "Cache-Control": "no-store",
		"Accept-Ranges": "bytes", "Referrer-Policy": "no-referrer",
	} {
		if got := a.header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if policy := a.header.Values("Content-Security-Policy"); len(policy) != 1 || !strings.Contains(policy[0], "sandbox") {
		t.Errorf("%q", policy)
	}
	_, parameters, err := mime.ParseMediaType(a.header.Get("Content-Disposition"))
	if err != nil || parameters["filename"] != v.FileName {
		t.Errorf("%q: %v, %v", a.header.Get("Content-Disposition"), parameters, err)
	}
	want("a part", b.get(path, "Range", "bytes=10-19", "If-Range", a.header.Get("ETag")), http.StatusPartialContent, document[10:20])
	want("a part of another revision", b.get(path, "Range", "bytes=10-19", "If-Range", `"1-99"`), http.StatusOK, document)
	want("HEAD", b.do(http.MethodHead, path, nil), http.StatusOK, []byte{})
	want("this revision", b.get(path+"?revision=0"), http.StatusOK, document)
	want("another revision", b.get(path+"?revision=1"), http.StatusConflict, nil)
}

// The file name is exact in RFC 8187 encoding, and harmless in ASCII for old browsers (RFC 6266 appendix D).
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

// File sizes are shown in kilobytes, rounded up, or in megabytes, rounded down.
func TestFileSize(t *testing.T) {
	t.Parallel()
	for bytes, want := range map[int64]string{
		1: "(PDF, 1 kB)", 999: "(PDF, 1 kB)", 1001: "(PDF, 2 kB)", 999_999: "(PDF, 1000 kB)",
		1_000_000: "(PDF, 1,0 MB)", 1_999_999: "(PDF, 1,9 MB)", 22_460_000: "(PDF, 22,4 MB)",
	} {
		size := sizeOf(bytes)
		if got := words().text("is", size.Key, "n", size.Whole, "tenth", size.Tenth); got != want {
			t.Errorf("%d: %s, want %s", bytes, got, want)
		}
	}
}

// The page shows the SHA-256 of the file that is downloaded, after each signature.
func TestPageShowsHash(t *testing.T) {
	t.Parallel()
	s := newFixture(t)
	s.users()
	v := s.opened()
	for i, who := range []string{annas, jons, valas} {
		b := s.browserOf(who)
		file := b.get(of(v, i, "/document"))
		sum := sha256.Sum256([]byte(file.body))
		file.says(t, http.StatusOK)
		b.get(of(v, i)).contains(t, hex.EncodeToString(sum[:]))
		if i < 2 {
			s.signs(v, i, who)
		}
	}
}
