package pades

import (
	"errors"
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Visible is a place on a page, with what is drawn in it. Behind a certification that permits
// signatures (ISO 32000-2 table 257) validators differ: EU DSS takes a new field that is shown
// for one, pyHanko by default for a change of what was certified; of a field that was there
// already, neither says so.
type Visible struct {
	Page int // the first is 1; else [ErrPage]
	// Rect is in the page's user space, as annotations have it (ISO 32000-2 8.3.2.3): where
	// the page is not turned by Rotate, shifted by a crop box or scaled by UserUnit. Its sides
	// are from 0.01 to 32767 units long, and no coordinate is farther than 32767 from the origin;
	// else [ErrRect].
	Rect Rect
	// Appearance is a PDF of one page, as [Options] has it for a Field. It is drawn upright on
	// the page as displayed, as large as fits and centred.
	Appearance []byte
}

// Rect is a rectangle by its lower left and its upper right corner.
type Rect struct{ LLX, LLY, URX, URY float64 }

// minSide is the least length of a rectangle's side: as a number in a file it has one.
const minSide = 0.01

// check refuses a rectangle that nobody sees, or that not every file can say. A value that is
// no number fails all comparisons.
func (r Rect) check() error {
	size := r.box()
	inRange := min(r.LLX, r.LLY) >= -maxReal && max(r.URX, r.URY) <= maxReal
	if !inRange || !(min(size.width, size.height) >= minSide && max(size.width, size.height) <= maxReal) {
		return fmt.Errorf("%w: from (%g, %g) to (%g, %g)", ErrRect, r.LLX, r.LLY, r.URX, r.URY)
	}
	return nil
}

func (r Rect) box() box { return box{r.URX - r.LLX, r.URY - r.LLY} }

// source is the array that the rectangle is in a file.
func (r Rect) source() []byte { return fmt.Appendf(nil, "[%s]", numbers(r.LLX, r.LLY, r.URX, r.URY)) }

// page is the page that a new field is on.
func (o Options) page(file *pdf.File) (*pdf.Page, error) {
	if o.Visible == nil {
		return file.Page(1)
	}
	page, err := file.Page(o.Visible.Page)
	if errors.Is(err, pdf.ErrNoPage) {
		return nil, fmt.Errorf("%w: %v", ErrPage, err)
	}
	return page, err
}

// title is what a screen reader says of a new field (ISO 14289-1 7.18.4): whose signature
// it is, where that is to be seen as well.
func (o Options) title() string {
	if o.Visible == nil || o.Name == "" {
		return "Digital signature"
	}
	return "Digital signature of " + o.Name
}
