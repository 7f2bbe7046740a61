package pades

import (
	"bytes"

	"github.com/innsigli/innsigli/internal/pdf"
)

// stampKeys are what the field of a document timestamp has: nothing that is done, and
// nothing that is drawn.
var stampKeys = []pdf.Name{"Type", "Subtype", "FT", "T", "TU", "V", "F", "Ff", "Rect", "P", "AP"}

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
