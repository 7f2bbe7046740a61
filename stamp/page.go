package stamp

import (
	"errors"
	"fmt"
	"io"
	"math"
	"sync"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Page is a page as it is displayed, from [ReadPage]. It does not show signatures made after
// ReadPage. Several goroutines may use it at once.
type Page struct {
	Number int // the first is 1
	Size       // of the displayed page
	// Archival: the document declares that it is PDF/A (ISO 19005), so content drawn on it should
	// have no transparency.
	Archival bool

	document   io.ReaderAt
	length     int64
	geometry   geometry
	occupied   []Rect // the parts on the page of the rectangles of all annotations
	signatures []Rect // the same of visible signatures
}

// ReadPage reads a page of the PDF that r holds in its first size bytes. The first page is number
// 1. r has to stay readable while the Page is used. The error is [ErrUnreadable], [ErrNoPage], or
// an error of r.
func ReadPage(r io.ReaderAt, size int64, number int) (*Page, error) {
	page, err := pdf.Reading(r, func(r io.ReaderAt) (page *Page, err error) {
		err = pdf.WithRepaired(r, size, func(file *pdf.File) (err error) {
			page, err = readPage(file, number)
			return err
		})
		return page, readError(err)
	})
	if err != nil {
		return nil, err
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
	page.Archival, err = file.ClaimsPDFA()
	return page, err
}

// UserSpace converts a rectangle on the page to the page's user space, in which the /Rect of an
// annotation is: its lower left and its upper right corner.
func (p *Page) UserSpace(r Rect) (llx, lly, urx, ury float64) {
	u := p.geometry.userSpace(r)
	return u.LLX, u.LLY, u.URX, u.URY
}

// Displayed is the reverse of [Page.UserSpace]: it converts a rectangle in the page's user space to
// a rectangle on the displayed page.
func (p *Page) Displayed(llx, lly, urx, ury float64) Rect {
	return p.geometry.displayed(pdf.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury})
}

// readError adds ErrNoPage or ErrUnreadable to an error of reading a PDF. It returns errors of the
// underlying reader unchanged.
func readError(err error) error {
	switch {
	case errors.Is(err, pdf.ErrNoPage):
		return fmt.Errorf("%w: %w", ErrNoPage, err)
	case errors.Is(err, pdf.ErrNotPDF), errors.Is(err, pdf.ErrEncrypted), errors.Is(err, pdf.ErrNoPages), isUnreadable(err):
		return fmt.Errorf("%w: %w", ErrUnreadable, err)
	}
	return err
}

// isUnreadable reports whether an object could not be read because of the content of the file.
func isUnreadable(err error) bool {
	return errors.Is(err, pdf.ErrDamaged) || errors.Is(err, pdf.ErrUnsupported) || errors.Is(err, pdf.ErrLimit)
}

// Line is a line of text on a page.
type Line struct {
	Rect
	Text string
}

// maxSide bounds a page's sides and its distance from the origin, in points, and UserUnit. It is
// far above the 14,400 points of ISO 32000-2 Annex C, and small enough for exact calculation.
const maxSide = 1e6

// geometry states how a page is displayed.
type geometry struct {
	visible  pdf.Rect // the part of user space that is displayed
	rotation int      // clockwise: 0, 90, 180 or 270 degrees
	unit     float64  // of user space, in points
}

func newGeometry(page *pdf.Page) (geometry, error) {
	g := geometry{page.Visible(), page.Rotate, page.UserUnit}
	s := g.size()
	for _, v := range []float64{s.Width, s.Height, g.unit} {
		if !(v > 0 && v <= maxSide) {
			return g, fmt.Errorf("%w: page of %g by %g points", pdf.ErrDamaged, s.Width, s.Height)
		}
	}
	for _, v := range []float64{g.visible.LLX, g.visible.LLY, g.visible.URX, g.visible.URY} {
		if !(math.Abs(v) <= maxSide) {
			return g, fmt.Errorf("%w: page that reaches to %g in user space", pdf.ErrDamaged, v)
		}
	}
	return g, nil
}

// unrotatedSize returns the size of the visible part before rotation, in user space.
func (g geometry) unrotatedSize() Size {
	return Size{g.visible.URX - g.visible.LLX, g.visible.URY - g.visible.LLY}
}

// size returns the size of the displayed page.
func (g geometry) size() Size {
	s := g.unrotatedSize()
	if g.rotation%180 != 0 {
		s.Width, s.Height = s.Height, s.Width
	}
	return Size{s.Width * g.unit, s.Height * g.unit}
}

// userSpace converts a rectangle on the displayed page to user space.
func (g geometry) userSpace(r Rect) pdf.Rect {
	x1, y1 := g.point(r.Left/g.unit, r.Top/g.unit)
	x2, y2 := g.point((r.Left+r.Width)/g.unit, (r.Top+r.Height)/g.unit)
	return pdf.Rect{LLX: min(x1, x2), LLY: min(y1, y2), URX: max(x1, x2), URY: max(y1, y2)}
}

// point converts a point on the displayed page, in units of user space, to user space. A rotation
// by 90 degrees moves the left edge to the top, and the bottom edge to the left.
func (g geometry) point(x, y float64) (ux, uy float64) {
	s := g.unrotatedSize()
	switch g.rotation {
	case 90:
		ux, uy = y, x
	case 180:
		ux, uy = s.Width-x, y
	case 270:
		ux, uy = s.Width-y, s.Height-x
	default:
		ux, uy = x, s.Height-y
	}
	return g.visible.LLX + ux, g.visible.LLY + uy
}

// displayed is the reverse of userSpace.
func (g geometry) displayed(r pdf.Rect) Rect {
	x1, y1 := g.displayedPoint(r.LLX, r.LLY)
	x2, y2 := g.displayedPoint(r.URX, r.URY)
	return Rect{min(x1, x2) * g.unit, min(y1, y2) * g.unit, math.Abs(x1-x2) * g.unit, math.Abs(y1-y2) * g.unit}
}

func (g geometry) displayedPoint(ux, uy float64) (x, y float64) {
	s := g.unrotatedSize()
	ux, uy = ux-g.visible.LLX, uy-g.visible.LLY
	switch g.rotation {
	case 90:
		return uy, ux
	case 180:
		return s.Width - ux, uy
	case 270:
		return s.Height - uy, s.Width - ux
	}
	return ux, s.Height - uy
}

// Sizes returns the displayed sizes of the first pages of the PDF that r holds in its first size
// bytes, at most most of them, and the number of all pages. The size of a page that cannot be read
// is zero. The error is [ErrUnreadable], or an error of r.
func Sizes(r io.ReaderAt, size int64, most int) (sizes []Size, pages int, err error) {
	sizes, err = pdf.Reading(r, func(r io.ReaderAt) ([]Size, error) {
		err := pdf.WithRepaired(r, size, func(file *pdf.File) error {
			sizes, pages = nil, 0 // the file may be rebuilt
			return file.EachPage(func(leaf *pdf.Page, err error) error {
				if err != nil && !isUnreadable(err) {
					return err
				}
				if pages++; pages <= most {
					sizes = append(sizes, sizeOf(leaf, err))
				}
				return nil
			})
		})
		return sizes, readError(err)
	})
	if err != nil {
		return nil, 0, err
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

// ErrorReaderAt is a document that remembers the first error of reading it. A [Renderer] treats
// such an error as the end of the document or as damage, so its own error does not show it. Several
// goroutines may use it at once.
type ErrorReaderAt struct {
	document io.ReaderAt
	lock     sync.Mutex
	err      error
}

// NewErrorReaderAt returns an ErrorReaderAt that reads the document.
func NewErrorReaderAt(document io.ReaderAt) *ErrorReaderAt { return &ErrorReaderAt{document: document} }

// ReadAt implements [io.ReaderAt].
func (r *ErrorReaderAt) ReadAt(p []byte, offset int64) (int, error) {
	n, err := r.document.ReadAt(p, offset)
	if err != nil && !errors.Is(err, io.EOF) {
		r.lock.Lock()
		defer r.lock.Unlock()
		if r.err == nil {
			r.err = err
		}
	}
	return n, err
}

// Err returns the first error of reading other than [io.EOF], or nil.
func (r *ErrorReaderAt) Err() error {
	r.lock.Lock()
	defer r.lock.Unlock()
	return r.err
}
