package stamp

import (
	"fmt"
	"image"
	"math"
)

// Scaling says how an image fills its box (spec 3.3).
type Scaling string

const (
	Stretch       Scaling = "Stretch"       // fills the box; the default
	ZoomAndCenter Scaling = "ZoomAndCenter" // as large as fits, centred
	Center        Scaling = "Center"        // a pixel is a point, centred
)

// Drawing is how an image is drawn. The zero value stretches it over its box.
type Drawing struct {
	Scaling Scaling
	Zoom    int  // per cent about the middle of the box, 1 to 1000; 0 is 100
	Opaque  bool // without transparency: what shows through is white; set it to [Page.Archival]
}

// What [Image.Draw] makes.
const (
	maxDrawn     = 4 << 20 // bytes
	minDrawnSide = 0.001   // points, which is as far as readers count
	maxDrawnSide = 14400   // points (ISO 32000-2 annex C)
	dotsPerPoint = 600 / 72.0
)

// Draw draws the image in a page of a size, clipped to it: a PDF whose colours depend on no
// device. Sides are from 0.001 to 14400 points. An image of far more than 600 dots per inch gets as
// many. [ErrImage] when the PDF would have more than 4 MiB; a size or a [Drawing] out of
// bounds is an error of no kind.
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
	size, zoom := i.drawn(s, d), d.zoom()
	var page onePage
	object, err := i.add(&page, Size{size.Width * zoom, size.Height * zoom}, d.Opaque)
	if err != nil {
		return nil, err
	}
	// The image fills the unit square (ISO 32000-2 8.9.5.1), whose middle gets to that of the page.
	// No number is above 32767, as PDF/A-1 has it (ISO 19005-1 6.1.12).
	o, w, h := i.turn, size.Width, size.Height
	content := fmt.Appendf(nil, "q 0 0 %.5f %.5f re W n\n%.5f 0 0 %.5f %.5f %.5f cm\n%.5f %.5f %.5f %.5f %.5f %.5f cm\n/Image Do Q",
		s.Width, s.Height, zoom, zoom, s.Width/2, s.Height/2,
		float64(o[0])*w, float64(o[1])*h, float64(o[2])*w, float64(o[3])*h, -float64(o[0]+o[2])*w/2, -float64(o[1]+o[3])*h/2)
	out := page.bytes(s, fmt.Sprintf("<< /XObject << /Image %d 0 R >> >>", object), content)
	if len(out) > maxDrawn {
		return nil, fmt.Errorf("%w: drawn it has %d bytes, more than %d", ErrImage, len(out), maxDrawn)
	}
	return out, nil
}

func (d Drawing) check(s Size) error {
	for _, side := range []float64{s.Width, s.Height} {
		if !(side >= minDrawnSide && side <= maxDrawnSide) {
			return fmt.Errorf("stamp: an image is drawn in %g to %d points, not in %g by %g", minDrawnSide, maxDrawnSide, s.Width, s.Height)
		}
	}
	if d.Zoom < 0 || d.Zoom > 1000 {
		return fmt.Errorf("stamp: zoom is 1 to 1000 per cent, not %d", d.Zoom)
	}
	switch d.Scaling {
	case "", Stretch, ZoomAndCenter, Center:
		return nil
	}
	return fmt.Errorf("stamp: scaling is %s, %s or %s, not %q", Stretch, ZoomAndCenter, Center, d.Scaling)
}

func (d Drawing) zoom() float64 {
	if d.Zoom == 0 {
		return 1
	}
	return float64(d.Zoom) / 100
}

// drawn is how large the image is in a box before it is zoomed.
func (i *decoded) drawn(s Size, d Drawing) Size {
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

// displayed is the size in pixels.
func (i *decoded) displayed() Size {
	b := i.picture.Bounds()
	return i.turned(Size{float64(b.Dx()), float64(b.Dy())})
}

// turned is a size of the picture as it is displayed, and the other way about.
func (i *decoded) turned(s Size) Size {
	if i.turn.sideways() {
		return Size{s.Height, s.Width}
	}
	return s
}

// add adds the object of the image, which is drawn in a size of points.
func (i *decoded) add(page *onePage, s Size, opaque bool) (int, error) {
	picture, file := i.picture, i.jpeg
	enough := i.enough(s)
	if b := picture.Bounds(); b.Dx() > 2*enough.X || b.Dy() > 2*enough.Y {
		picture, file = shrunk(picture, min(b.Dx(), enough.X), min(b.Dy(), enough.Y)), nil
	}
	if i.lossy {
		return addLossy(page, picture, file)
	}
	return addLossless(page, picture, opaque)
}

// enough is how many pixels of the picture are not too few in any print.
func (i *decoded) enough(s Size) image.Point {
	s = i.turned(s)
	return image.Pt(int(math.Ceil(s.Width*dotsPerPoint)), int(math.Ceil(s.Height*dotsPerPoint)))
}
