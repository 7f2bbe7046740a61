package pdfium

import (
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/innsigli/innsigli/stamp"
)

const (
	// farApart is how many times its size a character is away from the one before it when the two
	// are not taken for one line. Words of justified text are nearer to each other.
	farApart = 1.5
	// hyphen is what PDFium has for one at the end of a line (CPDF_TextPage).
	hyphen = 0x02
)

// lineReader makes lines of characters.
type lineReader struct {
	page  *stamp.Page
	lines []stamp.Line
	size  int // of the text, in bytes

	text strings.Builder
	area stamp.Rect // of the text
	last stamp.Rect // of the last character with a place
	high rune       // the first half of a character in UTF-16; 0: none
}

// add adds a character, and says whether there may be more. Its place is asked for if it has one.
func (l *lineReader) add(char rune, place func() stamp.Rect) bool {
	switch char = l.whole(char); {
	case char == '\n' || char == '\r':
		l.end()
	case char == ' ' || char == '\t' || char == '\u00a0':
		l.space()
	case char == hyphen:
		l.put('-', place())
	case allowed(char):
		l.put(char, place())
	}
	return len(l.lines) < maxLines && l.size < maxText
}

// whole joins the halves of a character in UTF-16. Half a character is none.
func (l *lineReader) whole(char rune) rune {
	high := l.high
	l.high = 0
	switch {
	case !utf16.IsSurrogate(char):
		return char
	case high != 0:
		if char = utf16.DecodeRune(high, char); char != utf8.RuneError {
			return char
		}
		return 0
	}
	l.high = char
	return 0
}

// allowed says whether a character may be in XML 1.0 (2.2), and is to be seen.
func allowed(char rune) bool {
	return char > ' ' && char < 0x7f || char >= 0xa0 && char <= 0xfffd || char >= 0x10000 && char <= utf8.MaxRune
}

func (l *lineReader) space() {
	if text := l.text.String(); text != "" && !strings.HasSuffix(text, " ") {
		l.text.WriteByte(' ')
		l.size++
	}
}

func (l *lineReader) put(char rune, place stamp.Rect) {
	if placed := place.Width > 0 || place.Height > 0; placed {
		if !onPage(place, l.page.Size) {
			return
		}
		if l.last != (stamp.Rect{}) && apart(l.last, place) > farApart*max(larger(l.last), larger(place)) {
			l.end()
		}
		l.area = union(l.area, place)
		l.last = place
	}
	n, _ := l.text.WriteRune(char)
	l.size += n
}

// end ends the line.
func (l *lineReader) end() {
	if text := strings.TrimSpace(l.text.String()); text != "" && len(l.lines) < maxLines {
		l.lines = append(l.lines, stamp.Line{Rect: l.area, Text: text})
	}
	l.text.Reset()
	l.area, l.last = stamp.Rect{}, stamp.Rect{}
}

func onPage(r stamp.Rect, page stamp.Size) bool {
	return r.Left < page.Width && r.Top < page.Height && r.Left+r.Width > 0 && r.Top+r.Height > 0
}

// apart is how far it is from one rectangle to the other, in the direction in which that is more.
func apart(a, b stamp.Rect) float64 {
	return max(
		b.Left-a.Left-a.Width, a.Left-b.Left-b.Width,
		b.Top-a.Top-a.Height, a.Top-b.Top-b.Height)
}

// larger is about the size of a character, in whatever direction it is written.
func larger(r stamp.Rect) float64 { return max(r.Width, r.Height) }

func union(a, b stamp.Rect) stamp.Rect {
	if a == (stamp.Rect{}) {
		return b
	}
	left, top := min(a.Left, b.Left), min(a.Top, b.Top)
	right, bottom := max(a.Left+a.Width, b.Left+b.Width), max(a.Top+a.Height, b.Top+b.Height)
	return stamp.Rect{Left: left, Top: top, Width: right - left, Height: bottom - top}
}
