package config

import (
	"image/color"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal/page"
)

// The [page] of docs/production.md, and that of docs/signing-page.md, say what the comments beside them do, and without one all is
// Innsigli's own.
func TestPageConfiguration(t *testing.T) {
	blocks, read := testenv.Blocks(t, "docs/production.md", "toml"), reader(t)
	want := page.Operator{Name: "Example", Logo: testenv.Picture(t, color.Black), Colour: "#14508c", Contact: "mailto:help@example.is"}
	if diff := cmp.Diff(want, read(blocks[1]).Operator); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(want, read(testenv.Blocks(t, "docs/signing-page.md", "toml")[0]).Operator); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(page.Operator{}, read(blocks[0]).Operator); diff != "" {
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
		if changed := read(text).changed(before.AtStart); !slices.Equal(changed, []string{"page"}) {
			t.Errorf("%s: changed: %v", name, changed)
		}
	}
	if changed := read(all).changed(before.AtStart); changed != nil {
		t.Errorf("nothing was changed: %v", changed)
	}
	drawn := before.AtStart
	drawn.Page.logo = testenv.Picture(t, color.White)
	if changed := read(all).changed(drawn); !slices.Equal(changed, []string{"page"}) {
		t.Errorf("another picture: %v", changed)
	}
}
