package page

import (
	"fmt"
	"strings"
)

// theme is what the operator's looks become: the files that pages load, and where they are.
type theme struct {
	style, colours, script string
	logo                   string // empty: there is none
	files                  map[string]asset
}

func newTheme(o Operator) theme {
	colour, ok := parseColour(o.Colour)
	if !ok {
		colour = own
	}
	t := theme{files: make(map[string]asset)}
	t.style = t.add("style", ".css", stylesheet)
	t.colours = t.add("theme", ".css", themeSheet(colour, o.Logo))
	t.script = t.add("page", ".js", script)
	if o.Logo != nil {
		t.logo = t.add("logo", ".png", o.Logo)
	}
	t.files[iconName] = newAsset(".svg", icon(colour), "public, max-age=86400")
	return t
}

// themeSheet has the surfaces and the operator's colours on them. They change with what the browser
// prefers; what is printed is light.
func themeSheet(operator colour, logo []byte) []byte {
	var out strings.Builder
	fmt.Fprintf(&out, ":root {%s%s}\n", light.properties(operator), logoShape(logo))
	fmt.Fprintf(&out, "@media screen and (prefers-color-scheme: dark) {\n:root {%s}\n}\n", dark.properties(operator))
	return []byte(out.String())
}

// logoShape keeps the room of the logo before it is there.
func logoShape(logo []byte) string {
	size, err := logoSize(logo)
	if err != nil {
		return ""
	}
	return fmt.Sprintf("\n\t--logo-shape: %d / %d;\n", size.X, size.Y)
}

// scheme is a way to be lit: the surfaces, which the operator's colours are measured on.
type scheme struct {
	ground, paper, shade colour // of the page, of cards, of what stands out on both
	ink                  colour // towards which a colour is easier to read
}

var (
	light = scheme{ground: colour{0xf4, 0xf6, 0xf8}, paper: white, shade: colour{0xeb, 0xee, 0xf2}, ink: black}
	dark  = scheme{ground: colour{0x10, 0x14, 0x1a}, paper: colour{0x19, 0x1f, 0x27}, shade: colour{0x25, 0x2d, 0x37}, ink: white}
)

// brand is the operator's colour behind words, and onBrand that of the words: on a light ground as it
// is, on a dark one as light as it has to be.
func (s scheme) brand(operator colour) (brand, onBrand colour) {
	if s == light {
		return operator, white
	}
	return operator.until(readable, s.shade, s.ink), s.ground
}

// link is the operator's colour for words, which are read on all surfaces.
func (s scheme) link(operator colour) colour { return operator.until(readable, s.shade, s.ink) }

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
