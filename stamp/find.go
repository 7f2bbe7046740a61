package stamp

import (
	"context"
	"fmt"
	"image"
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
// that is free too. [ErrNoRoom], [ErrNotReady], the error of ctx, or one of the document's reader.
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
