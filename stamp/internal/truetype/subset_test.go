package truetype

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// file is a font of 3,317 glyphs, most of them composite.
func file(t testing.TB) []byte {
	t.Helper()
	content, err := os.ReadFile(filepath.Join("..", "..", "fonts", "NotoSans-SemiCondensed.ttf"))
	if err != nil {
		t.Fatal(err)
	}
	return content
}

func parse(t testing.TB, content []byte) *Font {
	t.Helper()
	f, err := Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func subsetOf(t testing.TB, content []byte, glyphs ...uint16) *Subset {
	t.Helper()
	s, err := parse(t, content).Subset(glyphs)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Another reader of fonts finds every glyph in a subset as it was, in whatever order they were
// asked for.
func TestSubsetDrawsTheSame(t *testing.T) {
	content := file(t)
	font := parse(t, content)
	var backwards []uint16
	for glyph := font.glyphs - 1; glyph >= 0; glyph-- {
		backwards = append(backwards, uint16(glyph))
	}
	for name, glyphs := range map[string][]uint16{
		"all, backwards": backwards,
		"every tenth":    everyTenth(font.glyphs),
		"one, twice":     {0, 200, 200},
	} {
		t.Run(name, func(t *testing.T) {
			subset := subsetOf(t, content, glyphs...)
			full, small := reader(t, content), reader(t, withNames(t, subset.File, content))
			if small.NumGlyphs() != subset.Glyphs || subset.Glyphs < len(glyphs) {
				t.Errorf("%d glyphs, said to be %d, of %d asked for", small.NumGlyphs(), subset.Glyphs, len(glyphs))
			}
			for i, glyph := range glyphs {
				want, got := read(t, full, sfnt.GlyphIndex(glyph)), read(t, small, sfnt.GlyphIndex(i))
				if diff := cmp.Diff(want, got); diff != "" {
					t.Fatalf("glyph %d as glyph %d (-want +got):\n%s", glyph, i, diff)
				}
			}
		})
	}
}

func everyTenth(n int) []uint16 {
	var out []uint16
	for glyph := 0; glyph < n; glyph += 10 {
		out = append(out, uint16(glyph))
	}
	return out
}

func reader(t *testing.T, content []byte) *sfnt.Font {
	t.Helper()
	f, err := sfnt.Parse(content)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// withNames adds to a subset what a PDF file has in other places and other readers ask for:
// the tables of the full font, but post without the names of glyphs.
func withNames(t *testing.T, subset, full []byte) []byte {
	t.Helper()
	small, err := readDirectory(subset)
	if err != nil {
		t.Fatal(err)
	}
	all, err := readDirectory(full)
	if err != nil {
		t.Fatal(err)
	}
	var tables []table
	for _, tag := range slices.Sorted(maps.Keys(all)) {
		switch {
		case small[tag] != nil:
			tables = append(tables, table{tag, small[tag]})
		case tag == "post":
			tables = append(tables, table{tag, append([]byte{0, 3, 0, 0}, all[tag][4:32]...)})
		case tag == "OS/2", tag == "cmap", tag == "name":
			tables = append(tables, table{tag, all[tag]})
		}
	}
	return writeTables(tables)
}

// drawn is what there is to see of a glyph.
type drawn struct {
	Segments sfnt.Segments
	Advance  fixed.Int26_6
}

func read(t *testing.T, f *sfnt.Font, glyph sfnt.GlyphIndex) drawn {
	t.Helper()
	var b sfnt.Buffer
	segments, err := f.LoadGlyph(&b, glyph, fixed.I(1000), nil)
	if err != nil {
		t.Fatalf("glyph %d: %v", glyph, err)
	}
	advance, err := f.GlyphAdvance(&b, glyph, fixed.I(1000), font.HintingNone)
	if err != nil {
		t.Fatalf("glyph %d: %v", glyph, err)
	}
	return drawn{segments, advance}
}

// The parts of a composite glyph come with it, and theirs: the sign for ångström is the
// letter Å, and that is A with a ring.
func TestPartsComeAlong(t *testing.T) {
	content := file(t)
	glyph, err := reader(t, content).GlyphIndex(nil, '\u212b')
	if err != nil {
		t.Fatal(err)
	}
	subset := subsetOf(t, content, 0, uint16(glyph))
	if subset.Glyphs != 5 {
		t.Errorf("%d glyphs, want .notdef, the sign, Å, A and the ring", subset.Glyphs)
	}
	if same := subsetOf(t, content, 0, uint16(glyph)); !cmp.Equal(subset, same) {
		t.Error("the same glyphs made other bytes")
	}
	if len(subset.File) > 1024 {
		t.Errorf("%d bytes, want hints to be left out", len(subset.File))
	}
}
