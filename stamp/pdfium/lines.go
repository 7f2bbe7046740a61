package pdfium

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"

	"github.com/innsigli/innsigli/stamp"
)

// Bounds of what is read of a page. What comes after them is left out.
const (
	maxLines      = 5000
	maxText       = 200 << 10 // bytes
	maxCharacters = 200_000
)

// PDFium's constants, of fpdf_flatten.h, and the size of a FS_RECTF.
const (
	flatForDisplay = 0 // FLAT_NORMALDISPLAY
	flattened      = 1 // FLATTEN_SUCCESS
	rectangleSize  = 16
)

// Lines returns the text of a page in the order in which PDFium reads it, by lines, with that of the
// annotations and form fields that Render shows at the end. What is far apart on a line, as the columns
// of a table, is two lines. Places are those of the displayed page, as [stamp.ReadPage] has it. What
// lies outside of it is left out, and so is what comes after 5,000 lines or 200 KB, and every character
// that XML does not allow. A page without text has no line. Errors are those of Render and of
// [stamp.ReadPage].
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

// lines reads the text of a page. After an error the instance is good for nothing but to be closed.
func (i *instance) lines(ctx context.Context, file *io.SectionReader, shown *stamp.Page) ([]stamp.Line, error) {
	i.used++
	access, _, err := i.files.CreateFileAccessReader(file.Size(), file)
	if err != nil {
		return nil, fmt.Errorf("pdfium: opening the document: %w", err)
	}
	c := newCalls(ctx, i)
	document := c.need("FPDF_LoadCustomDocument", *access, 0)
	page := c.flatPage(document, uint64(shown.Number-1))
	text := c.need("FPDFText_LoadPage", page)
	lines := c.lines(text, shown)
	c.do("FPDFText_ClosePage", text)
	c.do("FPDF_ClosePage", page)
	c.do("FPDF_CloseDocument", document)
	if c.err != nil {
		return nil, c.err
	}
	return lines, i.files.Close()
}

// flatPage loads a page whose annotations, as far as they are shown, have become part of its content:
// PDFium reads no text anywhere else. This is in memory alone.
func (c *calls) flatPage(document, number uint64) uint64 {
	page := c.need("FPDF_LoadPage", document, number)
	if c.do("FPDFPage_Flatten", page, flatForDisplay) != flattened {
		return page
	}
	c.do("FPDF_ClosePage", page)
	return c.need("FPDF_LoadPage", document, number)
}

// lines reads the characters of a page one after another.
func (c *calls) lines(text uint64, shown *stamp.Page) []stamp.Line {
	count := int32(c.do("FPDFText_CountChars", text))
	rectangle := c.allocate(rectangleSize)
	l := lineReader{page: shown}
	for n := range uint64(min(max(count, 0), maxCharacters)) {
		char := rune(c.do("FPDFText_GetUnicode", text, n))
		if c.err != nil || !l.add(char, func() stamp.Rect { return c.place(text, n, rectangle, shown) }) {
			break
		}
	}
	l.end()
	c.do("free", rectangle)
	return l.lines
}

// place is where a character is, on the displayed page; the zero value if it is nowhere.
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
		if !(math.Abs(v[i]) < math.MaxInt32) { // NaN as well
			return stamp.Rect{}
		}
	}
	return shown.Displayed(v[0], v[3], v[2], v[1])
}
