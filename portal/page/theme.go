package page

import (
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"fmt"
	"math"
	"net/http"
	"strconv"
	"strings"
)

// theme has the files that depend on the operator's looks, and their paths.
type theme struct {
	style, colours, script string
	logo                   string           // empty: no logo
	files                  map[string]asset // by file name
}

// newTheme returns the theme of an operator.
func newTheme(o Operator) theme {
	colour, ok := parseColour(o.Colour)
	if !ok {
		colour = defaultColour
	}
	t := theme{files: make(map[string]asset)}
	t.style = t.addFile("style", ".css", stylesheet())
	t.colours = t.addFile("theme", ".css", themeCSS(colour, o.Logo))
	t.script = t.addFile("page", ".js", script())
	if o.Logo != nil {
		t.logo = t.addFile("logo", ".png", o.Logo)
	}
	t.files[iconName] = newAsset(".svg", iconSVG(colour), "public, max-age=86400")
	return t
}

// themeCSS returns the custom properties of both colour schemes. The dark scheme is for screens only, so that
// print is light.
func themeCSS(brand colour, logo []byte) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, ":root {%s%s}\n", light.properties(brand), logoAspect(logo))
	fmt.Fprintf(&out, "@media screen and (prefers-color-scheme: dark) {\n:root {%s}\n}\n", dark.properties(brand))
	return []byte(out.String())
}

// logoAspect reserves the space of the logo before it is loaded.
func logoAspect(logo []byte) string {
	size, err := logoSize(logo)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("\n\t--logo-shape: %d / %d;\n", size.X, size.Y)
}

// scheme is a light or dark set of surface colours. The contrast of the operator's colour is computed against
// them.
type scheme struct {
	ground, paper, shade colour // of the page, of cards, of highlights on both
	ink                  colour // black or white: mixed into a colour until it has enough contrast
}

var (
	light = scheme{ground: colour{0xf4, 0xf6, 0xf8}, paper: white, shade: colour{0xeb, 0xee, 0xf2}, ink: black}
	dark  = scheme{ground: colour{0x10, 0x14, 0x1a}, paper: colour{0x19, 0x1f, 0x27}, shade: colour{0x25, 0x2d, 0x37}, ink: white}
)

// brand returns the operator's colour as a background, and the colour of text on it. The dark scheme lightens
// the operator's colour as far as contrast requires.
func (s scheme) brand(operator colour) (brand, onBrand colour) {
	if s == light {
		return operator, white
	}
	return operator.towards(minContrast, s.shade, s.ink), s.ground
}

// link returns the operator's colour as text, readable on all surfaces.
func (s scheme) link(operator colour) colour { return operator.towards(minContrast, s.shade, s.ink) }

// properties returns the custom properties of CSS.
func (s scheme) properties(operator colour) string {
	brand, onBrand := s.brand(operator)
	var out strings.Builder
	for _, p := range []struct {
		name string
		colour
	}{
		{"ground", s.ground}, {"paper", s.paper}, {"shade", s.shade},
		{"brand", brand}, {"brand-strong", brand.mix(s.ink, 0.2)}, {"on-brand", onBrand},
		{"link", s.link(operator)},
	} {
		fmt.Fprintf(&out, "\n\t--%s: %s;", p.name, p.colour)
	}
	return out.String() + "\n"
}

// colour is an sRGB colour.
type colour struct{ r, g, b uint8 }

var (
	white            = colour{0xff, 0xff, 0xff}
	black            = colour{}
	defaultColour, _ = parseColour(DefaultColour)
)

// minContrast is the least contrast of text with its background (WCAG 2.2, 1.4.3).
const minContrast = 4.5

// String implements [fmt.Stringer].
func (c colour) String() string { return fmt.Sprintf("#%02x%02x%02x", c.r, c.g, c.b) }

// parseColour parses "#rrggbb".
func parseColour(s string) (colour, bool) {
	if len(s) != 7 || s[0] != '#' {
		return colour{}, false
	}
	rgb, err := hex.DecodeString(s[1:])
	if err != nil {
		return colour{}, false
	}
	return colour{rgb[0], rgb[1], rgb[2]}, true
}

// luminance returns the relative luminance as WCAG 2.2 defines it, from 0 to 1.
func (c colour) luminance() float64 {
	linear := func(v uint8) float64 {
		s := float64(v) / 255
		if s <= 0.04045 {
			return s / 12.92
		}
		return math.Pow((s+0.055)/1.055, 2.4)
	}
	return 0.2126*linear(c.r) + 0.7152*linear(c.g) + 0.0722*linear(c.b)
}

// contrast returns the contrast ratio as WCAG 2.2 defines it, from 1 to 21.
func contrast(a, b colour) float64 {
	x, y := a.luminance(), b.luminance()
	return (max(x, y) + 0.05) / (min(x, y) + 0.05)
}

// mix returns the colour with a share, from 0 to 1, of another one.
func (c colour) mix(other colour, share float64) colour {
	mix := func(a, b uint8) uint8 { return uint8(math.Round(float64(a)*(1-share) + float64(b)*share)) }
	return colour{mix(c.r, other.r), mix(c.g, other.g), mix(c.b, other.b)}
}

// towards returns the colour with the least share of ink that reaches a contrast ratio with a surface.
func (c colour) towards(ratio float64, surface, ink colour) colour {
	const steps = 100
	for step := range steps {
		if mixed := c.mix(ink, float64(step)/steps); contrast(mixed, surface) >= ratio {
			return mixed
		}
	}
	return ink
}

//go:embed assets
var assetFiles embed.FS

// stylesheet returns the style of all pages, joined from its parts.
func stylesheet() []byte {
	return readAssets("style/base.css", "style/frame.css", "style/parts.css", "style/forms.css", "style/document.css", "style/print.css")
}

// script returns the script that enhances the pages; they work without it.
func script() []byte { return readAssets("page.js") }

// readAssets joins embedded files.
func readAssets(names ...string) []byte {
	var whole []byte
	for _, name := range names {
		part, err := assetFiles.ReadFile("assets/" + name)
		if err != nil {
			panic(err)
		}
		whole = append(whole, part...)
	}
	return whole
}

// assetPath is the directory of the assets, and iconName the file whose name does not depend on its content.
const (
	assetPath = "/sign/assets/"
	iconName  = "icon.svg"
)

// asset is a static file.
type asset struct {
	contentType, cache string
	content, gzipped   []byte // gzipped is nil if compression saves nothing
}

var assetTypes = map[string]string{
	".css": "text/css; charset=utf-8",
	".js":  "text/javascript; charset=utf-8",
	".png": "image/png",
	".svg": "image/svg+xml",
}

// newAsset returns an asset, compressed once.
func newAsset(extension string, content []byte, cache string) asset {
	a := asset{contentType: assetTypes[extension], cache: cache, content: content}
	var packed bytes.Buffer
	out, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression) // the level exists
	out.Write(content)                                           // to memory, without errors
	out.Close()
	if packed.Len() < len(content) {
		a.gzipped = packed.Bytes()
	}
	return a
}

// addFile adds a file and returns its path. The name has a hash of the content, so that browsers may cache the
// file for ever.
func (t theme) addFile(name, extension string, content []byte) (path string) {
	sum := sha256.Sum256(content)
	file := name + "-" + hex.EncodeToString(sum[:8]) + extension
	t.files[file] = newAsset(extension, content, "public, max-age=31536000, immutable")
	return assetPath + file
}

// assets returns the handler of the stylesheets, the script, the icon and the logo.
func (p *Page) assets() http.Handler {
	return p.handle(func(w http.ResponseWriter, r *http.Request) error {
		a, ok := p.theme.files[r.PathValue("file")]
		if !ok {
			return errPageNotFound
		}
		return a.write(w, r)
	})
}

// write answers with the file, compressed if the client accepts that.
func (a asset) write(w http.ResponseWriter, r *http.Request) error {
	header, content := w.Header(), a.content
	header.Set("Content-Type", a.contentType)
	header.Set("Cache-Control", a.cache)
	if a.gzipped != nil {
		header.Set("Vary", "Accept-Encoding")
		if acceptsGzip(r.Header.Get("Accept-Encoding")) {
			header.Set("Content-Encoding", "gzip")
			content = a.gzipped
		}
	}
	header.Set("Content-Length", strconv.Itoa(len(content)))
	if r.Method == http.MethodHead {
		return nil
	}
	w.Write(content) // a failed write means that the client is gone
	return nil
}

// acceptsGzip reports whether an Accept-Encoding names gzip with a weight above 0 (RFC 9110, 12.5.3).
func acceptsGzip(accepted string) bool {
	for one := range strings.SplitSeq(accepted, ",") {
		name, parameter, _ := strings.Cut(one, ";")
		if !strings.EqualFold(strings.TrimSpace(name), "gzip") {
			continue
		}
		value, isWeight := strings.CutPrefix(strings.ToLower(strings.ReplaceAll(parameter, " ", "")), "q=")
		weight, err := strconv.ParseFloat(value, 64)
		return !isWeight || err == nil && weight > 0
	}
	return false
}

// iconSVG returns the icon in the operator's colour.
func iconSVG(c colour) []byte {
	return fmt.Appendf(nil, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32">`+
		`<circle cx="16" cy="16" r="15" fill="%s"/>`+
		`<path d="M9 16.5l5 5 9.5-11" fill="none" stroke="#fff" stroke-width="3.5" stroke-linecap="round" stroke-linejoin="round"/></svg>`, c)
}
