package stamp

import (
	"context"
	"errors"
	"fmt"
	"image"
	"math"
	"time"
)

const (
	// renderTime is what is left to the renderer of the two seconds that a search may take.
	renderTime = 1800 * time.Millisecond

	// A place begins where a square of the page does, and these have a side of a point within
	// these bounds, in squares.
	minLongSide = 600  // of the page, so that a small one is seen well enough
	maxLongSide = 1600 // of the page, ...
	minBoxSide  = 8    // ... unless the free place would be less than this
	maxSquares  = 3 << 20

	// pixelsPerSquare is how many the picture of the page has for each square, along either side. With
	// more, drawing takes longer, and hardly other places are found (docs/placement.md).
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

// look has the page drawn. A page that cannot be drawn in time has no room that anybody
// knows of.
func (p *Page) look(ctx context.Context, renderer Renderer, squares image.Point) (*image.RGBA, error) {
	if renderer == nil {
		return nil, fmt.Errorf("%w: there is no renderer to draw the page", ErrNoRoom)
	}
	if r, ok := renderer.(Preparer); ok {
		if err := r.Ready(ctx); err != nil {
			return nil, err
		}
	}
	width, height := int(math.Ceil(pixelsPerSquare*float64(squares.X))), int(math.Ceil(pixelsPerSquare*float64(squares.Y)))
	limited, cancel := context.WithTimeout(ctx, renderTime)
	defer cancel()
	picture, err := renderer.Render(limited, p.document, p.length, p.Number, width, height)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, ctx.Err()
	case errors.Is(err, ErrNotReady):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%w: drawing the page: %w", ErrNoRoom, err)
	case picture == nil || picture.Rect.Size() != image.Pt(width, height):
		return nil, fmt.Errorf("%w: the page was drawn in another size", ErrNoRoom)
	}
	return picture, nil
}
