package stamp

import (
	"image"
	"image/color"
)

// shrunk returns a picture of fewer pixels, each the mean of those it stands for. Colours count
// as much as they are to be seen.
func shrunk(p picture, width, height int) *image.NRGBA {
	out := image.NewNRGBA(image.Rect(0, 0, width, height))
	b := p.Bounds()
	for y := range height {
		top, bottom := b.Min.Y+y*b.Dy()/height, b.Min.Y+(y+1)*b.Dy()/height
		for x := range width {
			left, right := b.Min.X+x*b.Dx()/width, b.Min.X+(x+1)*b.Dx()/width
			out.Set(x, y, mean(p, image.Rect(left, top, right, bottom)))
		}
	}
	return out
}

func mean(p picture, r image.Rectangle) color.RGBA64 {
	var red, green, blue, alpha uint64
	for y := r.Min.Y; y < r.Max.Y; y++ {
		for x := r.Min.X; x < r.Max.X; x++ {
			c := p.RGBA64At(x, y)
			red, green, blue, alpha = red+uint64(c.R), green+uint64(c.G), blue+uint64(c.B), alpha+uint64(c.A)
		}
	}
	n := uint64(r.Dx() * r.Dy())
	return color.RGBA64{uint16(red / n), uint16(green / n), uint16(blue / n), uint16(alpha / n)}
}
