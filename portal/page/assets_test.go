package page

import (
	"bytes"
	"compress/gzip"
	"io"
	"io/fs"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

func get(t *testing.T, p *Page, method, path, accepted string) *httptest.ResponseRecorder {
	t.Helper()
	r := httptest.NewRequest(method, path, nil)
	r.SetPathValue("file", strings.TrimPrefix(path, assetPath))
	r.Header.Set("Accept-Encoding", accepted)
	w := httptest.NewRecorder()
	secure("", p.assets(), nil).ServeHTTP(w, r)
	return w
}

func TestAssets(t *testing.T) {
	t.Parallel()
	picture := logo(t, 320, 80)
	p := &Page{theme: newTheme(Operator{Logo: picture, Colour: "#0a5c36"})}
	for _, one := range []struct {
		path, contentType string
		content           []byte // nil: only that there is some
	}{
		{p.theme.style, "text/css; charset=utf-8", stylesheet},
		{p.theme.colours, "text/css; charset=utf-8", nil},
		{p.theme.script, "text/javascript; charset=utf-8", script},
		{p.theme.logo, "image/png", picture},
		{assetPath + iconName, "image/svg+xml", nil},
	} {
		t.Run(one.path, func(t *testing.T) {
			w := get(t, p, "GET", one.path, "")
			content := w.Body.Bytes()
			if w.Code != 200 || w.Header().Get("Content-Type") != one.contentType || w.Header().Get("Content-Encoding") != "" ||
				len(content) == 0 || one.content != nil && !bytes.Equal(content, one.content) {
				t.Fatal(w.Code, w.Header())
			}
			forGood := one.path != assetPath+iconName
			if cache := w.Header().Get("Cache-Control"); strings.HasSuffix(cache, "immutable") != forGood || !strings.HasPrefix(cache, "public, max-age=") {
				t.Error("Cache-Control:", cache)
			}
			if w.Header().Get("X-Content-Type-Options") != "nosniff" {
				t.Error("the headers of all answers are gone")
			}
			head := get(t, p, "HEAD", one.path, "")
			if head.Body.Len() != 0 || head.Header().Get("Content-Length") != strconv.Itoa(len(content)) {
				t.Error("HEAD:", head.Body.Len(), head.Header())
			}
			packed := get(t, p, "GET", one.path, "br;q=1.0, GZIP;q=0.5")
			if packed.Header().Get("Content-Encoding") == "" {
				return // would be no smaller
			}
			if packed.Header().Get("Vary") != "Accept-Encoding" {
				t.Error("Vary:", packed.Header())
			}
			unpacked, err := gzip.NewReader(packed.Body)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(unpacked); err != nil || !bytes.Equal(got, content) {
				t.Error("another file:", err)
			}
		})
	}
	if w := get(t, p, "GET", p.theme.style, "gzip;q=0, identity"); w.Header().Get("Content-Encoding") != "" {
		t.Error("gzip was refused, and sent")
	}
}

// A page's files stay small: the first page has to be there soon on a phone.
func TestAssetsAreSmall(t *testing.T) {
	t.Parallel()
	total := 0
	for _, a := range newTheme(Operator{}).files {
		total += len(a.gzipped)
	}
	if t.Logf("%d bytes", total); total > 12<<10 {
		t.Errorf("%d bytes of assets", total)
	}
}

// Another content has another path, or browsers would keep the old one.
func TestAssetPathsFollowTheContent(t *testing.T) {
	t.Parallel()
	a, b := newTheme(Operator{}), newTheme(Operator{Colour: "#0a5c36"})
	if a.colours == b.colours || a.style != b.style || a.logo != "" {
		t.Error(a.colours, b.colours, a.style, b.style, a.logo)
	}
}

// All that was written is served, and nothing is loaded from elsewhere.
func TestStylesheetIsWhole(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(assetFiles, "assets", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(path)
		if !bytes.Contains(stylesheet, content) && !bytes.Contains(script, content) {
			t.Error(path, "is not served")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{stylesheet, script, themeCSS(defaultColour, nil)} {
		if found := regexp.MustCompile(`url\(|@import|https?://|//[a-z]`).Find(file); found != nil {
			t.Errorf("%q is in it", found)
		}
	}
}

// Templates have what the Content-Security-Policy lets through, and classes that the stylesheet knows.
func TestMarkupFitsPolicyAndStylesheet(t *testing.T) {
	t.Parallel()
	inline := regexp.MustCompile(`(?i)\sstyle\s*=|<style|<script|\son[a-z]+\s*=|javascript:|src="(?:https?:)?//`)
	classes := regexp.MustCompile(`class="([^"]*)"`)
	files, err := fs.Glob(htmlFiles, "html/*.html")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range files {
		content, err := htmlFiles.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		text := strings.ReplaceAll(string(content), `<script src="{{.Script}}" defer></script>`, "")
		if found := inline.FindString(text); found != "" {
			t.Errorf("%s has %q", path, found)
		}
		for _, list := range classes.FindAllStringSubmatch(regexp.MustCompile(`\{\{[^}]*\}\}`).ReplaceAllString(text, " "), -1) {
			for class := range strings.FieldsSeq(list[1]) {
				if !regexp.MustCompile(`\.` + class + `\b`).Match(stylesheet) {
					t.Errorf("%s: the stylesheet does not know the class %q", path, class)
				}
			}
		}
	}
}
