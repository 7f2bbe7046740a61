package pdfium

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/innsigli/innsigli/stamp"
)

// Bounds of the text of a page. Text beyond them is left out.
const (
	maxLines      = 5000
	maxText       = 200 << 10 // bytes
	maxCharacters = 200_000
)

// Constants of PDFium, from fpdf_flatten.h, and the size of an FS_RECTF.
const (
	flatForDisplay = 0 // FLAT_NORMALDISPLAY
	flattened      = 1 // FLATTEN_SUCCESS
	rectangleSize  = 16
)

// Lines returns the text of a page by lines, in the order in which PDFium reads it. The text of
// annotations and form fields that Render shows comes last. Parts of a line that are far apart,
// such as the columns of a table, are separate lines. Places are on the displayed page, as in
// [stamp.ReadPage]. Text that the picture of the page does not show is left out: text outside the page,
// in the colour of what is around it, under an image, clipped, or in a hidden layer. So are text after
// 5,000 lines or 200 KB and characters that XML does not allow. Which characters the glyphs stand
// for is what the fonts state. A page without text has no lines. Errors are those of
// Render and of [stamp.ReadPage].
func (r *Renderer) Lines(ctx context.Context, src io.ReaderAt, size int64, page int) ([]stamp.Line, error) {
	return r.Within(r.options.Limit).Lines(ctx, src, size, page)
}

// Lines is [Renderer.Lines].
func (l Limited) Lines(ctx context.Context, src io.ReaderAt, size int64, page int) ([]stamp.Line, error) {
	if err := checkPage(size, page); err != nil {
		return nil, err
	}
	shown, err := stamp.ReadPage(src, size, page)
	if err != nil {
		return nil, err
	}
	var lines []stamp.Line
	err = l.use(ctx, src, size, func(ctx context.Context, i *instance, file *io.SectionReader) (err error) {
		lines, err = i.lines(ctx, file, shown)
		return err
	})
	if err != nil {
		return nil, err
	}
	return lines, nil
}

// lines reads the text of a page. After an error the instance can only be closed.
func (i *instance) lines(ctx context.Context, file *io.SectionReader, shown *stamp.Page) ([]stamp.Line, error) {
	i.used++
	access, _, err := i.files.CreateFileAccessReader(file.Size(), file)
	if err != nil {
		return nil, fmt.Errorf("pdfium: opening the document: %w", err)
	}
	c := newCalls(ctx, i)
	document := c.doNonZero("FPDF_LoadCustomDocument", *access, 0)
	page := c.flattenedPage(document, uint64(shown.Number-1))
	text := c.doNonZero("FPDFText_LoadPage", page)
	lines := c.lines(page, text, shown)
	c.do("FPDFText_ClosePage", text)
	c.do("FPDF_ClosePage", page)
	c.do("FPDF_CloseDocument", document)
	if c.err != nil {
		return nil, c.err
	}
	return lines, i.files.Close()
}

// flattenedPage loads a page and makes its visible annotations part of its content, because PDFium
// reads text only there. This changes the document in memory only.
func (c *calls) flattenedPage(document, number uint64) uint64 {
	page := c.doNonZero("FPDF_LoadPage", document, number)
	if c.do("FPDFPage_Flatten", page, flatForDisplay) != flattened {
		return page
	}
	c.do("FPDF_ClosePage", page)
	return c.doNonZero("FPDF_LoadPage", document, number)
}

// lines returns the lines of a page that its picture shows.
func (c *calls) lines(page, text uint64, shown *stamp.Page) []stamp.Line {
	finder := newHiddenFinder(c, page, shown)
	characters := c.characters(text, shown, finder)
	visible := finder.shown(characters)
	if c.err != nil {
		return nil
	}
	l := lineReader{page: shown}
	for n, one := range characters {
		if !visible[n] && !isSeparator(one.code) {
			continue
		}
		if !l.add(one.code, func() stamp.Rect { return one.loose }) {
			break
		}
	}
	l.end()
	return l.lines
}

// characters returns the characters of a page, as many as the bounds of its text allow.
func (c *calls) characters(text uint64, shown *stamp.Page, finder *hiddenFinder) (list []character) {
	count := int32(c.do("FPDFText_CountChars", text))
	room := c.allocate(2 * rectangleSize)
	for n := range uint64(min(max(count, 0), maxCharacters)) {
		one := character{code: rune(c.do("FPDFText_GetUnicode", text, n)), object: noObject}
		if c.err != nil {
			return nil
		}
		if !isSeparator(one.code) {
			one.object = finder.object(c.do("FPDFText_GetTextObject", text, n))
			one.loose, one.tight = c.place(text, n, room, shown), c.tightPlace(text, n, room, shown)
		}
		list = append(list, one)
	}
	c.do("free", room)
	return list
}

// isSeparator reports whether a character only separates others, so that it need not be seen.
func isSeparator(char rune) bool {
	return char == '\n' || char == '\r' || char == ' ' || char == '\t' || char == '\u00a0'
}

// tightPlace is place without the space around the glyph. room has space for four numbers.
func (c *calls) tightPlace(text, n, room uint64, shown *stamp.Page) stamp.Rect {
	const number = 8 // bytes of a double
	if c.do("FPDFText_GetCharBox", text, n, room, room+number, room+2*number, room+3*number) == 0 {
		return stamp.Rect{}
	}
	view := c.memory(room, 4*number)
	if view == nil {
		return stamp.Rect{}
	}
	var v [4]float64 // left, right, bottom, top
	for i := range v {
		v[i] = math.Float64frombits(binary.LittleEndian.Uint64(view[number*i:]))
		if !(math.Abs(v[i]) < math.MaxInt32) { // also true for NaN
			return stamp.Rect{}
		}
	}
	return shown.Displayed(v[0], v[2], v[1], v[3])
}

// place returns the place of a character on the displayed page, or the zero value if it has none.
func (c *calls) place(text, n, rectangle uint64, shown *stamp.Page) stamp.Rect {
	if c.do("FPDFText_GetLooseCharBox", text, n, rectangle) == 0 {
		return stamp.Rect{}
	}
	view := c.memory(rectangle, rectangleSize)
	if view == nil {
		return stamp.Rect{}
	}
	var v [4]float64 // left, top, right, bottom
	for i := range v {
		v[i] = float64(math.Float32frombits(binary.LittleEndian.Uint32(view[4*i:])))
		if !(math.Abs(v[i]) < math.MaxInt32) { // also true for NaN
			return stamp.Rect{}
		}
	}
	return shown.Displayed(v[0], v[3], v[2], v[1])
}

const (
	// maxGap is the distance, in sizes of the larger character, at which two consecutive characters
	// are not on the same line. Words of justified text are closer.
	maxGap = 1.5
	// hyphen is PDFium's code for a hyphen at the end of a line (CPDF_TextPage).
	hyphen = 0x02
)

// lineReader joins characters to lines.
type lineReader struct {
	page  *stamp.Page
	lines []stamp.Line
	size  int // of all text, in bytes

	text          strings.Builder
	area          stamp.Rect // of the current line
	last          stamp.Rect // place of the last character that has one
	highSurrogate rune       // the first half of a character in UTF-16; 0: none
}

// add adds a character and reports whether the bounds allow more. It calls place only for visible
// characters.
func (l *lineReader) add(char rune, place func() stamp.Rect) bool {
	switch char = l.joinSurrogates(char); {
	case char == '\n' || char == '\r':
		l.end()
	case isSeparator(char):
		l.addSpace()
	case char == hyphen:
		l.addCharacter('-', place())
	case isVisibleInXML(char):
		l.addCharacter(char, place())
	}
	return len(l.lines) < maxLines && l.size < maxText
}

// joinSurrogates joins the two surrogates of a character in UTF-16. It returns 0 for a surrogate
// without its other half.
func (l *lineReader) joinSurrogates(char rune) rune {
	high := l.highSurrogate
	l.highSurrogate = 0
	switch {
	case !utf16.IsSurrogate(char):
		return char
	case high != 0:
		if char = utf16.DecodeRune(high, char); char != utf8.RuneError {
			return char
		}
		return 0
	}
	l.highSurrogate = char
	return 0
}

// isVisibleInXML reports whether XML 1.0 (2.2) allows a character and the character is visible.
func isVisibleInXML(char rune) bool {
	return char > ' ' && char < 0x7f || char >= 0xa0 && char <= 0xfffd || char >= 0x10000 && char <= utf8.MaxRune
}

func (l *lineReader) addSpace() {
	if text := l.text.String(); text != "" && !strings.HasSuffix(text, " ") {
		l.text.WriteByte(' ')
		l.size++
	}
}

func (l *lineReader) addCharacter(char rune, place stamp.Rect) {
	if placed := place.Width > 0 || place.Height > 0; placed {
		if !onPage(place, l.page.Size) {
			return
		}
		if l.last != (stamp.Rect{}) && gap(l.last, place) > maxGap*max(longerSide(l.last), longerSide(place)) {
			l.end()
		}
		l.area = union(l.area, place)
		l.last = place
	}
	n, _ := l.text.WriteRune(char)
	l.size += n
}

// end ends the current line.
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

// gap returns the horizontal or vertical distance between two rectangles, whichever is greater.
func gap(a, b stamp.Rect) float64 {
	return max(
		b.Left-a.Left-a.Width, a.Left-b.Left-b.Width,
		b.Top-a.Top-a.Height, a.Top-b.Top-b.Height)
}

// longerSide returns the approximate size of a character, whatever its writing direction.
func longerSide(r stamp.Rect) float64 { return max(r.Width, r.Height) }

func union(a, b stamp.Rect) stamp.Rect {
	if a == (stamp.Rect{}) {
		return b
	}
	left, top := min(a.Left, b.Left), min(a.Top, b.Top)
	right, bottom := max(a.Left+a.Width, b.Left+b.Width), max(a.Top+a.Height, b.Top+b.Height)
	return stamp.Rect{Left: left, Top: top, Width: right - left, Height: bottom - top}
}
