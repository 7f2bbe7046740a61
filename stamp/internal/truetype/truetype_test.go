package truetype

import (
	"encoding/binary"
	"errors"
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

// TestSubsetDrawsTheSame checks with another reader of fonts that each glyph of a subset has the
// outline and the width that it has in the font.
func TestSubsetDrawsTheSame(t *testing.T) {
	all := make([]uint16, must(Parse(fontFile)).glyphs)
	for i := range all {
		all[i] = uint16(len(all) - 1 - i)
	}
	for name, glyphs := range map[string][]uint16{"all, backwards": all, "one, twice": {0, 200, 200}} {
		t.Run(name, func(t *testing.T) {
			subset := subsetOf(fontFile, glyphs...)
			full, small := must(sfnt.Parse(fontFile)), must(sfnt.Parse(withOtherTables(subset.File, fontFile)))
			if small.NumGlyphs() != subset.Glyphs || subset.Glyphs < len(glyphs) {
				t.Errorf("the file has %d glyphs, Glyphs is %d, and %d were asked for", small.NumGlyphs(), subset.Glyphs, len(glyphs))
			}
			for i, glyph := range glyphs {
				wantShape, wantWidth := drawn(full, sfnt.GlyphIndex(glyph))
				gotShape, gotWidth := drawn(small, sfnt.GlyphIndex(i))
				if !slices.Equal(gotShape, wantShape) || gotWidth != wantWidth {
					t.Fatalf("glyph %d as glyph %d: got %v and width %v, want %v and %v", glyph, i, gotShape, gotWidth, wantShape, wantWidth)
				}
			}
		})
	}
}

// TestComponents checks that the components of a composite glyph are in the subset, and theirs: the
// sign for ångström consists of the letter Å, and that of A and a ring. There are no hints.
func TestComponents(t *testing.T) {
	glyph := must(must(sfnt.Parse(fontFile)).GlyphIndex(nil, '\u212b'))
	subset := subsetOf(fontFile, 0, uint16(glyph))
	if subset.Glyphs != 5 || len(subset.File) > 1024 {
		t.Errorf("got %d glyphs in %d bytes, want .notdef, the sign, Å, A and the ring in at most 1024", subset.Glyphs, len(subset.File))
	}
	if same := subsetOf(fontFile, 0, uint16(glyph)); !cmp.Equal(subset, same) {
		t.Error("the same glyphs give other bytes")
	}
}

// TestTables checks that a subset has the tables of ISO 32000-2 table 124 with correct checksums, and
// the fields by which its directory is searched (ISO/IEC 14496-22 4.5.1).
func TestTables(t *testing.T) {
	subset := subsetOf(fontFile, 0, 36, 37).File
	if want := []byte{0, 6, 0, 64, 0, 2, 0, 32}; !slices.Equal(subset[4:12], want) {
		t.Errorf("the directory begins with % x, want % x", subset[4:12], want)
	}
	var tags []string
	for i := range int(binary.BigEndian.Uint16(subset[4:])) {
		record := subset[12+16*i:]
		tag, offset, length := string(record[:4]), binary.BigEndian.Uint32(record[8:]), binary.BigEndian.Uint32(record[12:])
		tags = append(tags, tag)
		table := slices.Clone(subset[offset : (offset+length+3)&^3])
		if tag == "head" {
			clear(table[8:12]) // checkSumAdjustment
		}
		if want := binary.BigEndian.Uint32(record[4:]); offset%4 != 0 || checksum(table) != want {
			t.Errorf("table %s at %d has the checksum %08x, want %08x", tag, offset, checksum(table), want)
		}
	}
	if want := []string{"glyf", "head", "hhea", "hmtx", "loca", "maxp"}; !slices.Equal(tags, want) {
		t.Errorf("got tables %q, want %q", tags, want)
	}
	if sum := checksum(subset); sum != 0xb1b0afba {
		t.Errorf("the file has the checksum %08x, want b1b0afba", sum)
	}
}

func TestDamagedFonts(t *testing.T) {
	sound := subsetOf(fontFile, 0, 36, 200).File
	for name, font := range map[string][]byte{
		"empty file":                nil,
		"PostScript outlines":       append([]byte("OTTO"), sound[4:]...),
		"truncated directory":       sound[:40],
		"truncated table":           sound[:len(sound)-40],
		"no table glyf":             append(append(slices.Clone(sound[:12]), 'x'), sound[13:]...),
		"no glyphs":                 patch(sound, "maxp", 4, 0),
		"more glyphs than outlines": patch(sound, "maxp", 4, 9),
		"no advances":               patch(sound, "hhea", 34, 0),
		"more advances than glyphs": patch(sound, "hhea", 34, 9999),
		"outline outside the table": patch(sound, "loca", 4, 0x7fff),
		"more contours than points": patch(sound, "glyf", 0, 0x7fff),
		"instructions too long":     patch(sound, "glyf", 10+2*2, 0xffff),
		"composite without an end":  patch(patch(sound, "glyf", 0, 0xffff), "glyf", 10, 0xffff),
	} {
		f, err := Parse(font)
		if err == nil {
			_, err = f.Subset([]uint16{0, 1, 2})
		}
		if !errors.Is(err, ErrFont) {
			t.Errorf("%s: got error %v, want %v", name, err, ErrFont)
		}
	}
	if _, err := must(Parse(sound)).Subset([]uint16{0, 1000}); !errors.Is(err, ErrFont) {
		t.Errorf("glyph 1000 of few: got error %v, want %v", err, ErrFont)
	}
}

// FuzzSubset checks that a subset of an arbitrary font is a font, of which a subset can be made that
// has no more glyphs.
func FuzzSubset(f *testing.F) {
	f.Add(subsetOf(fontFile, 0, 36, 200).File, uint16(1))
	f.Add(subsetOf(fontFile, 0).File, uint16(0))
	f.Fuzz(func(t *testing.T, content []byte, glyph uint16) {
		font, err := Parse(content)
		if err != nil {
			return
		}
		subset, err := font.Subset([]uint16{0, glyph, glyph})
		if err != nil {
			return
		}
		if same := subsetOf(subset.File, 0, 1, 2); same.Glyphs > subset.Glyphs {
			t.Errorf("a subset of %d glyphs has a subset of %d", subset.Glyphs, same.Glyphs)
		}
	})
}

// must returns a value of a function that may not fail here.
func must[T any](value T, err error) T {
	if err != nil {
		panic(err)
	}
	return value
}

// fontFile is a font of 3,317 glyphs, most of them composite.
var fontFile = must(os.ReadFile(filepath.Join("..", "..", "fonts", "NotoSans-SemiCondensed.ttf")))

func subsetOf(file []byte, glyphs ...uint16) *Subset { return must(must(Parse(file)).Subset(glyphs)) }

// patch returns the font with another number in a table.
func patch(font []byte, tag string, at int, value uint16) []byte {
	font = slices.Clone(font)
	binary.BigEndian.PutUint16(must(readDirectory(font))[tag][at:], value)
	return font
}

// withOtherTables adds to a subset the tables of the full font that other readers need and a PDF does
// not, post without the names of glyphs.
func withOtherTables(subset, full []byte) []byte {
	small, all := must(readDirectory(subset)), must(readDirectory(full))
	for _, tag := range []string{"OS/2", "cmap", "name"} {
		small[tag] = all[tag]
	}
	small["post"] = append([]byte{0, 3, 0, 0}, all["post"][4:32]...)
	var tables []table
	for _, tag := range slices.Sorted(maps.Keys(small)) {
		tables = append(tables, table{tag, small[tag]})
	}
	return writeTables(tables)
}

// drawn returns the outline and the width of a glyph.
func drawn(f *sfnt.Font, glyph sfnt.GlyphIndex) (sfnt.Segments, fixed.Int26_6) {
	var b sfnt.Buffer
	width := must(f.GlyphAdvance(&b, glyph, fixed.I(1000), font.HintingNone))
	return must(f.LoadGlyph(&b, glyph, fixed.I(1000), nil)), width
}
