package stamp

import (
	"context"
	"fmt"
	"image"
	"math"
	"slices"
)

const (
	// margin is what stays free around a stamp, in points.
	margin = 2
	// inset is how far from the edges of the page, in points, the margin begins if there is
	// room: printers do not reach the edge, and a stamp looks better away from it.
	inset = 6
)

// Find returns the first free place: along the horizontal edge from the corner c, then inwards.
// Around it two points are free, and it is up to eight points away from the page's edges at c where
// that is free too. [ErrNoRoom], [ErrNotDrawn], [ErrNotReady], the error of ctx, or one of the document's reader.
func (p *Page) Find(ctx context.Context, renderer Renderer, c Corner, s Size) (Rect, error) {
	places, err := p.places(ctx, renderer, c, s, 1)
	if err != nil {
		return Rect{}, err
	}
	if len(places) == 0 {
		return Rect{}, fmt.Errorf("%w: page %d has none for %g by %g points", ErrNoRoom, p.Number, s.Width, s.Height)
	}
	return places[0], nil
}

// Capacity returns the places that so many signers take who sign one after another, each in the
// first place that [Page.Find] finds then; at most as many as asked for, and fewer when the page has
// no room for more, which is no error. Errors are those of Find.
func (p *Page) Capacity(ctx context.Context, renderer Renderer, c Corner, s Size, most int) ([]Rect, error) {
	return p.places(ctx, renderer, c, s, most)
}

func (p *Page) places(ctx context.Context, renderer Renderer, c Corner, s Size, most int) ([]Rect, error) {
	box := Size{s.Width + 2*margin, s.Height + 2*margin}
	if !(s.Width > 0 && s.Height > 0 && box.Width <= p.Width && box.Height <= p.Height) {
		return nil, nil
	}
	grid := newGrid(p.Size, p.squares(box))
	picture, err := p.look(ctx, renderer, image.Pt(grid.width, grid.height))
	if err != nil {
		return nil, err
	}
	sheet := newSheet(grid, c, grid.covered(append(marks(picture, p.Size), p.reserved()...)))
	squares, wanted := grid.box(box), image.Pt(int(inset*grid.perX), int(inset*grid.perY))
	var places []Rect
	for row := 0; len(places) < most; {
		at, ok := sheet.first(squares, row)
		if !ok {
			break
		}
		row = at.Y // there was nothing free before it, and will not be
		at = sheet.inwards(at, squares, wanted)
		place := p.at(c, float64(at.X)/grid.perX+margin, float64(at.Y)/grid.perY+margin, s)
		sheet.take(place.grown(margin))
		places = append(places, place)
	}
	return places, nil
}

// reserved returns the places that are taken whatever is seen there. Those of signatures have
// their margin, so that a place found on the signed document is the one planned before.
func (p *Page) reserved() []Rect {
	taken := slices.Clone(p.taken)
	for _, signature := range p.signatures {
		taken = append(taken, signature.grown(margin))
	}
	return taken
}

// sheet is a page in squares as it is seen from a corner: that is the origin, and x and y run
// inwards, so that every search is one from the upper left.
type sheet struct {
	grid
	corner Corner
	room   []int32 // of each square, row by row: how many are free from it on inwards from the edge
}

// newSheet returns a page whose squares are free where they are not covered.
func newSheet(g grid, c Corner, covered []bool) *sheet {
	s := &sheet{grid: g, corner: c, room: make([]int32, len(covered))}
	for y := s.height - 1; y >= 0; y-- {
		room := s.room[y*s.width:][:s.width]
		if y < s.height-1 {
			copy(room, s.room[(y+1)*s.width:])
		}
		row := y
		if c.bottom() {
			row = s.height - 1 - y
		}
		for x, m := range covered[row*s.width:][:s.width] {
			if c.right() {
				x = s.width - 1 - x
			}
			if room[x]++; m {
				room[x] = 0
			}
		}
	}
	return s
}

// first returns the first free place, along the edge and then inwards, from a row on.
func (s *sheet) first(box image.Point, row int) (at image.Point, ok bool) {
	for y := row; y+box.Y <= s.height; y++ {
		free := 0
		for x, room := range s.room[y*s.width:][:s.width] {
			if room < int32(box.Y) {
				free = 0
			} else if free++; free == box.X {
				return image.Pt(x+1-box.X, y), true
			}
		}
	}
	return image.Point{}, false
}

// free says whether a place is.
func (s *sheet) free(at, box image.Point) bool {
	if at.X+box.X > s.width || at.Y+box.Y > s.height {
		return false
	}
	for _, room := range s.room[at.Y*s.width+at.X:][:box.X] {
		if room < int32(box.Y) {
			return false
		}
	}
	return true
}

// inwards moves a free place away from the edges that it is closer to than wanted, as far as
// it stays free.
func (s *sheet) inwards(at, box, wanted image.Point) image.Point {
	for at.Y < wanted.Y && s.free(at.Add(image.Pt(0, 1)), box) {
		at.Y++
	}
	for at.X < wanted.X && s.free(at.Add(image.Pt(1, 0)), box) {
		at.X++
	}
	return at
}

// take takes a place on the page.
func (s *sheet) take(place Rect) {
	r := s.fromCorner(s.squares(place))
	for x := r.Min.X; x < r.Max.X; x++ {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			s.room[y*s.width+x] = 0
		}
		for y := range r.Min.Y {
			at := y*s.width + x
			s.room[at] = min(s.room[at], int32(r.Min.Y-y))
		}
	}
}

// fromCorner returns squares of the page as they are seen from the corner.
func (s *sheet) fromCorner(r image.Rectangle) image.Rectangle {
	if s.corner.right() {
		r.Min.X, r.Max.X = s.width-r.Max.X, s.width-r.Min.X
	}
	if s.corner.bottom() {
		r.Min.Y, r.Max.Y = s.height-r.Max.Y, s.height-r.Min.Y
	}
	return r
}

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

// grid is a page in squares.
type grid struct {
	page          Size
	width, height int
	perX, perY    float64 // squares per point
}

func newGrid(page Size, size image.Point) grid {
	return grid{page, size.X, size.Y, float64(size.X) / page.Width, float64(size.Y) / page.Height}
}

// fuzz is the part of a square that is put down to calculating.
const fuzz = 1e-3

// squares returns those that a place on the page touches.
func (g grid) squares(r Rect) image.Rectangle {
	return image.Rect(
		int(math.Floor(r.Left*g.perX+fuzz)), int(math.Floor(r.Top*g.perY+fuzz)),
		int(math.Ceil((r.Left+r.Width)*g.perX-fuzz)), int(math.Ceil((r.Top+r.Height)*g.perY-fuzz)),
	).Intersect(image.Rect(0, 0, g.width, g.height))
}

// box returns how many squares a place touches that begins where a square does.
func (g grid) box(size Size) image.Point {
	return image.Pt(int(math.Ceil(size.Width*g.perX-fuzz)), int(math.Ceil(size.Height*g.perY-fuzz)))
}

// covered says of each square, row by row, whether any of some places touches it. How many do is
// counted from their corners, so that many large ones cost no more than small ones.
func (g grid) covered(places []Rect) []bool {
	covered := make([]bool, g.width*g.height)
	if len(places) == 0 {
		return covered
	}
	stride := g.width + 1
	edges := make([]int32, stride*(g.height+1))
	for _, place := range places {
		r := g.squares(place)
		edges[r.Min.Y*stride+r.Min.X]++
		edges[r.Min.Y*stride+r.Max.X]--
		edges[r.Max.Y*stride+r.Min.X]--
		edges[r.Max.Y*stride+r.Max.X]++
	}
	above := make([]int32, g.width) // on each square of the row above
	for y := range g.height {
		sum := int32(0)
		for x, edge := range edges[y*stride:][:g.width] {
			sum += edge
			above[x] += sum
			if above[x] > 0 {
				covered[y*g.width+x] = true
			}
		}
	}
	return covered
}
