package stamp

import "fmt"

const (
	// slack is how far a place may leave the page, in points: sizes in points are rounded
	// ones of paper in millimetres.
	slack = 0.5
	// touch is how far places may reach into one another and still count as side by side,
	// in points: numbers in a PDF are rounded.
	touch = 0.01
)

func (c Corner) right() bool  { return c == TopRight || c == BottomRight }
func (c Corner) bottom() bool { return c == BottomLeft || c == BottomRight }

// Place returns the place whose corner nearest to c is x and y points inwards from c.
// [ErrOutside] when it leaves the page by more than half a point, [ErrOverlap] when another
// visible signature is there.
func (p *Page) Place(c Corner, x, y float64, s Size) (Rect, error) {
	// No comparison with NaN is true.
	if !(x >= 0 && y >= 0 && s.Width > 0 && s.Height > 0 && x+s.Width <= p.Width+slack && y+s.Height <= p.Height+slack) {
		return Rect{}, fmt.Errorf("%w: %g by %g points at %g, %g, of %g by %g", ErrOutside, s.Width, s.Height, x, y, p.Width, p.Height)
	}
	place := p.at(c, x, y, s)
	for _, signature := range p.signatures {
		if place.overlaps(signature) {
			return Rect{}, fmt.Errorf("%w: %g by %g points at %g, %g from the upper left corner", ErrOverlap, signature.Width, signature.Height, signature.Left, signature.Top)
		}
	}
	return place, nil
}

// at returns the rectangle whose corner nearest to c is x and y points inwards from c.
func (p *Page) at(c Corner, x, y float64, s Size) Rect {
	r := Rect{x, y, s.Width, s.Height}
	if c.right() {
		r.Left = p.Width - x - s.Width
	}
	if c.bottom() {
		r.Top = p.Height - y - s.Height
	}
	return r
}

func (r Rect) overlaps(o Rect) bool {
	return r.Left+touch < o.Left+o.Width && o.Left+touch < r.Left+r.Width &&
		r.Top+touch < o.Top+o.Height && o.Top+touch < r.Top+r.Height
}

// grown returns a rectangle that is larger by a margin on each side.
func (r Rect) grown(margin float64) Rect {
	return Rect{r.Left - margin, r.Top - margin, r.Width + 2*margin, r.Height + 2*margin}
}
