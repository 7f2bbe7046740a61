package stamp_test

import (
	"errors"
	"fmt"
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/stamp"
)

var corners = []stamp.Corner{stamp.TopLeft, stamp.TopRight, stamp.BottomLeft, stamp.BottomRight}

// Offsets run from the corner to the nearest corner of the stamp, inwards.
func TestPlace(t *testing.T) {
	page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
	s := stamp.Size{Width: 100, Height: 50}
	for corner, want := range map[stamp.Corner]stamp.Rect{
		stamp.TopLeft:     {Left: 30, Top: 40, Width: 100, Height: 50},
		stamp.TopRight:    {Left: 470, Top: 40, Width: 100, Height: 50},
		stamp.BottomLeft:  {Left: 30, Top: 710, Width: 100, Height: 50},
		stamp.BottomRight: {Left: 470, Top: 710, Width: 100, Height: 50},
	} {
		place, err := page.Place(corner, 30, 40, s)
		if diff := cmp.Diff(want, place, approximately); diff != "" || err != nil {
			t.Errorf("%v: %v %s", corner, err, diff)
		}
	}
}

func TestPlaceOutside(t *testing.T) {
	page := readPage(t, onPage("/MediaBox [0 0 600 800]"))
	standard := stamp.StandardSize
	for name, test := range map[string]struct {
		x, y float64
		size stamp.Size
		want error
	}{
		"corner":             {0, 0, standard, nil},
		"opposite corner":    {483, 745, standard, nil},
		"half a point over":  {483.5, 745.5, standard, nil},
		"more":               {483.6, 0, standard, stamp.ErrOutside},
		"more downwards":     {0, 745.6, standard, stamp.ErrOutside},
		"negative":           {-0.1, 0, standard, stamp.ErrOutside},
		"negative downwards": {0, -0.1, standard, stamp.ErrOutside},
		"no number":          {math.NaN(), 0, standard, stamp.ErrOutside},
		"endless":            {0, math.Inf(1), standard, stamp.ErrOutside},
		"no width":           {0, 0, stamp.Size{Height: 10}, stamp.ErrOutside},
		"negative height":    {0, 0, stamp.Size{Width: 10, Height: -10}, stamp.ErrOutside},
		"endless width":      {0, 0, stamp.Size{Width: math.Inf(1), Height: 10}, stamp.ErrOutside},
		"no number as width": {0, 0, stamp.Size{Width: math.NaN(), Height: 10}, stamp.ErrOutside},
	} {
		for _, corner := range corners {
			if _, err := page.Place(corner, test.x, test.y, test.size); !errors.Is(err, test.want) {
				t.Errorf("%s from %v: %v", name, corner, err)
			}
		}
	}
}

// widget returns an annotation in a place on a page.
func widget(page *stamp.Page, r stamp.Rect, entries string) string {
	llx, lly, urx, ury := page.UserSpace(r)
	return fmt.Sprintf("<< /Subtype /Widget /Rect [%f %f %f %f] %s >>", llx, lly, urx, ury, entries)
}

// Only what shows a signature keeps others from a place that somebody chose.
func TestPlaceOverSignature(t *testing.T) {
	const signed = "/FT /Sig /V 101 0 R"
	for name, test := range map[string]struct {
		widget string // its entries
		want   error
	}{
		"signature":                 {signed, stamp.ErrOverlap},
		"printed signature":         {signed + " /F 132", stamp.ErrOverlap},
		"hidden signature":          {signed + " /F 2", nil},
		"signature not on screen":   {signed + " /F 32", nil},
		"kind from the parent":      {"/V 101 0 R /Parent << /FT /Sig >>", stamp.ErrOverlap},
		"signature of the parent":   {"/Parent 102 0 R", stamp.ErrOverlap},
		"signature further up":      {"/Parent << /Parent 102 0 R >>", stamp.ErrOverlap},
		"field to be signed":        {"/FT /Sig", nil},
		"field whose value is null": {"/FT /Sig /V 999 0 R", nil},
		"text field":                {"/FT /Tx /V (text)", nil},
		"its own parent":            {"/Parent 100 0 R", nil},
		"flags that are none":       {signed + " /F (none)", stamp.ErrOverlap},
	} {
		for _, rotate := range []int{0, 90, 180, 270} {
			entries := fmt.Sprintf("/CropBox [50 60 500 700] /UserUnit 1.5 /Rotate %d", rotate)
			bare := readPage(t, onPage(entries))
			there := stamp.Rect{Left: 100, Top: 200, Width: 117, Height: 55}
			document := pdftest.Build(pdftest.Options{
				Page:    entries + " /Annots [null (damaged) << /Rect 7 >> 100 0 R]",
				Objects: []string{widget(bare, there, test.widget), "<< /Type /Sig >>", "<< " + signed + " >>"},
			})
			page := readPage(t, document)
			for _, over := range []struct{ x, y float64 }{{100, 200}, {0, 150}, {200, 250}, {110, 210}} {
				if _, err := page.Place(stamp.TopLeft, over.x, over.y, stamp.StandardSize); !errors.Is(err, test.want) {
					t.Errorf("%s, turned by %d, at %v: %v", name, rotate, over, err)
				}
			}
			for _, beside := range []struct{ x, y float64 }{{217, 200}, {100, 255}, {100, 145}} {
				if _, err := page.Place(stamp.TopLeft, beside.x, beside.y, stamp.StandardSize); err != nil {
					t.Errorf("%s, turned by %d, beside it at %v: %v", name, rotate, beside, err)
				}
			}
		}
	}
}
