package stamp

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
)

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
