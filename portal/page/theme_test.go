package page

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/png"
	"io"
	"io/fs"
	"math/rand/v2"
	"net/http"
	"regexp"
	"strconv"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// Text in and on every colour that an operator may choose is readable (WCAG 2.2, 1.4.3).
func TestEveryColourIsReadable(t *testing.T) {
	testenv.Slow(t, "each of thousands of colours is measured")
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	tried := 0
	for tried < 20000 {
		c := colour{uint8(random.Uint32()), uint8(random.Uint32()), uint8(random.Uint32())}
		if checkColour(c.String()) != nil {
			continue
		}
		tried++
		for _, s := range []scheme{light, dark} {
			brand, onBrand := s.brand(c)
			strong := brand.mix(s.ink, 0.2)
			for _, pair := range [][2]colour{
				{s.link(c), s.ground}, {s.link(c), s.paper}, {s.link(c), s.shade}, {onBrand, brand}, {onBrand, strong},
			} {
				if contrast(pair[0], pair[1]) < minContrast {
					t.Fatalf("%s: %s on %s has a contrast of %.2f", c, pair[0], pair[1], contrast(pair[0], pair[1]))
				}
			}
		}
	}
}

// A readable colour is not changed.
func TestReadableColour(t *testing.T) {
	t.Parallel()
	if brand, on := light.brand(defaultColour); brand != defaultColour || on != white || light.link(defaultColour) != defaultColour {
		t.Errorf("%s became %s, links %s", defaultColour, brand, light.link(defaultColour))
	}
	pale := colour{0x76, 0x76, 0x76} // 4.54 with white
	if err := checkColour(pale.String()); err != nil {
		t.Error(err)
	}
	if light.link(pale) == pale {
		t.Errorf("%s is not readable on %s, and not changed", pale, light.shade)
	}
}

// Well-known examples of contrast.
func TestContrast(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		a, b string
		want string
	}{
		{"#000000", "#ffffff", "21.00"}, {"#ffffff", "#ffffff", "1.00"}, {"#777777", "#ffffff", "4.48"},
		{"#767676", "#ffffff", "4.54"}, {"#ff0000", "#ffffff", "4.00"}, {"#0000ff", "#ffffff", "8.59"},
	} {
		a, _ := parseColour(one.a)
		b, _ := parseColour(one.b)
		if got := fmt.Sprintf("%.2f", contrast(a, b)); got != one.want || fmt.Sprintf("%.2f", contrast(b, a)) != one.want {
			t.Errorf("%s and %s: %s, want %s", one.a, one.b, got, one.want)
		}
	}
}

var property = regexp.MustCompile(`--([a-z-]+): (#[0-9a-f]{6});`)

// properties returns the colours of the stylesheet in a scheme, with those of a theme.
func properties(t *testing.T, s scheme) map[string]colour {
	t.Helper()
	base := string(readAssets("style/base.css"))
	parts := strings.SplitN(base, "@media screen and (prefers-color-scheme: dark)", 2)
	if len(parts) != 2 {
		t.Fatal("the stylesheet has no dark part")
	}
	text := parts[0]
	if s == dark {
		text += parts[1]
	}
	all := make(map[string]colour)
	for _, found := range property.FindAllStringSubmatch(text+s.properties(defaultColour), -1) {
		all[found[1]], _ = parseColour(found[2])
	}
	return all
}

// The stylesheet's own colours are readable where they are used, and the edges of fields visible (WCAG 2.2, 1.4.3 and
// 1.4.11).
func TestStylesheetIsReadable(t *testing.T) {
	t.Parallel()
	for name, s := range map[string]scheme{"light": light, "dark": dark} {
		all := properties(t, s)
		for _, on := range []string{"ground", "paper", "shade", "warning-ground", "good-ground"} {
			demand := map[string]float64{"text": 7}
			switch on {
			case "warning-ground":
				demand["warning"] = minContrast
			case "good-ground":
				demand["good"] = minContrast
			default:
				demand["muted"], demand["danger"], demand["link"], demand["edge"] = minContrast, minContrast, minContrast, 3
			}
			for what, least := range demand {
				a, b := all[what], all[on]
				if a == (colour{}) || b == (colour{}) {
					t.Fatalf("%s: no colour %s or %s", name, what, on)
				}
				if got := contrast(a, b); got < least {
					t.Errorf("%s: %s on %s has a contrast of %.2f, less than %.1f", name, what, on, got, least)
				}
			}
		}
	}
}

// Assets are served as they are or compressed, with their type, for ever except the icon. An unknown asset is a problem
// page, which is not cached.
func TestAssets(t *testing.T) {
	t.Parallel()
	picture := logo(t, 320, 80)
	f := newFixture(t, func(c *Config) { c.Operator = Operator{Logo: picture, Colour: "#0a5c36"} })
	b, theme := f.newBrowser(), f.page.theme
	for _, one := range []struct {
		path, contentType string
		content           []byte // nil: any
	}{
		{theme.style, "text/css; charset=utf-8", stylesheet()},
		{theme.colours, "text/css; charset=utf-8", nil},
		{theme.script, "text/javascript; charset=utf-8", script()},
		{theme.logo, "image/png", picture},
		{assetPath + iconName, "image/svg+xml", nil},
	} {
		t.Run(one.path, func(t *testing.T) {
			a := b.get(one.path)
			if a.status != 200 || a.header.Get("Content-Type") != one.contentType || a.header.Get("Content-Encoding") != "" ||
				a.body == "" || one.content != nil && a.body != string(one.content) {
				t.Fatal(a.status, a.header)
			}
			immutable := one.path != assetPath+iconName
			if cache := a.header.Get("Cache-Control"); strings.HasSuffix(cache, "immutable") != immutable || !strings.HasPrefix(cache, "public, max-age=") {
				t.Error("Cache-Control:", cache)
			}
			if a.header.Get("X-Content-Type-Options") != "nosniff" {
				t.Error("no security headers")
			}
			if head := b.do(http.MethodHead, one.path, nil); head.body != "" || head.header.Get("Content-Length") != strconv.Itoa(len(a.body)) {
				t.Error("HEAD:", len(head.body), head.header)
			}
			packed := b.get(one.path, "Accept-Encoding", "br;q=1.0, GZIP;q=0.5")
			if packed.header.Get("Content-Encoding") == "" {
				return // compression saves nothing
			}
			if packed.header.Get("Vary") != "Accept-Encoding" {
				t.Error("Vary:", packed.header)
			}
			unpacked, err := gzip.NewReader(strings.NewReader(packed.body))
			if err != nil {
				t.Fatal(err)
			}
			if got, err := io.ReadAll(unpacked); err != nil || string(got) != a.body {
				t.Error("another file:", err)
			}
		})
	}
	if a := b.get(theme.style, "Accept-Encoding", "gzip;q=0, identity"); a.header.Get("Content-Encoding") != "" {
		t.Error("gzip is refused, and sent")
	}
	for _, file := range []string{"style-0000000000000000.css", "style.css", "..%2fpage.js", "logo.jpg"} {
		a := b.get(assetPath+file).says(t, 404)
		if a.header.Get("Cache-Control") != "no-store" || !strings.HasPrefix(a.header.Get("Content-Type"), "text/html") {
			t.Errorf("%s: %v", file, a.header)
		}
	}
}

// The path of a file changes with its content, since browsers cache it for ever.
func TestAssetPathsFollowTheContent(t *testing.T) {
	t.Parallel()
	a, b := newTheme(Operator{}), newTheme(Operator{Colour: "#0a5c36"})
	if a.colours == b.colours || a.style != b.style || a.logo != "" {
		t.Error(a.colours, b.colours, a.style, b.style, a.logo)
	}
}

// All parts of the assets are served, and they load nothing from elsewhere.
func TestAssetsAreComplete(t *testing.T) {
	t.Parallel()
	err := fs.WalkDir(assetFiles, "assets", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := assetFiles.ReadFile(path)
		if !bytes.Contains(stylesheet(), content) && !bytes.Contains(script(), content) {
			t.Error(path, "is not served")
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range [][]byte{stylesheet(), script(), themeCSS(defaultColour, nil)} {
		if found := regexp.MustCompile(`url\(|@import|https?://|//[a-z]`).Find(file); found != nil {
			t.Errorf("%q is in it", found)
		}
	}
}

// Templates comply with the Content-Security-Policy, and use classes of the stylesheet only.
func TestMarkup(t *testing.T) {
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
				if !regexp.MustCompile(`\.` + class + `\b`).Match(stylesheet()) {
					t.Errorf("%s: the stylesheet does not know the class %q", path, class)
				}
			}
		}
	}
}

// largestLogo returns a picture of almost the largest size of a logo.
func largestLogo(t *testing.T) []byte {
	t.Helper()
	random := rand.NewChaCha8([32]byte{})
	for height := 90; ; height-- {
		noise := image.NewGray(image.Rect(0, 0, 360, height))
		random.Read(noise.Pix)
		var out bytes.Buffer
		if err := png.Encode(&out, noise); err != nil {
			t.Fatal(err)
		}
		if out.Len() <= maxLogo {
			return out.Bytes()
		}
	}
}

// All files of a first visit take less than 50 kB with the largest logo, and 12 KiB without logo and HTML.
func TestFirstVisitIsSmall(t *testing.T) {
	t.Parallel()
	picture := largestLogo(t)
	d := newInvitation(t, func(c *Config) { c.Operator = Operator{Name: "Þjónusta ehf.", Logo: picture, Colour: "#0a5c36"} })
	b := d.newBrowser()
	b.header["Accept-Encoding"] = "gzip, deflate, br"
	first := b.get(d.link(0)).says(t, 200)
	total, files := len(first.body), regexp.MustCompile(`(?:src|href)="(/sign/assets/[^"]+)"`).FindAllStringSubmatch(first.body, -1)
	if len(files) != 5 {
		t.Fatal(files)
	}
	for _, file := range files {
		total += len(b.get(file[1]).says(t, 200).body)
	}
	assets := total - len(first.body) - len(picture)
	if t.Logf("%d bytes, %d of them the logo, %d other assets", total, len(picture), assets); total >= 50_000 || assets > 12<<10 {
		t.Error("too large")
	}
}
