package stamp

import "image"

// How far marks go from the baseline, in thousandths of the font's size. The stamp has room for
// that over its first line and below its last.
const (
	highestMark = 1150
	lowestMark  = -400
)

// mark returns where a combining mark is drawn on a letter, and makes the letter's ink grow by
// it. Marks are made for small letters: those above rise as far as the letter is
// higher, those below sink as far as it goes below the baseline, and others stay on
// it. No number of marks leaves the line.
func (f *face) mark(letter *image.Rectangle, mark image.Rectangle) image.Point {
	at := image.Pt((letter.Min.X+letter.Max.X-mark.Min.X-mark.Max.X)/2, 0)
	switch {
	case f.isAbove(mark):
		at.Y = max(0, min(letter.Max.Y-f.xHeight, highestMark-mark.Max.Y))
		letter.Max.Y = max(letter.Max.Y, mark.Max.Y+at.Y)
	case mark.Max.Y < f.xHeight/4:
		at.Y = min(0, max(letter.Min.Y, lowestMark-mark.Min.Y))
		letter.Min.Y = min(letter.Min.Y, mark.Min.Y+at.Y)
	}
	return at
}

func (f *face) isAbove(mark image.Rectangle) bool { return mark.Min.Y > f.xHeight/2 }

// inkUnderMarks is the box that a letter's marks are put on. A space has one too, without height.
func (f *face) inkUnderMarks(letter glyph) image.Rectangle {
	ink := f.ink(f.withoutDot(letter.symbol))
	if ink.Empty() {
		ink = image.Rect(0, 0, letter.advance, 0)
	}
	return ink.Add(image.Pt(letter.x, 0))
}

// withoutDot returns an i or j as it is below a mark (Unicode 7.1, Diacritics on i and j). It
// still stands for the same character.
func (f *face) withoutDot(s symbol) symbol {
	switch s.char {
	case 'i':
		s.id = f.symbol('ı').id
	case 'j':
		s.id = f.symbol('ȷ').id
	}
	return s
}
