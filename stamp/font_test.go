package stamp

import (
	"crypto/sha256"
	"fmt"
	"testing"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// scripts are the blocks that names are written in, all of which the font has.
var scripts = []struct {
	name        string
	first, last rune
}{
	{"Basic Latin", 0x20, 0x7e},
	{"Latin-1 Supplement", 0xa0, 0xff},
	{"Latin Extended-A", 0x100, 0x17f},
	{"Latin Extended-B", 0x180, 0x24f},
	{"IPA Extensions", 0x250, 0x2af},
	{"Spacing Modifier Letters", 0x2b0, 0x2ff},
	{"Combining Diacritical Marks", 0x300, 0x36f},
	{"Greek", 0x370, 0x3e1},
	{"Greek, after the letters that are Coptic", 0x3f0, 0x3ff},
	{"Cyrillic", 0x400, 0x4ff},
	{"Cyrillic Supplement", 0x500, 0x52f},
	{"Cyrillic Extended-C", 0x1c80, 0x1c88},
	{"Phonetic Extensions", 0x1d00, 0x1d7f},
	{"Latin Extended Additional", 0x1e00, 0x1eff},
	{"Greek Extended", 0x1f00, 0x1fff},
	{"General Punctuation", 0x2010, 0x2027},
	{"Currency Symbols", 0x20a0, 0x20bf},
	{"Latin Extended-C", 0x2c60, 0x2c7f},
	{"Cyrillic Extended-A", 0x2de0, 0x2dff},
	{"Cyrillic Extended-B", 0xa640, 0xa69f},
	{"Latin Extended-E", 0xab30, 0xab65},
}

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

func TestFontHasTheScriptsOfNames(t *testing.T) {
	assigned := []*unicode.RangeTable{unicode.L, unicode.M, unicode.N, unicode.P, unicode.S, unicode.Zs}
	eachFace(t, func(t *testing.T, f *face) {
		for _, script := range scripts {
			for char := script.first; char <= script.last; char++ {
				if unicode.In(char, assigned...) && f.symbol(char).id == 0 {
					t.Errorf("%s: no %U %c", script.name, char, char)
				}
			}
		}
		if f.symbol('北').id != 0 || f.symbol('א').id != 0 {
			t.Error("the font has more than is said")
		}
	})
}

// The faces can be read throughout, which is why symbol and ink return no errors.
func TestFontIsSound(t *testing.T) {
	eachFace(t, func(t *testing.T, f *face) {
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
	})
}

// The files are as their makers released them.
func TestFontIsUnmodified(t *testing.T) {
	for name, want := range map[string]string{
		"NotoSans-SemiCondensed":         "376e370d2be3742697cf06218e3aefc9020f49368dbea2ecc6885b488219e423",
		"NotoSans-SemiCondensedSemiBold": "684cb238cf7e0b051001109013c88805cac918f8a832df58be27a8ef927bff77",
	} {
		file, err := fontFiles.ReadFile("fonts/" + name + ".ttf")
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprintf("%x", sha256.Sum256(file)); got != want {
			t.Errorf("%s: SHA-256 is %s", name, got)
		}
	}
}

func TestKerning(t *testing.T) {
	eachFace(t, func(t *testing.T, f *face) {
		_, a := f.shape("A")
		_, v := f.shape("V")
		if _, both := f.shape("AV"); both >= a+v {
			t.Errorf("AV is %d wide, A and V %d", both, a+v)
		}
	})
}

func TestCombiningMarks(t *testing.T) {
	for text, want := range map[string]struct {
		onLetter rune // what is drawn under the mark
		check    func(letter, mark glyph) bool
	}{
		"x\u0301": {'x', func(_, mark glyph) bool { return mark.y == 0 }},
		"X\u0301": {'X', func(_, mark glyph) bool { return mark.y > 100 }},
		"i\u030b": {'ı', func(_, mark glyph) bool { return mark.y == 0 }},
		"i\u0326": {'i', func(_, mark glyph) bool { return mark.y <= 0 }},
		"q\u0323": {'q', func(_, mark glyph) bool { return mark.y < -100 }},
		" \u0301": {' ', func(_, mark glyph) bool { return mark.y == 0 }},
		"x\u0338": {'x', func(_, mark glyph) bool { return mark.y == 0 }},
	} {
		t.Run(fmt.Sprintf("%+q", text), func(t *testing.T) {
			eachFace(t, func(t *testing.T, f *face) {
				glyphs, width := f.shape("W" + text)
				letter, mark := glyphs[1], glyphs[2]
				if letter.id != f.symbol(want.onLetter).id || !want.check(letter, mark) {
					t.Errorf("%+v on %+v", mark, letter)
				}
				middle := f.ink(mark.symbol).Min.X + f.ink(mark.symbol).Dx()/2 + mark.x
				if middle <= letter.x || middle >= width || width != letter.x+letter.advance {
					t.Errorf("mark about %d on a letter from %d to %d", middle, letter.x, width)
				}
			})
		})
	}
}

// Marks on one letter stand over each other until they reach the line above.
func TestCombiningMarksAreStacked(t *testing.T) {
	eachFace(t, func(t *testing.T, f *face) {
		glyphs, _ := f.shape("x\u0302\u0302\u0302\u0302\u0302\u0302")
		for i, g := range glyphs[2:] {
			below := glyphs[i+1]
			top := f.ink(g.symbol).Max.Y + g.y
			if g.y < below.y || top > highestMark || g.y == below.y && top != highestMark {
				t.Errorf("mark %d is at %d up to %d, over one at %d", i+2, g.y, top, below.y)
			}
		}
	})
}
