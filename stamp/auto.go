package stamp

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"slices"
)

const (
	// margin is the free space around a stamp, in points.
	margin = 2
	// inset is how far from the edges of the page the margin of a stamp begins if there is space, in
	// points: printers do not reach the edge, and a stamp looks better away from it. The comment of
	// Find states inset+margin.
	inset = 6
)

// pageTolerance is how far a place may leave the page, in points: page sizes in points are often
// rounded from millimetres.
const pageTolerance = 0.5

// Place returns the place whose corner nearest to c is x and y points inwards from c. The error is
// [ErrOutside] when the place leaves the page by more than half a point, and [ErrOverlap] when
// another visible signature overlaps it.
func (p *Page) Place(c Corner, x, y float64, s Size) (Rect, error) {
	// Written as !(…) to refuse NaN too, with which no comparison is true.
	if !(x >= 0 && y >= 0 && s.Width > 0 && s.Height > 0 && x+s.Width <= p.Width+pageTolerance && y+s.Height <= p.Height+pageTolerance) {
		return Rect{}, fmt.Errorf("%w: %g by %g points at %g, %g on a page of %g by %g points", ErrOutside, s.Width, s.Height, x, y, p.Width, p.Height)
	}
	place := p.rectAt(c, x, y, s)
	for _, signature := range p.signatures {
		if place.overlaps(signature) {
			return Rect{}, fmt.Errorf("%w: %g by %g points at %g, %g from the upper left corner", ErrOverlap, signature.Width, signature.Height, signature.Left, signature.Top)
		}
	}
	return place, nil
}

// rectAt returns the rectangle whose corner nearest to c is x and y points inwards from c.
func (p *Page) rectAt(c Corner, x, y float64, s Size) Rect {
	r := Rect{x, y, s.Width, s.Height}
	if c.right() {
		r.Left = p.Width - x - s.Width
	}
	if c.bottom() {
		r.Top = p.Height - y - s.Height
	}
	return r
}

// Find returns the first free place, searched along the horizontal edge from the corner c and then
// inwards. A margin of two points around it is free too. If there is space, the place is up to eight
// points away from the page's edges at c. Errors are [ErrNoRoom], [ErrNotDrawn], [ErrNotReady], the
// error of ctx, and errors of the document's reader.
func (p *Page) Find(ctx context.Context, renderer Renderer, c Corner, s Size) (Rect, error) {
	places, err := p.PlanPlaces(ctx, renderer, c, s, 1)
	if err != nil {
		return Rect{}, err
	}
	if len(places) == 0 {
		return Rect{}, fmt.Errorf("%w: page %d has none for %g by %g points", ErrNoRoom, p.Number, s.Width, s.Height)
	}
	return places[0], nil
}

// PlanPlaces returns the places for several signers who sign one after another, each in the first
// place that [Page.Find] then finds. It returns at most limit places, and fewer, without an error,
// if the page has no space for more. Errors are those of Find.
func (p *Page) PlanPlaces(ctx context.Context, renderer Renderer, c Corner, s Size, limit int) ([]Rect, error) {
	box := Size{s.Width + 2*margin, s.Height + 2*margin}
	if !(s.Width > 0 && s.Height > 0 && box.Width <= p.Width && box.Height <= p.Height) { // NaN too has no place
		return nil, nil
	}
	grid := newGrid(p.Size, p.gridSize(box))
	picture, err := p.render(ctx, renderer, image.Pt(grid.width, grid.height))
	if err != nil {
		return nil, err
	}
	taken := append(markedAreas(picture, p.Size), p.reservedAreas()...)
	area := newCornerGrid(grid, c, grid.covered(taken))
	boxSquares := grid.squaresOf(box)
	insetSquares := image.Pt(int(inset*grid.perX), int(inset*grid.perY))
	var places []Rect
	for row := 0; len(places) < limit; {
		at, ok := area.findFirst(boxSquares, row)
		if !ok {
			break
		}
		row = at.Y // rows before it have no free place
		at = area.moveInwards(at, boxSquares, insetSquares)
		place := p.rectAt(c, float64(at.X)/grid.perX+margin, float64(at.Y)/grid.perY+margin, s)
		area.occupy(place.expand(margin))
		places = append(places, place)
	}
	return places, nil
}

// reservedAreas returns the areas that are not free whatever the picture shows. Signatures include
// their margin, so Find finds the same place on the signed document that PlanPlaces planned before.
func (p *Page) reservedAreas() []Rect {
	reserved := slices.Clone(p.occupied)
	for _, signature := range p.signatures {
		reserved = append(reserved, signature.expand(margin))
	}
	return reserved
}

// The search divides the page into squares, and places begin at the edges of squares. A square has a
// side of one point, unless that gives fewer or more squares than these bounds.
const (
	minLongSide = 600     // squares along the longer side of the page, so that small pages have enough detail
	maxLongSide = 1600    // squares along the longer side of the page; minBoxSide takes precedence
	minBoxSide  = 8       // squares along the shorter side of the place that is searched
	maxSquares  = 3 << 20 // squares of the page; takes precedence over all others

	// pixelsPerSquare is the number of pixels of the page's picture for each square, along either
	// side. One pixel for each square would take longer to draw. This number suffices for the cases
	// in docs/placement.md.
	pixelsPerSquare = 0.75
)

// gridSize returns how many squares wide and high the grid is in which a free place of the size box,
// in points, is searched.
func (p *Page) gridSize(box Size) image.Point {
	long := max(p.Width, p.Height)
	scale := min(max(1, minLongSide/long), maxLongSide/long)
	scale = max(scale, minBoxSide/min(box.Width, box.Height))
	scale = min(scale, math.Sqrt(maxSquares/p.Width/p.Height))
	count := func(points float64) int { return int(min(maxSquares, max(1, math.Round(points*scale)))) }
	return image.Pt(count(p.Width), count(p.Height))
}

// render lets the renderer draw the page. If the page cannot be drawn in time, the error is
// [ErrNotDrawn].
func (p *Page) render(ctx context.Context, renderer Renderer, squares image.Point) (*image.RGBA, error) {
	if renderer == nil {
		return nil, fmt.Errorf("%w: no renderer", ErrNotDrawn)
	}
	width, height := int(math.Ceil(pixelsPerSquare*float64(squares.X))), int(math.Ceil(pixelsPerSquare*float64(squares.Y)))
	document := NewErrorReaderAt(p.document)
	picture, err := renderer.Render(ctx, document, p.length, p.Number, width, height)
	switch failure := document.Err(); {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case failure != nil: // even if there is a picture: it may be incomplete
		return nil, fmt.Errorf("stamp: reading the document: %w", failure)
	case errors.Is(err, ErrNotReady):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: %w", ErrNotDrawn, err)
	case picture == nil || picture.Rect.Size() != image.Pt(width, height):
		return nil, fmt.Errorf("%w: the renderer drew another size", ErrNotDrawn)
	}
	return picture, nil
}

// grid divides a page into squares.
type grid struct {
	page          Size
	width, height int
	perX, perY    float64 // squares per point
}

func newGrid(page Size, size image.Point) grid {
	return grid{page, size.X, size.Y, float64(size.X) / page.Width, float64(size.Y) / page.Height}
}

// roundingTolerance is the part of a square that is attributed to rounding errors.
const roundingTolerance = 1e-3

// touchedBy returns the squares that a place on the page touches.
func (g grid) touchedBy(r Rect) image.Rectangle {
	return image.Rect(
		int(math.Floor(r.Left*g.perX+roundingTolerance)), int(math.Floor(r.Top*g.perY+roundingTolerance)),
		int(math.Ceil((r.Left+r.Width)*g.perX-roundingTolerance)), int(math.Ceil((r.Top+r.Height)*g.perY-roundingTolerance)),
	).Intersect(image.Rect(0, 0, g.width, g.height))
}

// squaresOf returns how many squares wide and high a place of a size in points is that begins at the
// edge of a square.
func (g grid) squaresOf(s Size) image.Point {
	return image.Pt(int(math.Ceil(s.Width*g.perX-roundingTolerance)), int(math.Ceil(s.Height*g.perY-roundingTolerance)))
}

// covered reports for each square, row by row, whether any of the places touches it. It notes only
// the corners of the places (a two-dimensional difference array), so many large places cost no more
// than small ones.
func (g grid) covered(places []Rect) []bool {
	covered := make([]bool, g.width*g.height)
	if len(places) == 0 {
		return covered
	}
	stride := g.width + 1
	deltas := make([]int32, stride*(g.height+1))
	for _, place := range places {
		r := g.touchedBy(place)
		deltas[r.Min.Y*stride+r.Min.X]++
		deltas[r.Min.Y*stride+r.Max.X]--
		deltas[r.Max.Y*stride+r.Min.X]--
		deltas[r.Max.Y*stride+r.Max.X]++
	}
	touching := make([]int32, g.width) // how many places touch each square of the row
	for y := range g.height {
		sum := int32(0)
		for x, delta := range deltas[y*stride:][:g.width] {
			sum += delta
			touching[x] += sum
			if touching[x] > 0 {
				covered[y*g.width+x] = true
			}
		}
	}
	return covered
}

// cornerGrid is a page in squares whose origin is the given corner. x and y run inwards from it, so
// every search starts at the upper left of the cornerGrid. All points and sizes are in squares.
type cornerGrid struct {
	grid
	corner Corner
	// freeDepth is, for each square, row by row from the corner, how many consecutive squares are
	// free from it on in the direction of y.
	freeDepth []int32
}

// newCornerGrid returns a page whose squares are free if they are not covered. covered is in the
// order of the page, from its upper left corner.
func newCornerGrid(page grid, c Corner, covered []bool) *cornerGrid {
	g := &cornerGrid{grid: page, corner: c, freeDepth: make([]int32, len(covered))}
	for y := g.height - 1; y >= 0; y-- {
		freeDepth := g.freeDepth[y*g.width:][:g.width]
		if y < g.height-1 {
			copy(freeDepth, g.freeDepth[(y+1)*g.width:])
		}
		pageY := y
		if c.bottom() {
			pageY = g.height - 1 - y
		}
		for pageX, isCovered := range covered[pageY*g.width:][:g.width] {
			x := pageX
			if c.right() {
				x = g.width - 1 - pageX
			}
			if isCovered {
				freeDepth[x] = 0
			} else {
				freeDepth[x]++
			}
		}
	}
	return g
}

// findFirst returns the first free place in or after the given row, searched along the edge and
// then inwards.
func (g *cornerGrid) findFirst(box image.Point, row int) (at image.Point, ok bool) {
	for y := row; y+box.Y <= g.height; y++ {
		run := 0
		for x, freeDepth := range g.freeDepth[y*g.width:][:g.width] {
			if freeDepth < int32(box.Y) {
				run = 0
			} else if run++; run == box.X {
				return image.Pt(x+1-box.X, y), true
			}
		}
	}
	return image.Point{}, false
}

func (g *cornerGrid) isFree(at, box image.Point) bool {
	if at.X+box.X > g.width || at.Y+box.Y > g.height {
		return false
	}
	for _, freeDepth := range g.freeDepth[at.Y*g.width+at.X:][:box.X] {
		if freeDepth < int32(box.Y) {
			return false
		}
	}
	return true
}

// moveInwards moves a free place to the wanted distance from the edges, as far as it remains free.
func (g *cornerGrid) moveInwards(at, box, wanted image.Point) image.Point {
	for at.Y < wanted.Y && g.isFree(at.Add(image.Pt(0, 1)), box) {
		at.Y++
	}
	for at.X < wanted.X && g.isFree(at.Add(image.Pt(1, 0)), box) {
		at.X++
	}
	return at
}

// occupy marks the squares of a place as not free.
func (g *cornerGrid) occupy(place Rect) {
	r := g.fromCorner(g.touchedBy(place))
	for x := r.Min.X; x < r.Max.X; x++ {
		for y := r.Min.Y; y < r.Max.Y; y++ {
			g.freeDepth[y*g.width+x] = 0
		}
		for y := range r.Min.Y { // the free depth of squares before the place now ends at it
			at := y*g.width + x
			g.freeDepth[at] = min(g.freeDepth[at], int32(r.Min.Y-y))
		}
	}
}

// fromCorner converts squares of the page to squares from the corner.
func (g *cornerGrid) fromCorner(r image.Rectangle) image.Rectangle {
	if g.corner.right() {
		r.Min.X, r.Max.X = g.width-r.Max.X, g.width-r.Min.X
	}
	if g.corner.bottom() {
		r.Min.Y, r.Max.Y = g.height-r.Max.Y, g.height-r.Min.Y
	}
	return r
}
