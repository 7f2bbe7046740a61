package stamp

import (
	"fmt"
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

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
