package stamp

import (
	"encoding/binary"
	"fmt"
	"image"
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// tolerance is how far a channel of a pixel may differ from the paper. A hairline of faint ink over
// half a pixel differs more, the grain of a clean scan differs less.
const tolerance = 10

// pixelRun is a number of consecutive pixels of one colour in a row. Most pages consist of few
// runs.
type pixelRun struct {
	colour [3]uint8
	length int32
}

// pixelRuns returns the runs of a picture, row by row.
func pixelRuns(picture *image.RGBA) []pixelRun {
	runs := make([]pixelRun, 0, picture.Rect.Dx()*picture.Rect.Dy()/16)
	last := uint32(0)
	for y := picture.Rect.Min.Y; y < picture.Rect.Max.Y; y++ {
		row := picture.Pix[picture.PixOffset(picture.Rect.Min.X, y):]
		for x := range picture.Rect.Dx() {
			pixel := binary.LittleEndian.Uint32(row[4*x:])
			if pixel != last || x == 0 {
				runs = append(runs, pixelRun{colour: [3]uint8(row[4*x:])})
			}
			last = pixel
			runs[len(runs)-1].length++
		}
	}
	return runs
}

// markedAreas returns the areas of a page where its picture differs from the paper. It is the whole
// page if the picture shows no paper.
func markedAreas(picture *image.RGBA, page Size) (places []Rect) {
	runs := pixelRuns(picture)
	background, ok := paperColour(runs)
	if !ok {
		return []Rect{{Width: page.Width, Height: page.Height}}
	}
	width := int32(picture.Rect.Dx())
	wide, high := page.Width/float64(width), page.Height/float64(picture.Rect.Dy()) // of a pixel
	at := int32(0)
	for _, r := range runs {
		if !isNear(r.colour, background, tolerance) {
			places = append(places, Rect{float64(at%width) * wide, float64(at/width) * high, float64(r.length) * wide, high})
		}
		at += r.length
	}
	return places
}

// paperColour returns the light colour that most of a picture has or is close to. It is the median
// of close colours, because scanned paper has many. ok is false if the picture has no light colour.
func paperColour(runs []pixelRun) (colour [3]uint8, ok bool) {
	about, ok := commonLightShade(runs)
	if !ok {
		return colour, false
	}
	var seen [3][256]int32
	count := int32(0)
	for _, r := range runs {
		if isNear(r.colour, about, 24) {
			count += r.length
			for channel, value := range r.colour {
				seen[channel][value] += r.length
			}
		}
	}
	return [3]uint8{median(&seen[0], count), median(&seen[1], count), median(&seen[2], count)}, true
}

func median(seen *[256]int32, count int32) uint8 {
	below := int32(0)
	for value, n := range seen {
		if below += n; 2*below >= count {
			return uint8(value)
		}
	}
	return 255
}

// commonLightShade returns the light colour with the most pixels, in 16 shades for each channel. Of
// several it returns the lightest.
func commonLightShade(runs []pixelRun) (colour [3]uint8, ok bool) {
	var shades [1 << 12]int32
	for _, r := range runs {
		shades[int(r.colour[0]>>4)<<8|int(r.colour[1]>>4)<<4|int(r.colour[2]>>4)] += r.length
	}
	most := int32(0)
	for shade, n := range shades {
		middle := [3]uint8{uint8(shade>>8<<4 | 8), uint8(shade>>4&15<<4 | 8), uint8(shade&15<<4 | 8)}
		if n > 0 && n >= most && isLight(middle) {
			most, colour = n, middle
		}
	}
	return colour, most > 0
}

// isLight reports whether the black text of a stamp can be read on a colour: with a contrast of at
// least 7 to 1 (WCAG 2.1, success criterion 1.4.6).
func isLight(colour [3]uint8) bool {
	linear := func(value uint8) float64 {
		v := float64(value) / 255
		if v <= 0.04045 {
			return v / 12.92
		}
		return math.Pow((v+0.055)/1.055, 2.4)
	}
	luminance := 0.2126*linear(colour[0]) + 0.7152*linear(colour[1]) + 0.0722*linear(colour[2])
	// The definition of contrast adds the light that a screen reflects to both colours.
	const black = 0.05
	return (luminance+black)/black >= 7
}

// isNear reports whether no channel of two colours differs by more than a distance.
func isNear(a, b [3]uint8, distance int) bool {
	for channel := range a {
		if d := int(a[channel]) - int(b[channel]); d > distance || -d > distance {
			return false
		}
	}
	return true
}

const (
	maxAnnotations = 1 << 16
	maxFieldDepth  = 64 // levels of the field tree
)

// Flags of an annotation that keep it from the screen (ISO 32000-2 table 167).
const (
	flagHidden = 1 << 1
	flagNoView = 1 << 5
)

// readAnnotations records the places of annotations, including those that are not visible yet, such
// as unsigned signature fields and fields that a script shows. It skips annotations that cannot be
// read.
func (p *Page) readAnnotations(file *pdf.File, leaf *pdf.Page) error {
	annotations, err := file.Array(leaf.Dict["Annots"])
	if err != nil {
		return err
	}
	if len(annotations) > maxAnnotations {
		return fmt.Errorf("%w: %d annotations", pdf.ErrLimit, len(annotations))
	}
	for _, o := range annotations {
		if err := p.readAnnotation(file, o); err != nil && !isUnreadable(err) {
			return err
		}
		if err := file.CheckBudget(); err != nil {
			return err
		}
	}
	return nil
}

func (p *Page) readAnnotation(file *pdf.File, o pdf.Object) error {
	annotation, err := file.Dict(o)
	if err != nil {
		return err
	}
	area, err := file.Rect(annotation["Rect"])
	if err != nil {
		return err
	}
	place, ok := p.clip(p.geometry.displayed(area))
	if !ok {
		return nil
	}
	p.occupied = append(p.occupied, place)
	signature, err := showsSignature(file, annotation)
	if signature {
		p.signatures = append(p.signatures, place)
	}
	return err
}

// clip returns the part of a rectangle that lies on the page. ok is false if there is none.
func (p *Page) clip(r Rect) (Rect, bool) {
	left, top := max(r.Left, 0), max(r.Top, 0)
	right, bottom := min(r.Left+r.Width, p.Width), min(r.Top+r.Height, p.Height)
	return Rect{left, top, right - left, bottom - top}, right > left && bottom > top
}

// showsSignature reports whether an annotation is the visible widget of a signed field.
func showsSignature(file *pdf.File, annotation pdf.Dict) (bool, error) {
	flags, err := file.Int(annotation["F"])
	if isUnreadable(err) {
		flags, err = 0, nil // unreadable flags count as not set
	}
	if err != nil || flags&(flagHidden|flagNoView) != 0 {
		return false, err
	}
	kind, err := inherited(file, annotation, "FT")
	if err != nil || kind != pdf.Name("Sig") {
		return false, err
	}
	value, err := inherited(file, annotation, "V")
	signature, ok := value.(pdf.Dict)
	return ok && signature != nil, err
}

// inherited returns an attribute of a field, which the field may inherit from its ancestors (ISO
// 32000-2 12.7.4.1).
func inherited(file *pdf.File, field pdf.Dict, key pdf.Name) (pdf.Object, error) {
	for range maxFieldDepth {
		if value, ok := field[key]; ok {
			return file.Resolve(value)
		}
		parent, err := file.Dict(field["Parent"])
		if err != nil || parent == nil {
			return nil, err
		}
		field = parent
	}
	return nil, nil
}
