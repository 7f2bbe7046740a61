package stamp

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/draw"
)

// addLossless adds an image as it is to the pixel, with its alpha as a soft mask
// (ISO 32000-2 11.6.5.2), which is grey on any device.
func addLossless(page *onePage, p picture, opaque bool) (int, error) {
	if opaque {
		p = onWhite(p)
	}
	more := ""
	if !p.Opaque() {
		colours, alpha := apart(p)
		mask, err := compress(alpha)
		if err != nil {
			return 0, err
		}
		p, more = colours, fmt.Sprintf("/SMask %d 0 R", mask.add(page, "/DeviceGray", ""))
	}
	pixels, err := compress(p)
	if err != nil {
		return 0, err
	}
	return pixels.add(page, pixels.space(page), more), nil
}

// onWhite is a picture as it looks on white.
func onWhite(p picture) picture {
	if p.Opaque() {
		return p
	}
	if p, ok := p.(*image.Paletted); ok {
		return repainted(p, func(c color.NRGBA) color.Color {
			over := func(v uint8) uint8 { return uint8((int(v)*int(c.A) + 255*(255-int(c.A)) + 127) / 255) }
			return color.NRGBA{over(c.R), over(c.G), over(c.B), 255}
		})
	}
	out := image.NewRGBA(p.Bounds())
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, p, out.Rect.Min, draw.Over)
	return out
}

// apart returns the colours of a picture and its alpha.
func apart(p picture) (colours picture, alpha *image.Gray) {
	alpha = image.NewGray(p.Bounds())
	switch p := p.(type) {
	case *image.Paletted:
		colours = repainted(p, func(c color.NRGBA) color.Color { c.A = 255; return c })
		for i, index := range p.Pix {
			_, _, _, a := p.Palette[index].RGBA()
			alpha.Pix[i] = uint8(a >> 8)
		}
	case *image.NRGBA:
		opaque := &image.NRGBA{Pix: bytes.Clone(p.Pix), Stride: p.Stride, Rect: p.Rect}
		for i := range alpha.Pix {
			alpha.Pix[i], opaque.Pix[4*i+3] = opaque.Pix[4*i+3], 255
		}
		colours = opaque
	}
	return colours, alpha
}

func repainted(p *image.Paletted, paint func(color.NRGBA) color.Color) *image.Paletted {
	palette := make(color.Palette, len(p.Palette))
	for i, c := range p.Palette {
		palette[i] = paint(color.NRGBAModel.Convert(c).(color.NRGBA))
	}
	return &image.Paletted{Pix: p.Pix, Stride: p.Stride, Rect: p.Rect, Palette: palette}
}
