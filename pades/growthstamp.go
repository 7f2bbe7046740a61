package pades

import (
	"bytes"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// stampKeys are what the field of a document timestamp has: nothing that is done, and
// nothing that is drawn.
var stampKeys = []pdf.Name{"Type", "Subtype", "FT", "T", "TU", "V", "F", "Ff", "Rect", "P", "AP"}

// stamp: a new field has a document timestamp and shows nothing.
func (g *growth) stamp(o pdf.Object) (bool, error) {
	ref, ok := o.(pdf.Ref)
	if !ok || g.known.count[ref] > 0 {
		return false, nil
	}
	field, err := g.now.Dict(ref)
	if err != nil || field["FT"] != pdf.Name("Sig") || !same(field, nil, stampKeys...) {
		return false, err
	}
	g.stamps[ref] = field
	for _, rule := range []func(pdf.Dict) (bool, error){g.newName, g.newTimestamp, g.unseen} {
		if ok, err := rule(field); !ok || err != nil {
			return false, err
		}
	}
	return true, nil
}

// newName: fields of one name are one field, whose value it would change
// (ISO 32000-2 12.7.4.2).
func (g *growth) newName(field pdf.Dict) (bool, error) {
	t, err := g.now.Bytes(field["T"])
	name := pdf.Text(pdf.String(t))
	if err != nil || name == "" || strings.Contains(name, ".") || g.names[name] {
		return false, err
	}
	g.names[name] = true
	return true, nil
}

func (g *growth) newTimestamp(field pdf.Dict) (bool, error) {
	if ref, ok := field["V"].(pdf.Ref); ok && g.known.count[ref] > 0 {
		return false, nil
	}
	value, err := g.now.Dict(field["V"])
	return isTimestamp(g.now, value), err
}

func (g *growth) unseen(field pdf.Dict) (bool, error) { return unseen(g.now, field) }

// unseen says whether nothing is seen of a field.
func unseen(file *pdf.File, field pdf.Dict) (bool, error) {
	if ok, err := noArea(file, field); !ok || err != nil {
		return false, err
	}
	return noDrawing(file, field)
}

// noArea: the rectangle of a field that is not to be seen is a point
// (ISO 32000-2 12.7.5.5).
func noArea(file *pdf.File, field pdf.Dict) (bool, error) {
	rect, err := file.Array(field["Rect"])
	if err != nil || len(rect) != 4 {
		return false, err
	}
	var corners [4]float64
	for i := range corners {
		if corners[i], err = file.Number(rect[i]); err != nil {
			return false, err
		}
	}
	return corners[0] == corners[2] && corners[1] == corners[3], nil
}

// maxNothing bounds the content of an appearance without one.
const maxNothing = 1 << 10

// noDrawing: viewers differ in how they draw an appearance into a point, so it is empty.
func noDrawing(file *pdf.File, field pdf.Dict) (bool, error) {
	appearances, err := file.Dict(field["AP"])
	if err != nil || !same(appearances, nil, "N") {
		return false, err
	}
	appearance, err := file.StreamObject(appearances["N"])
	if err != nil || appearance == nil {
		return err == nil, err
	}
	content, err := file.Stream(appearance, maxNothing)
	return len(bytes.TrimSpace(content)) == 0, err
}
