package stamp

import (
	"bytes"
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"
	"unicode"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// TestFontFiles checks that the font files are as their makers released them, that all glyphs and
// characters can be read, so that symbol and ink need not return errors, and that the font has the
// scripts in which names are written.
func TestFontFiles(t *testing.T) {
	sums := map[string]string{
		"NotoSans-SemiCondensed":         "376e370d2be3742697cf06218e3aefc9020f49368dbea2ecc6885b488219e423",
		"NotoSans-SemiCondensedSemiBold": "684cb238cf7e0b051001109013c88805cac918f8a832df58be27a8ef927bff77",
	}
	// The blocks of Latin, Greek and Cyrillic, except the Coptic letters in the block of Greek.
	blocks := [][2]rune{
		{0x20, 0x7e}, {0xa0, 0x3e1}, {0x3f0, 0x52f}, {0x1c80, 0x1c88}, {0x1d00, 0x1d7f}, {0x1e00, 0x1fff}, {0x2010, 0x2027},
		{0x20a0, 0x20bf}, {0x2c60, 0x2c7f}, {0x2de0, 0x2dff}, {0xa640, 0xa69f}, {0xab30, 0xab65},
	}
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs}
	eachFace(t, func(t *testing.T, f *face) {
		file, err := fontFiles.ReadFile("fonts/" + f.name + ".ttf")
		if got := fmt.Sprintf("%x", sha256.Sum256(file)); err != nil || got != sums[f.name] {
			t.Errorf("got SHA-256 %s, error %v, want %s", got, err, sums[f.name])
		}
		var b sfnt.Buffer
		for id := range f.metrics.NumGlyphs() {
			if _, _, err := f.metrics.GlyphBounds(&b, sfnt.GlyphIndex(id), fixed.I(em), font.HintingNone); err != nil {
				t.Errorf("glyph %d: %v", id, err)
			}
		}
		for char := rune(0); char <= unicode.MaxRune; char++ {
			if _, err := f.metrics.GlyphIndex(&b, char); err != nil {
				t.Fatalf("%U: %v", char, err)
			}
		}
		for _, block := range blocks {
			for char := block[0]; char <= block[1]; char++ {
				if unicode.In(char, assigned...) && f.symbol(char).id == 0 {
					t.Errorf("the font lacks %U %c", char, char)
				}
			}
		}
		if f.symbol('北').id != 0 || f.symbol('א').id != 0 {
			t.Error("the font has Chinese or Hebrew, which tests take for absent")
		}
	})
}

func TestKerning(t *testing.T) {
	eachFace(t, func(t *testing.T, f *face) {
		_, a := f.shape("A")
		_, v := f.shape("V")
		if _, both := f.shape("AV"); both >= a+v {
			t.Errorf("AV is %d wide, want less than A and V, %d", both, a+v)
		}
	})
}

// TestCombiningMarks checks that marks are above, below or on their letter, that an i loses its dot
// below a mark, and that the marks on one letter are stacked up to the line above.
func TestCombiningMarks(t *testing.T) {
	eachFace(t, func(t *testing.T, f *face) {
		for text, test := range map[string]struct {
			letter rune // drawn below the mark
			valid  func(y int) bool
		}{
			"x\u0301": {'x', func(y int) bool { return y == 0 }},
			"X\u0301": {'X', func(y int) bool { return y > 100 }},
			"i\u030b": {'ı', func(y int) bool { return y == 0 }},
			"i\u0326": {'i', func(y int) bool { return y <= 0 }},
			"q\u0323": {'q', func(y int) bool { return y < -100 }},
			" \u0301": {' ', func(y int) bool { return y == 0 }},
			"x\u0338": {'x', func(y int) bool { return y == 0 }},
		} {
			glyphs, width := f.shape("W" + text)
			letter, mark := glyphs[1], glyphs[2]
			if letter.id != f.symbol(test.letter).id || !test.valid(mark.y) {
				t.Errorf("%+q: got %+v on %+v, want it on %c", text, mark, letter, test.letter)
			}
			middle := f.ink(mark.symbol).Min.X + f.ink(mark.symbol).Dx()/2 + mark.x
			if middle <= letter.x || middle >= width || width != letter.x+letter.advance {
				t.Errorf("%+q: the mark is at %d, the letter from %d to %d", text, middle, letter.x, width)
			}
		}
		glyphs, _ := f.shape("x" + strings.Repeat("\u0302", 6))
		for i, g := range glyphs[2:] {
			below := glyphs[i+1]
			top := f.ink(g.symbol).Max.Y + g.y
			if g.y < below.y || top > highestMark || g.y == below.y && top != highestMark {
				t.Errorf("mark %d is at %d and ends at %d, the one below is at %d", i+2, g.y, top, below.y)
			}
		}
	})
}

func TestCIDSet(t *testing.T) {
	for n, want := range map[int]string{1: "80", 2: "c0", 7: "fe", 8: "ff", 9: "ff80", 16: "ffff", 20: "fffff0"} {
		if got := fmt.Sprintf("%x", cidSet(n)); got != want {
			t.Errorf("%d CIDs: got %s, want %s", n, got, want)
		}
	}
}

// TestToUnicode checks that a CMap has at most 100 characters in a block, and characters outside the
// Basic Multilingual Plane in UTF-16 (ISO 32000-2 9.10.3).
func TestToUnicode(t *testing.T) {
	var all line
	for i := range 150 {
		all.glyphs = append(all.glyphs, glyph{symbol: symbol{char: rune(0x1f600 + i), id: sfnt.GlyphIndex(i)}})
	}
	cmap := newCodes([]line{all}, regular).toUnicode()
	for _, want := range []string{
		"\n100 beginbfchar\n<0001> <d83dde00>\n", "\n<0064> <d83dde63>\nendbfchar\n50 beginbfchar\n", "\n<0096> <d83dde95>\nendbfchar\n",
	} {
		if !bytes.Contains(cmap, []byte(want)) {
			t.Errorf("%q is not in\n%s", want, cmap)
		}
	}
}

// TestAbsentCharacters checks that two characters that the font lacks have different codes, so that
// programs copy them, and that no code is that of .notdef.
func TestAbsentCharacters(t *testing.T) {
	c := newCodes(layOut(t, Text{Name: "北京北"}), semiBold)
	want := []symbol{{char: '京', advance: c.symbols[0].advance}, {char: '北', advance: c.symbols[0].advance}}
	if diff := cmp.Diff(want, c.symbols, cmp.AllowUnexported(symbol{})); diff != "" {
		t.Errorf("symbols (-want +got):\n%s", diff)
	}
	for s, number := range c.numbers {
		if number == 0 {
			t.Errorf("%c has the code 0", s.char)
		}
	}
}

// eachFace runs a check for each face of the standard stamp.
func eachFace(t *testing.T, check func(t *testing.T, f *face)) {
	t.Helper()
	faces, err := readFaces()
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range faces {
		t.Run(f.name, func(t *testing.T) { check(t, f) })
	}
}
