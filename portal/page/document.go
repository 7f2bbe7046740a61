package page

import (
	"context"
	"errors"
	"fmt"
	"html/template"
	"iter"
	"math"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
)

// Limits of the pages of a document on one page of HTML.
const (
	pagesPerPart = 50 // document pages on one page of HTML
	eagerPages   = 2  // of them whose pictures are loaded at once
	// textTimeout limits the time to extract the text of all of them, since the form to sign comes after them.
	textTimeout = 8 * time.Second
)

// documentView is the data of document.html: the pages First to Last of a document, each a picture with its
// text.
type documentView struct {
	Path        string // of the page of the participant
	Revision    int    // that is shown
	Total       int    // number of pages of the document
	Shown       int    // number of pages that can be shown; 0: the file is not a readable PDF
	First, Last int
	Earlier     int // first page of the part before; 0: there is none
	Later       int // first page of the part after; 0: there is none
	Warnings    []warningView
	NotShown    string // pages that cannot be shown, such as "3,7-9"; empty: none
	Pages       iter.Seq[documentPage]
	response    *response
}

// response flushes the HTTP response that a documentView is written to.
type response struct{ flush func() }

// documentViewOf returns the view of a participant's document, from the part with the page from on. The text of
// pages is read while they are written; see [Page.renderStreaming]. Errors: [portal.ErrChanged],
// [portal.ErrNotFound], errBusy, or an error of the store.
func (p *Page) documentViewOf(ctx context.Context, view portal.ParticipantView, from string) (documentView, error) {
	v := documentView{
		Path:     participantPath(view.ID, view.Participant.ID),
		Revision: view.Revision(),
		Pages:    func(func(documentPage) bool) {},
		response: &response{flush: func() {}},
	}
	rev, open := p.currentRevision(view)
	sizes, err := p.pictures.sizes(ctx, rev, open)
	if err != nil && !errors.Is(err, errUnreadable) {
		return v, err
	}
	if v.NotShown, err = p.notShown(ctx, &view, sizes); err != nil {
		return v, err
	}
	v.Warnings = warningsOf(view.Warnings, v.NotShown)
	if sizes == nil {
		return v, nil
	}
	v.Total, v.Shown = sizes.total, len(sizes.pages)
	v.selectPart(from)
	v.Pages = p.documentPages(ctx, &v, rev, open, sizes)
	return v, nil
}

// currentRevision returns the document's revision in the view, and how to open it.
func (p *Page) currentRevision(view portal.ParticipantView) (docRevision, openFunc) {
	return docRevision{view.Account, view.ID, view.Revision()}, func(ctx context.Context) (portal.DocumentCopy, error) {
		return p.config.Portal.Open(ctx, view.ID, view.Participant.ID)
	}
}

// selectPart selects the part with a page, or the first part if there is no such page.
func (v *documentView) selectPart(page string) {
	n, err := strconv.Atoi(page)
	if err != nil || n < 1 || n > v.Shown {
		n = 1
	}
	v.First = (n-1)/pagesPerPart*pagesPerPart + 1
	v.Last = min(v.First+pagesPerPart-1, v.Shown)
	if v.First > 1 {
		v.Earlier = v.First - pagesPerPart
	}
	if v.Last < v.Shown {
		v.Later = v.Last + 1
	}
}

// HasParts reports whether the document has more pages than are shown on one page of HTML.
func (v documentView) HasParts() bool { return v.Earlier > 0 || v.Later > 0 }

// documentPages returns an iterator over the pages, which reads each page when it is written. Once textTimeout
// is spent, the other pages come without their text and say so. The speed of the client's connection does not
// count.
func (p *Page) documentPages(ctx context.Context, v *documentView, rev docRevision, open openFunc, sizes *pageSizes) iter.Seq[documentPage] {
	path, first, last, response := v.Path, v.First, v.Last, v.response
	return func(yield func(documentPage) bool) {
		budget := textTimeout
		for n := first; n <= last; n++ {
			response.flush()
			text, took, err := p.readText(ctx, budget, rev, open, n)
			budget -= took
			s := newDocumentPage(fmt.Sprintf("%s/pages/%d", path, n), rev.revision, n, sizes.pages[n-1])
			s.Eager = n < first+eagerPages
			s.Unread = err != nil
			if err == nil {
				s.Lines = s.textLines(text.lines)
			}
			if !yield(s) {
				return
			}
		}
	}
}

// readText reads the text of a page within the budget, and returns how much of it that took.
func (p *Page) readText(ctx context.Context, budget time.Duration, rev docRevision, open openFunc, page int) (*pageText, time.Duration, error) {
	began := time.Now() // time: a duration
	ctx, cancel := context.WithTimeout(ctx, budget)
	defer cancel()
	text, err := p.pictures.text(ctx, rev, open, page)
	return text, time.Since(began), err // time: a duration
}

// documentPage is a page of the document: a picture over which the text lies, invisible, to be read aloud,
// searched, selected and copied.
type documentPage struct {
	Number        int
	Width, Height int    // in CSS pixels
	Box           string // viewBox in points, the unit of Lines
	Source        string
	Sources       template.Srcset
	Eager         bool // the picture is loaded at once
	Unread        bool // the text could not be read
	Lines         []textLine
}

// textLine is a line of text in SVG.
type textLine struct {
	X, Y      string // where it begins, on its baseline
	Length    string // empty: not known
	Size      string // font size
	Transform string // empty: none
	Text      string
}

// a4 is the size assumed for a page without one.
var a4 = stamp.Size{Width: 595, Height: 842}

// newDocumentPage returns a page without its text. path is that of its pictures.
func newDocumentPage(path string, revision, number int, page stamp.Size) documentPage {
	if page == (stamp.Size{}) {
		page = a4
	}
	const pixelsPerPoint = 96.0 / 72
	s := documentPage{
		Number: number,
		Width:  max(1, int(math.Round(page.Width*pixelsPerPoint))),
		Height: max(1, int(math.Round(page.Height*pixelsPerPoint))),
		Box:    "0 0 " + points(page.Width) + " " + points(page.Height),
	}
	var sources []string
	for _, width := range pictureWidths {
		address := fmt.Sprintf("%s/%d?revision=%d", path, width, revision)
		if width == defaultWidth {
			s.Source = address
		}
		sources = append(sources, fmt.Sprintf("%s %dw", address, width))
	}
	s.Sources = template.Srcset(strings.Join(sources, ", "))
	return s
}

// Geometry of text.
const (
	// baseline is the distance from the upper edge of a line to its baseline, as a share of the line's height
	// (from the ascender to the descender of a font).
	baseline = 0.78
	// verticalRatio is the ratio of height to width above which a line counts as vertical.
	verticalRatio = 2
)

// textLines returns the lines in the coordinates of the page.
func (s *documentPage) textLines(text []stamp.Line) []textLine {
	lines := make([]textLine, 0, len(text))
	for _, one := range text {
		r := one.Rect
		l := textLine{Text: one.Text}
		length, size := r.Width, r.Height
		x, y := r.Left, r.Top+baseline*r.Height
		if r.Height > verticalRatio*r.Width && utf8.RuneCountInString(one.Text) > 1 {
			length, size = r.Height, r.Width
			x, y = r.Left+(1-baseline)*r.Width, r.Top
			l.Transform = fmt.Sprintf("rotate(90 %s %s)", points(x), points(y))
		}
		l.X, l.Y, l.Size = points(x), points(y), points(max(size, 1))
		if length > 0 {
			l.Length = points(length)
		}
		lines = append(lines, l)
	}
	return lines
}

// points formats a length to a tenth of a point.
func points(v float64) string { return strconv.FormatFloat(math.Round(v*10)/10, 'f', -1, 64) }
