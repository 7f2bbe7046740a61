package page

import (
	"bytes"
	"context"
	"image"
	"image/png"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// withDocument is a scene with one document, which Anna has logged in to.
func withDocument(t testing.TB, document []byte, r Renderer) (*scene, portal.ProcessView) {
	t.Helper()
	s := newScene(t, func(c *Config) { c.Renderer = r })
	uploaded, err := s.signing.Upload(t.Context(), bytes.NewReader(document), 32<<20)
	s.must(err)
	v, err := s.portal.Create(t.Context(), portal.Draft{
		Account: s.account, Client: "a client", FileName: "Þjónustusamningur 100% \"nýr\".pdf", Document: uploaded, Page: 1,
		Participants: []portal.Invitee{{Name: "Anna", Email: "anna@example.is", Role: portal.Signer}},
	})
	s.must(err)
	_, _, err = s.portal.Login(t.Context(), strings.TrimPrefix(v.Participants[0].Path, "/sign/"), anna)
	s.must(err)
	return s, v
}

// ask is a request of a browser, and answered is what it gets.
func (c *client) ask(method, path string, header ...string) *http.Response {
	r := httptest.NewRequest(method, path, nil)
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	r.AddCookie(&http.Cookie{Name: sessionCookie, Value: c.cookie})
	w := httptest.NewRecorder()
	c.s.page.ServeHTTP(w, r)
	return w.Result()
}

func bodyOf(t *testing.T, a *http.Response) []byte {
	t.Helper()
	content, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// contract is of three pages, each of which is less full than the one before.
var contract = []pdftest.Leaf{{Text: clauses(1)}, {Text: clauses(2)[:35]}, {Text: clauses(3)[:10]}}

// The picture of a page is the page as mutool and pdftoppm draw it.
func TestPictureIsThePage(t *testing.T) {
	document := pdftest.Book(contract)
	s, v := withDocument(t, document, newRenderer(t, pdfium.Options{Limit: enoughTime}))
	a := s.browser(annas).ask(http.MethodGet, of(v, 0, "/pages/2/640?revision=0"))
	if a.StatusCode != http.StatusOK || a.Header.Get("Content-Type") != "image/png" || a.Header.Get("Cache-Control") != "no-store" {
		t.Fatalf("%d %v", a.StatusCode, a.Header)
	}
	ours, err := png.Decode(a.Body)
	s.must(err)
	other, err := png.Decode(s.browser(annas).ask(http.MethodGet, of(v, 0, "/pages/1/640?revision=0")).Body)
	s.must(err)
	path := filepath.Join(t.TempDir(), "page.pdf")
	s.must(os.WriteFile(path, document, 0o600))
	for program, arguments := range map[string][]string{
		"mutool":   {"draw", "-q", "-w", "640", "-h", "906", "-F", "png", "-o", "-", path, "2"},
		"pdftoppm": {"-png", "-f", "2", "-l", "2", "-scale-to-x", "640", "-scale-to-y", "906", path},
	} {
		out, err := exec.CommandContext(t.Context(), testenv.Program(t, program), arguments...).Output()
		s.must(err)
		theirs, err := png.Decode(bytes.NewReader(out))
		s.must(err)
		if unlike := difference(ours, theirs); unlike > 30 {
			t.Errorf("%s draws another page: %.1f of 255", program, unlike)
		}
		if unlike := difference(other, theirs); unlike < 60 {
			t.Errorf("page 1 is as page 2 of %s: %.1f of 255", program, unlike)
		}
	}
}

// difference is how far apart two pictures are in the mean shade of their squares of 16 pixels.
func difference(a, b image.Image) (worst float64) {
	const square = 16
	for y := 0; y+square < a.Bounds().Dy(); y += square {
		for x := 0; x+square < a.Bounds().Dx(); x += square {
			worst = max(worst, math.Abs(shade(a, x, y, square)-shade(b, x, y, square)))
		}
	}
	return worst
}

func shade(rev image.Image, left, top, square int) (mean float64) {
	for y := range square {
		for x := range square {
			r, g, b, _ := rev.At(left+x, top+y).RGBA()
			mean += float64(r+g+b) / 3 / 257 / float64(square*square)
		}
	}
	return mean
}

// Pictures are for who has the place, of the revision that was asked for.
func TestPictureIsRefused(t *testing.T) {
	t.Parallel()
	s, v := withDocument(t, pdftest.Book(contract), blank{})
	annas, stranger := s.browser(annas), s.browser(jons)
	for path, want := range map[string]int{
		"/pages/1/640?revision=0":  http.StatusOK,
		"/pages/3/1440?revision=0": http.StatusOK,
		"/pages/1/640?revision=1":  http.StatusConflict,
		"/pages/1/640":             http.StatusConflict,
		"/pages/1/640?revision=00": http.StatusConflict,
		"/pages/0/640?revision=0":  http.StatusNotFound,
		"/pages/4/640?revision=0":  http.StatusNotFound,
		"/pages/-1/640?revision=0": http.StatusNotFound,
		"/pages/x/640?revision=0":  http.StatusNotFound,
		"/pages/1/641?revision=0":  http.StatusNotFound,
		"/pages/1/9999?revision=0": http.StatusNotFound,
	} {
		if a := annas.ask(http.MethodGet, of(v, 0, path)); a.StatusCode != want {
			t.Errorf("%s: %d, want %d", path, a.StatusCode, want)
		}
	}
	for name, c := range map[string]*client{"another person": stranger, "nobody": s.browser("")} {
		for _, path := range []string{"/pages/1/640?revision=0", "/document"} {
			a := c.ask(http.MethodGet, of(v, 0, path))
			content := bodyOf(t, a)
			if a.StatusCode == http.StatusOK || strings.HasPrefix(a.Header.Get("Content-Type"), "image/") || bytes.Contains(content, []byte("%PDF")) {
				t.Errorf("%s: %s %d %s", name, path, a.StatusCode, a.Header.Get("Content-Type"))
			}
		}
	}
}

// undrawing does not draw.
type undrawing struct {
	blank
	err error
}

func (f undrawing) Render(context.Context, io.ReaderAt, int64, int, int, int) (*image.RGBA, error) {
	return nil, f.err
}

// What is shown of a page that cannot be drawn says so in the language of the reader, and what to do.
func TestPictureThatCannotBeDrawn(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		err    error
		status int
		words  string
	}{
		"too much": {context.DeadlineExceeded, http.StatusUnprocessableEntity, "picture.undrawable"},
		"busy":     {stamp.ErrNotReady, http.StatusServiceUnavailable, "picture.busy"},
	} {
		t.Run(name, func(t *testing.T) {
			s, v := withDocument(t, pdftest.Book(contract), undrawing{err: test.err})
			for _, lang := range languages {
				a := s.browser(annas).ask(http.MethodGet, of(v, 0, "/pages/1/640?revision=0"), "Accept-Language", lang)
				content := string(bodyOf(t, a))
				if a.StatusCode != test.status || a.Header.Get("Content-Type") != "image/svg+xml" || a.Header.Get("Content-Security-Policy") != securityHeaders["Content-Security-Policy"] {
					t.Errorf("%d %v", a.StatusCode, a.Header)
				}
				if !strings.Contains(content, words.text(lang, test.words)) || !strings.Contains(content, words.text(lang, test.words+".advice")) {
					t.Errorf("%s: %s", lang, content)
				}
			}
		})
	}
}
