package stamp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/jpeg"
	"image/png"
	"math"
)

// Scaling states how an image fills its box.
type Scaling string

const (
	Stretch       Scaling = "Stretch"       // fills the box; the default
	ZoomAndCenter Scaling = "ZoomAndCenter" // as large as fits without distortion, centred
	Center        Scaling = "Center"        // one point for each pixel, centred
)

// Drawing states how an image is drawn. The zero value stretches it over its box.
type Drawing struct {
	Scaling Scaling
	Zoom    int  // in per cent, about the centre of the box, 1 to 1000; 0 means 100
	Opaque  bool // without transparency, on white; set it to [Page.Archival]
}

// Bounds of [Image.Draw].
const (
	maxDrawn     = 4 << 20 // bytes
	minDrawnSide = 0.001   // points; readers do not distinguish smaller lengths
	maxDrawnSide = 14400   // points (ISO 32000-2 annex C)
	dotsPerPoint = 600 / 72.0
)

// Draw returns a PDF of one page of the given size that shows the image, clipped to the page. Its
// colours do not depend on a device. Sides are from 0.001 to 14400 points. If the image has more
// than twice 600 dots per inch, Draw reduces it to 600. The error is [ErrImage] when the PDF would
// have more than 4 MiB. The error for a size or a [Drawing] out of bounds wraps no other error.
func (i *Image) Draw(s Size, d Drawing) ([]byte, error) {
	if err := d.check(s); err != nil {
		return nil, err
	}
	pixels, err := decode(i.encoded, i.format)
	if err != nil {
		return nil, err
	}
	return pixels.draw(s, d)
}

func (i *decoded) draw(s Size, d Drawing) ([]byte, error) {
	size, zoom := i.drawnSize(s, d), d.zoom()
	var page onePage
	object, err := i.add(&page, Size{size.Width * zoom, size.Height * zoom}, d.Opaque)
	if err != nil {
		return nil, err
	}
	// The image fills the unit square (ISO 32000-2 8.9.5.1). The matrices move its centre to the
	// centre of the page. No number exceeds 32767, the limit of PDF/A-1 (ISO 19005-1 6.1.12).
	o, w, h := i.turn, size.Width, size.Height
	content := fmt.Appendf(nil, "q 0 0 %.5f %.5f re W n\n%.5f 0 0 %.5f %.5f %.5f cm\n%.5f %.5f %.5f %.5f %.5f %.5f cm\n/Image Do Q",
		s.Width, s.Height, zoom, zoom, s.Width/2, s.Height/2,
		float64(o[0])*w, float64(o[1])*h, float64(o[2])*w, float64(o[3])*h, -float64(o[0]+o[2])*w/2, -float64(o[1]+o[3])*h/2)
	out := page.bytes(s, fmt.Sprintf("<< /XObject << /Image %d 0 R >> >>", object), content)
	if len(out) > maxDrawn {
		return nil, fmt.Errorf("%w: the drawing has %d bytes, more than %d", ErrImage, len(out), maxDrawn)
	}
	return out, nil
}

func (d Drawing) check(s Size) error {
	for _, side := range []float64{s.Width, s.Height} {
		if !(side >= minDrawnSide && side <= maxDrawnSide) {
			return fmt.Errorf("stamp: width and height of an image must be %g to %d points, not %g by %g", minDrawnSide, maxDrawnSide, s.Width, s.Height)
		}
	}
	if d.Zoom < 0 || d.Zoom > 1000 {
		return fmt.Errorf("stamp: zoom must be 1 to 1000 per cent, not %d", d.Zoom)
	}
	switch d.Scaling {
	case "", Stretch, ZoomAndCenter, Center:
		return nil
	}
	return fmt.Errorf("stamp: scaling must be %s, %s or %s, not %q", Stretch, ZoomAndCenter, Center, d.Scaling)
}

func (d Drawing) zoom() float64 {
	if d.Zoom == 0 {
		return 1
	}
	return float64(d.Zoom) / 100
}

// drawnSize returns the size of the image in a box before zooming.
func (i *decoded) drawnSize(s Size, d Drawing) Size {
	pixels := i.displayed()
	switch d.Scaling {
	case Center:
		return pixels
	case ZoomAndCenter:
		k := min(s.Width/pixels.Width, s.Height/pixels.Height)
		return Size{k * pixels.Width, k * pixels.Height}
	}
	return s
}

// displayed returns the size of the displayed image in pixels.
func (i *decoded) displayed() Size {
	b := i.picture.Bounds()
	return i.turned(Size{float64(b.Dx()), float64(b.Dy())})
}

// turned converts between a size of the stored picture and of the displayed picture.
func (i *decoded) turned(s Size) Size {
	if i.turn.sideways() {
		return Size{s.Height, s.Width}
	}
	return s
}

// add adds the object of the image, which is drawn in a size of s points.
func (i *decoded) add(page *onePage, s Size, opaque bool) (int, error) {
	picture, file := i.picture, i.jpeg
	most := i.sufficientPixels(s)
	if b := picture.Bounds(); b.Dx() > 2*most.X || b.Dy() > 2*most.Y {
		picture, file = downscale(picture, min(b.Dx(), most.X), min(b.Dy(), most.Y)), nil
	}
	if i.lossy {
		return addLossy(page, picture, file)
	}
	return addLossless(page, picture, opaque)
}

// sufficientPixels returns how many pixels suffice for any printer.
func (i *decoded) sufficientPixels(s Size) image.Point {
	s = i.turned(s)
	return image.Pt(int(math.Ceil(s.Width*dotsPerPoint)), int(math.Ceil(s.Height*dotsPerPoint)))
}

// This package writes image objects itself. It does not use those of pdfcpu, as TestWhyNotPdfcpu
// shows:
//
//	every kind                  colours of a device, Interpolate: not in PDF/A (ISO 19005-1 6.2.3.3, 6.2.4)
//	16 bits                     kept, which PDF 1.4 has not
//	JPEG of RGB                 refused
//	JPEG of CMYK and of YCCK    colours differ between viewers
//	JPEG with Exif              metadata comes along, the orientation is lost

// addLossless adds an image with its exact pixels. Its alpha becomes a soft mask (ISO 32000-2
// 11.6.5.2), whose DeviceGray does not depend on a device.
func addLossless(page *onePage, p picture, opaque bool) (int, error) {
	if opaque {
		p = flattenOnWhite(p)
	}
	more := ""
	if !p.Opaque() {
		colours, alpha := splitAlpha(p)
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

// flattenOnWhite returns the picture as it looks on white.
func flattenOnWhite(p picture) picture {
	if p.Opaque() {
		return p
	}
	if p, ok := p.(*image.Paletted); ok {
		return mapPalette(p, func(c color.NRGBA) color.Color {
			over := func(v uint8) uint8 { return uint8((int(v)*int(c.A) + 255*(255-int(c.A)) + 127) / 255) }
			return color.NRGBA{over(c.R), over(c.G), over(c.B), 255}
		})
	}
	out := image.NewRGBA(p.Bounds())
	draw.Draw(out, out.Rect, image.White, image.Point{}, draw.Src)
	draw.Draw(out, out.Rect, p, out.Rect.Min, draw.Over)
	return out
}

// splitAlpha returns the colours of a picture, and its alpha.
func splitAlpha(p picture) (colours picture, alpha *image.Gray) {
	alpha = image.NewGray(p.Bounds())
	switch p := p.(type) {
	case *image.Paletted:
		colours = mapPalette(p, func(c color.NRGBA) color.Color { c.A = 255; return c })
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

// mapPalette returns the picture with each colour of its palette replaced.
func mapPalette(p *image.Paletted, paint func(color.NRGBA) color.Color) *image.Paletted {
	palette := make(color.Palette, len(p.Palette))
	for i, c := range p.Palette {
		palette[i] = paint(color.NRGBAModel.Convert(c).(color.NRGBA))
	}
	return &image.Paletted{Pix: p.Pix, Stride: p.Stride, Rect: p.Rect, Palette: palette}
}

// quality is the quality of JPEGs that are encoded again. The loss is invisible in print.
const quality = 92

// addLossy adds a picture of a JPEG: the file itself, or the encoded picture if file is nil.
func addLossy(page *onePage, p picture, file []byte) (int, error) {
	if file == nil {
		var encoded bytes.Buffer
		if err := jpeg.Encode(&encoded, p, &jpeg.Options{Quality: quality}); err != nil {
			return 0, err
		}
		file = encoded.Bytes()
	}
	b, space := p.Bounds(), page.addRGB
	if _, ok := p.(*image.Gray); ok {
		space = page.addGray
	}
	return page.addEncoded(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent 8 /Filter /DCTDecode",
		b.Dx(), b.Dy(), space()), file), nil
}

// pixels are the pixels of an opaque picture as a PNG without interlacing has them, which
// FlateDecode decodes with a PNG predictor (ISO 32000-2 7.4.4.4).
type pixels struct{ header, palette, compressed []byte }

// Offsets in the IHDR chunk, and colour types (ISO/IEC 15948 11.2.2).
const (
	depthByte, colourByte = 8, 9
	trueColour, indexed   = 2, 3
)

func compress(p picture) (pixels, error) {
	var encoded bytes.Buffer
	if err := png.Encode(&encoded, p); err != nil {
		return pixels{}, err
	}
	var out pixels
	for b := encoded.Bytes()[len(pngSignature):]; len(b) > 0; {
		size := binary.BigEndian.Uint32(b)
		switch content := b[8 : 8+size]; string(b[4:8]) {
		case "IHDR":
			out.header = content
		case "PLTE":
			out.palette = content
		case "IDAT":
			out.compressed = append(out.compressed, content...)
		}
		b = b[12+size:]
	}
	return out, nil
}

// space adds the colour space and returns its source text.
func (p pixels) space(page *onePage) string {
	switch p.header[colourByte] {
	case trueColour:
		return page.addRGB()
	case indexed:
		return fmt.Sprintf("[/Indexed %s %d <%x>]", page.addRGB(), len(p.palette)/3-1, p.palette)
	}
	return page.addGray()
}

// add adds an image object. more are further entries of its dictionary.
func (p pixels) add(page *onePage, space, more string) int {
	width, height, depth := binary.BigEndian.Uint32(p.header), binary.BigEndian.Uint32(p.header[4:]), p.header[depthByte]
	colours := 1
	if p.header[colourByte] == trueColour {
		colours = 3
	}
	return page.addEncoded(fmt.Sprintf("/Type /XObject /Subtype /Image /Width %d /Height %d /ColorSpace %s /BitsPerComponent %d %s"+
		" /Filter /FlateDecode /DecodeParms << /Predictor 15 /Colors %d /BitsPerComponent %d /Columns %d >>",
		width, height, space, depth, more, colours, depth, width), p.compressed)
}

// downscale returns the picture with fewer pixels, each the mean of those it replaces. Colours
// count in proportion to their alpha.
func downscale(p picture, width, height int) *image.NRGBA {
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
