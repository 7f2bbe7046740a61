package page

import (
	"fmt"
	"html/template"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/innsigli/innsigli/stamp"
)

// sheet is a page of the document: a picture under its text, which is there to be read aloud, found,
// selected and copied, and not to be seen.
type sheet struct {
	Number        int
	Width, Height int    // of the page in the pixels of CSS
	Box           string // the page in points, which Lines are in
	Source        string
	Sources       template.Srcset
	Eager         bool // the picture is loaded at once
	Unread        bool // the text could not be read
	Lines         []line
}

// line is a line of text as SVG has it.
type line struct {
	X, Y   string // where it begins, on its baseline
	Length string // how long it is; empty: not known
	Size   string // of the letters
	Turn   string // a transform; empty: none
	Text   string
}

// a4 is what a page is taken for whose size is not known.
var a4 = stamp.Size{Width: 595, Height: 842}

func newSheet(path string, revision, number int, page stamp.Size) sheet {
	if page == (stamp.Size{}) {
		page = a4
	}
	const pixelsPerPoint = 96.0 / 72
	s := sheet{
		Number: number,
		Width:  max(1, int(math.Round(page.Width*pixelsPerPoint))),
		Height: max(1, int(math.Round(page.Height*pixelsPerPoint))),
		Box:    "0 0 " + points(page.Width) + " " + points(page.Height),
	}
	var sources []string
	for _, width := range pictureWidths {
		address := fmt.Sprintf("%s/%d?revision=%d", path, width, revision)
		if width == usualWidth {
			s.Source = address
		}
		sources = append(sources, fmt.Sprintf("%s %dw", address, width))
	}
	s.Sources = template.Srcset(strings.Join(sources, ", "))
	return s
}

const (
	// baseline is how far below its upper edge a line's letters stand, as a share of its height: that is
	// from the ascender to the descender of a font.
	baseline = 0.78
	// upended is how many times as high as it is wide a line is that is not written from left to
	// right.
	upended = 2
)

// place puts lines where they are on the sheet.
func (s *sheet) place(written []stamp.Line) []line {
	lines := make([]line, 0, len(written))
	for _, one := range written {
		r := one.Rect
		l := line{Text: one.Text}
		length, size := r.Width, r.Height
		x, y := r.Left, r.Top+baseline*r.Height
		if r.Height > upended*r.Width && utf8.RuneCountInString(one.Text) > 1 {
			length, size = r.Height, r.Width
			x, y = r.Left+(1-baseline)*r.Width, r.Top
			l.Turn = fmt.Sprintf("rotate(90 %s %s)", points(x), points(y))
		}
		l.X, l.Y, l.Size = points(x), points(y), points(max(size, 1))
		if length > 0 {
			l.Length = points(length)
		}
		lines = append(lines, l)
	}
	return lines
}

// points is a length to a tenth of a point.
func points(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
