package main

import (
	"bytes"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/portal/page"
)

// logoOf is a small picture of one colour.
func logoOf(t *testing.T, c color.Color) []byte {
	t.Helper()
	picture := image.NewRGBA(image.Rect(0, 0, 40, 10))
	draw.Draw(picture, picture.Bounds(), image.NewUniform(c), image.Point{}, draw.Src)
	var out bytes.Buffer
	if err := png.Encode(&out, picture); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

// The [page] of docs/production.md, and that of docs/signing-page.md, say what the comments beside them do, and without one all is
// Innsigli's own.
func TestPageConfiguration(t *testing.T) {
	blocks, read := documented(t, "docs/production.md", "toml"), reader(t)
	want := page.Operator{Name: "Example", Logo: logoOf(t, color.Black), Colour: "#14508c", Contact: "mailto:help@example.is"}
	if diff := cmp.Diff(want, read(blocks[1]).operator); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, read(documented(t, "docs/signing-page.md", "toml")[0]).operator); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(page.Operator{}, read(blocks[0]).operator); diff != "" {
		t.Error(diff)
	}
}

// All of it is noticed when it changes, also what is in the file that it names.
func TestPageChoices(t *testing.T) {
	read := reader(t)
	const all = "[page]\nname = \"Example\"\nlogo = \"logo.png\"\ncolour = \"#14508c\"\ncontact = \"https://help.example\"\n"
	before := read(all)
	for name, text := range map[string]string{
		"name":    "[page]\nname = \"Example ehf.\"\nlogo = \"logo.png\"\ncolour = \"#14508c\"\ncontact = \"https://help.example\"\n",
		"logo":    "[page]\nname = \"Example\"\ncolour = \"#14508c\"\ncontact = \"https://help.example\"\n",
		"colour":  "[page]\nname = \"Example\"\nlogo = \"logo.png\"\ncolour = \"#14508d\"\ncontact = \"https://help.example\"\n",
		"contact": "[page]\nname = \"Example\"\nlogo = \"logo.png\"\ncolour = \"#14508c\"\n",
		"all":     "",
	} {
		if changed := read(text).changed(before.atStart); !slices.Equal(changed, []string{"page"}) {
			t.Errorf("%s: changed: %v", name, changed)
		}
	}
	if changed := read(all).changed(before.atStart); changed != nil {
		t.Errorf("nothing was changed: %v", changed)
	}
	drawn := before.atStart
	drawn.operator.Logo = logoOf(t, color.White)
	if changed := read(all).changed(drawn); !slices.Equal(changed, []string{"page"}) {
		t.Errorf("another picture: %v", changed)
	}
}
