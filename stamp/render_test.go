package stamp_test

import (
	"context"
	"image"
	"image/color"
	"image/draw"
	"io"
	"math"

	"github.com/innsigli/innsigli/stamp"
)

// blank draws pages on which nothing is.
type blank struct{}

func (blank) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	return drawing{paper: white}.draw(width, height), nil
}

var white = color.RGBA{255, 255, 255, 255}

// ink is a rectangle in a colour.
type ink struct {
	stamp.Rect
	color.RGBA
}

// drawing draws one page, whatever it is asked for, and remembers how.
type drawing struct {
	size  stamp.Size // of the page
	paper color.RGBA
	inks  []ink
	grain func() int // what the channels of a pixel are off by, if anything
	last  **image.RGBA
}

func (d drawing) Render(_ context.Context, _ io.ReaderAt, _ int64, _, width, height int) (*image.RGBA, error) {
	picture := d.draw(width, height)
	if d.last != nil {
		*d.last = picture
	}
	return picture, nil
}

func (d drawing) draw(width, height int) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	draw.Draw(picture, picture.Rect, image.NewUniform(d.paper), image.Point{}, draw.Src)
	perX, perY := float64(width)/d.size.Width, float64(height)/d.size.Height
	for _, ink := range d.inks {
		// As viewers do, a pixel is inked that is touched at all.
		touched := image.Rect(
			int(math.Floor(ink.Left*perX)), int(math.Floor(ink.Top*perY)),
			int(math.Ceil((ink.Left+ink.Width)*perX)), int(math.Ceil((ink.Top+ink.Height)*perY)),
		)
		draw.Draw(picture, touched, image.NewUniform(ink.RGBA), image.Point{}, draw.Src)
	}
	for i := range picture.Pix {
		if d.grain != nil && i%4 < 3 {
			picture.Pix[i] = uint8(min(255, max(0, int(picture.Pix[i])+d.grain())))
		}
	}
	return picture
}
