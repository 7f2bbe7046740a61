package pdf

import (
	"context"
	"image"
	"image/draw"
	"io"
)

// Blank is a renderer that draws each page of any document in white.
type Blank struct{}

// Render returns a white picture.
func (Blank) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	page := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(page, page.Rect, image.White, image.Point{}, draw.Src)
	return page, nil
}
