package stamp

import (
	"context"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"sync"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Page is a page as it is displayed, from [ReadPage]. It shows the document as it was then: who
// has signed since is not on it. It may be used by several goroutines.
type Page struct {
	Number int // the first is 1
	Size       // of the displayed page
	// Archival: the document says that it is PDF/A (ISO 19005), so what is drawn on it should
	// have no transparency.
	Archival bool

	document   io.ReaderAt
	length     int64
	geometry   geometry
	taken      []Rect // by annotations of any kind, as far as they lie on the page
	signatures []Rect // those of them that show a signature
}

// ReadPage reads a page, the first being number 1, of the PDF that r holds in its first size bytes; r has to stay
// readable for as long as the Page is used. [ErrUnreadable], [ErrNoPage], or an error of r.
func ReadPage(r io.ReaderAt, size int64, number int) (*Page, error) {
	var page *Page
	err := pdf.WithRepaired(r, size, func(file *pdf.File) (err error) {
		page, err = readPage(file, number)
		return err
	})
	if err != nil {
		return nil, readError(err)
	}
	page.document, page.length = r, size
	return page, nil
}

func readPage(file *pdf.File, number int) (*Page, error) {
	leaf, err := file.Page(number)
	if err != nil {
		return nil, err
	}
	page := &Page{Number: number}
	if page.geometry, err = newGeometry(leaf); err != nil {
		return nil, err
	}
	page.Size = page.geometry.size()
	if err = page.readAnnotations(file, leaf); err != nil {
		return nil, fmt.Errorf("reading annotations: %w", err)
	}
	page.Archival, err = file.Archival()
	return page, err
}

// UserSpace returns a rectangle on the page in the page's user space, as /Rect of an
// annotation has it: the lower left corner and the upper right one.
func (p *Page) UserSpace(r Rect) (llx, lly, urx, ury float64) {
	u := p.geometry.userSpace(r)
	return u.LLX, u.LLY, u.URX, u.URY
}

// Displayed is the reverse of [Page.UserSpace]: where a rectangle in the page's user space is on the
// page as displayed.
func (p *Page) Displayed(llx, lly, urx, ury float64) Rect {
	return p.geometry.displayed(pdf.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury})
}

// readError turns an error of reading a PDF into one that callers tell apart. Errors of the
// underlying reader stay what they are.
func readError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrNoPage):
		return fmt.Errorf("%w: %w", ErrNoPage, err)
	case errors.Is(err, pdf.ErrNotPDF), errors.Is(err, pdf.ErrEncrypted), errors.Is(err, pdf.ErrNoPages), unknown(err):
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// unknown says whether an object could not be read because of what the file has there.
func unknown(err error) bool {
	return errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrUnsupported) || errors.Is(err, pdf.ErrLimit)
}

// Line is a line of text as it is written on a page.
type Line struct {
	Rect
	Text string
}

// maxSide bounds a page's sides, its distance from the origin, both in points, and UserUnit. It
// is far beyond the 14,400 points of ISO 32000-2 Annex C, and whatever it bounds can be
// calculated with.
const maxSide = 1e6

// geometry is how a page is displayed.
type geometry struct {
	shown pdf.Rect // the part of user space that is displayed
	turn  int      // clockwise: 0, 90, 180 or 270 degrees
	unit  float64  // of user space, in points
}

func newGeometry(page *pdf.Page) (geometry, error) {
	g := geometry{page.Visible(), page.Rotate, page.UserUnit}
	s := g.size()
	for _, v := range []float64{s.Width, s.Height, g.unit} {
		if !(v > 0 && v <= maxSide) {
			return g, fmt.Errorf("%w: page of %g by %g points", pdf.ErrDamaged, s.Width, s.Height)
		}
	}
	for _, v := range []float64{g.shown.LLX, g.shown.LLY, g.shown.URX, g.shown.URY} {
		if !(math.Abs(v) <= maxSide) {
			return g, fmt.Errorf("%w: page that reaches to %g in user space", pdf.ErrDamaged, v)
		}
	}
	return g, nil
}

// plane is the size of what is displayed before it is turned, in user space.
func (g geometry) plane() Size {
	return Size{g.shown.URX - g.shown.LLX, g.shown.URY - g.shown.LLY}
}

// size is that of the displayed page.
func (g geometry) size() Size {
	s := g.plane()
	if g.turn%180 != 0 {
		s.Width, s.Height = s.Height, s.Width
	}
	return Size{s.Width * g.unit, s.Height * g.unit}
}

// userSpace returns where a rectangle on the displayed page is in user space.
func (g geometry) userSpace(r Rect) pdf.Rect {
	x1, y1 := g.point(r.Left/g.unit, r.Top/g.unit)
	x2, y2 := g.point((r.Left+r.Width)/g.unit, (r.Top+r.Height)/g.unit)
	return pdf.Rect{LLX: min(x1, x2), LLY: min(y1, y2), URX: max(x1, x2), URY: max(y1, y2)}
}

// point returns where a point on the displayed page, in units, is in user space. A turn by 90
// degrees brings the left edge to the top, and the lower one to the left.
func (g geometry) point(x, y float64) (ux, uy float64) {
	s := g.plane()
	switch g.turn {
	case 90:
		ux, uy = y, x
	case 180:
		ux, uy = s.Width-x, y
	case 270:
		ux, uy = s.Width-y, s.Height-x
	default:
		ux, uy = x, s.Height-y
	}
	return g.shown.LLX + ux, g.shown.LLY + uy
}

// displayed is the reverse of userSpace.
func (g geometry) displayed(r pdf.Rect) Rect {
	x1, y1 := g.displayedPoint(r.LLX, r.LLY)
	x2, y2 := g.displayedPoint(r.URX, r.URY)
	return Rect{min(x1, x2) * g.unit, min(y1, y2) * g.unit, math.Abs(x1-x2) * g.unit, math.Abs(y1-y2) * g.unit}
}

func (g geometry) displayedPoint(ux, uy float64) (x, y float64) {
	s := g.plane()
	ux, uy = ux-g.shown.LLX, uy-g.shown.LLY
	switch g.turn {
	case 90:
		return uy, ux
	case 180:
		return s.Width - ux, uy
	case 270:
		return s.Height - uy, s.Width - ux
	}
	return ux, s.Height - uy
}

// Sizes returns how large the pages of the PDF are that r holds in its first size bytes, as they are
// displayed: the first ones, at most as many as asked for; and how many pages there are. A page of which
// this cannot be read has the zero value. [ErrUnreadable], or an error of r.
func Sizes(r io.ReaderAt, size int64, most int) (sizes []Size, pages int, err error) {
	err = pdf.WithRepaired(r, size, func(file *pdf.File) error {
		sizes, pages = nil, 0 // the file may be rebuilt
		return file.EachPage(func(leaf *pdf.Page, err error) error {
			if err != nil && !unknown(err) {
				return err
			}
			if pages++; pages <= most {
				sizes = append(sizes, sizeOf(leaf, err))
			}
			return nil
		})
	})
	if err != nil {
		return nil, 0, readError(err)
	}
	return sizes, pages, nil
}

func sizeOf(leaf *pdf.Page, err error) Size {
	if err != nil {
		return Size{}
	}
	g, err := newGeometry(leaf)
	if err != nil {
		return Size{}
	}
	return g.size()
}

const (
	// A place begins where a square of the page does, and these have a side of a point within
	// these bounds, in squares.
	minLongSide = 600  // of the page, so that a small one is seen well enough
	maxLongSide = 1600 // of the page, ...
	minBoxSide  = 8    // ... unless the free place would be less than this
	maxSquares  = 3 << 20

	// pixelsPerSquare is how many the picture of the page has for each square, along either side. It
	// takes less time to draw than with one for each, and is enough for what docs/placement.md shows.
	pixelsPerSquare = 0.75
)

// squares returns how many squares wide and high a page is on which a free place of some
// size is looked for.
func (p *Page) squares(box Size) image.Point {
	long := max(p.Width, p.Height)
	scale := min(max(1, minLongSide/long), maxLongSide/long)
	scale = max(scale, minBoxSide/min(box.Width, box.Height))
	scale = min(scale, math.Sqrt(maxSquares/p.Width/p.Height))
	count := func(points float64) int { return int(min(maxSquares, max(1, math.Round(points*scale)))) }
	return image.Pt(count(p.Width), count(p.Height))
}

// look has the page drawn. A page that cannot be drawn in time is [ErrNotDrawn].
func (p *Page) look(ctx context.Context, renderer Renderer, squares image.Point) (*image.RGBA, error) {
	if renderer == nil {
		return nil, fmt.Errorf("%w: there is no renderer", ErrNotDrawn)
	}
	width, height := int(math.Ceil(pixelsPerSquare*float64(squares.X))), int(math.Ceil(pixelsPerSquare*float64(squares.Y)))
	document := Watch(p.document)
	picture, err := renderer.Render(ctx, document, p.length, p.Number, width, height)
	switch failure := document.Failure(); {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case failure != nil: // with or without a picture, which shows less than the page then
		return nil, fmt.Errorf("stamp: reading the document: %w", failure)
	case errors.Is(err, ErrNotReady):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotDrawn, err)
	case picture == nil || picture.Rect.Size() != image.Pt(width, height):
		return nil, fmt.Errorf("%w: it was drawn in another size", ErrNotDrawn)
	}
	return picture, nil
}

// Watched is a document that remembers the first error of reading it: a [Renderer] takes that for the
// end of the document, or for damage.
type Watched struct {
	document io.ReaderAt
	lock     sync.Mutex
	first    error
}

// Watch returns the document, watched.
func Watch(document io.ReaderAt) *Watched { return &Watched{document: document} }

// ReadAt implements [io.ReaderAt].
func (w *Watched) ReadAt(p []byte, offset int64) (int, error) {
	n, err := w.document.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		w.lock.Lock()
		defer w.lock.Unlock()
		if w.first == nil {
			w.first = err
		}
	}
	return n, err
}

// Failure is the first error; nil: there was none.
func (w *Watched) Failure() error {
	w.lock.Lock()
	defer w.lock.Unlock()
	return w.first
}
