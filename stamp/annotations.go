package stamp

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

const (
	maxAnnotations = 1 << 16
	maxFieldDepth  = 64 // levels of the field tree
)

// Flags of an annotation that keep it from the screen (ISO 32000-2 table 167).
const (
	flagHidden = 1 << 1
	flagNoView = 1 << 5
)

// readAnnotations notes the places that annotations take, those too that nobody sees yet:
// signature fields to be signed, fields that a script shows. One that cannot be read
// takes none.
func (p *Page) readAnnotations(file *pdf.File, leaf *pdf.Page) error {
	annotations, err := file.Array(leaf.Dict["Annots"])
	if err != nil {
		return err
	}
	if len(annotations) > maxAnnotations {
		return fmt.Errorf("%w: %d annotations", pdf.ErrLimit, len(annotations))
	}
	for _, o := range annotations {
		if err := p.readAnnotation(file, o); err != nil && !unknown(err) {
			return err
		}
		if err := file.Spent(); err != nil {
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
	p.taken = append(p.taken, place)
	signature, err := showsSignature(file, annotation)
	if signature {
		p.signatures = append(p.signatures, place)
	}
	return err
}

// clip returns the part of a rectangle that lies on the page, if any does.
func (p *Page) clip(r Rect) (Rect, bool) {
	left, top := max(r.Left, 0), max(r.Top, 0)
	right, bottom := min(r.Left+r.Width, p.Width), min(r.Top+r.Height, p.Height)
	return Rect{left, top, right - left, bottom - top}, right > left && bottom > top
}

// showsSignature says whether an annotation is the visible widget of a field that is signed.
func showsSignature(file *pdf.File, annotation pdf.Dict) (bool, error) {
	flags, err := file.Int(annotation["F"])
	if unknown(err) {
		flags, err = 0, nil // what cannot be read sets no flag
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

// inherited returns an attribute that a field has itself, or one above it
// (ISO 32000-2 12.7.4.1).
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
