package stamp

import (
	"image"
	"unicode"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"
)

// glyph is a character where it is drawn, in thousandths of the font's size.
type glyph struct {
	symbol
	x, y int // from the start of the line, and above its baseline
}

// symbol is what is drawn for a character. Without a glyph of its own that is the font's
// glyph 0, a box.
type symbol struct {
	char    rune
	id      sfnt.GlyphIndex
	advance int
}

// symbol finds that of a character. Errors are those of a damaged font, which ours is not.
func (f *face) symbol(char rune) symbol {
	var b sfnt.Buffer
	id, _ := f.metrics.GlyphIndex(&b, char)
	advance, _ := f.metrics.GlyphAdvance(&b, id, fixed.I(em), font.HintingNone)
	return symbol{char, id, advance.Round()}
}

// isMark reports whether the font has a glyph without a width for a combining character.
func (s symbol) isMark() bool { return s.id != 0 && s.advance == 0 && unicode.Is(unicode.M, s.char) }

// kern returns how much further apart than usual two symbols stand.
func (f *face) kern(a, b symbol) int {
	if a.id == 0 || b.id == 0 {
		return 0
	}
	kern, err := f.metrics.Kern(nil, a.id, b.id, fixed.I(em), font.HintingNone)
	if err != nil {
		return 0 // as far as usual
	}
	return kern.Round()
}

// ink returns the bounding box of a symbol, y upwards; empty for a space.
func (f *face) ink(s symbol) image.Rectangle {
	bounds, _, _ := f.metrics.GlyphBounds(nil, s.id, fixed.I(em), font.HintingNone)
	return image.Rect(bounds.Min.X.Floor(), -bounds.Max.Y.Ceil(), bounds.Max.X.Ceil(), -bounds.Min.Y.Floor())
}

// shape sets a line, and returns its width. Characters stand side by side, kerned, and
// combining marks are over or below the one that they follow.
func (f *face) shape(text string) (glyphs []glyph, width int) {
	base := -1                 // the letter that marks are put on
	var letter image.Rectangle // its ink, once it has one
	for _, char := range text {
		s := f.symbol(char)
		if s.isMark() && base >= 0 {
			if base == len(glyphs)-1 {
				letter = f.inkUnderMarks(glyphs[base])
			}
			ink := f.ink(s)
			if f.isAbove(ink) {
				glyphs[base].symbol = f.withoutDot(glyphs[base].symbol)
			}
			at := f.mark(&letter, ink)
			glyphs = append(glyphs, glyph{s, at.X, at.Y})
			continue
		}
		if base >= 0 {
			width += f.kern(glyphs[base].symbol, s)
		}
		base = len(glyphs)
		glyphs = append(glyphs, glyph{s, width, 0})
		width += s.advance
	}
	return glyphs, width
}
