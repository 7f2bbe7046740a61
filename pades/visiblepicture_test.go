package pades

import (
	"bytes"
	"fmt"
	"image"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// pageBoxes are the boxes of pages of which 400 by 300 units are displayed, and their lower
// left corner.
var pageBoxes = []struct {
	entries string
	x, y    float64
}{
	{"/MediaBox [0 0 400 300]", 0, 0},
	{"/MediaBox [-150 -80 250 220]", -150, -80},
	{"/MediaBox [0 0 900 900] /CropBox [120 70 520 370]", 120, 70},
	{"/MediaBox [900 900 0 0] /CropBox [520 370 120 70]", 120, 70},
	{"/MediaBox [20 30 420 330] /CropBox [-900 -900 900 900]", 20, 30},
}

// ISO 32000-2 8.3.2.3, 12.5.5 and 14.11.2: a signature is shown in its rectangle of user space,
// upright, however the page is turned, cropped and scaled, and an appearance likewise. As
// displayed it is 100 by 50 units, 40 from the left and 30 from the top.
func TestVisibleIsUpright(t *testing.T) {
	t.Parallel()
	appearances := quarters()
	for rotate, rect := range map[int]Rect{
		// From the lower left corner of what is displayed when it is not turned.
		0:    {40, 220, 140, 270},
		90:   {30, 40, 80, 140},
		180:  {260, 30, 360, 80},
		270:  {320, 160, 370, 260},
		-90:  {320, 160, 370, 260},
		-630: {30, 40, 80, 140},
	} {
		for _, boxes := range pageBoxes {
			for _, unit := range []int{1, 2} {
				entries := fmt.Sprintf("%s /Rotate %d /UserUnit %d", boxes.entries, rotate, unit)
				t.Run(entries, func(t *testing.T) {
					at := Rect{rect.LLX + boxes.x, rect.LLY + boxes.y, rect.URX + boxes.x, rect.URY + boxes.y}
					for _, name := range []string{"plain", "crop box and turned"} {
						checkShown(t, shownIn(t, entries, at, appearances[name]), rotate%180 != 0, unit)
					}
				})
			}
		}
	}
}

// shownIn makes a page that a signature is shown in.
func shownIn(t *testing.T, entries string, at Rect, appearance []byte) []byte {
	t.Helper()
	content := pdftest.Build(pdftest.Options{Page: entries + " /Contents null"})
	doc := Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	l, err := layOut(doc, ades.Signer{}, Options{Visible: &Visible{1, at, appearance}}, 8)
	if err != nil {
		t.Fatal(err)
	}
	return append(content, l.filled(nil)...)
}

// checkShown looks at the picture that each program makes of a page. Poppler draws a unit of
// user space as a point, whatever it is.
func checkShown(t *testing.T, file []byte, turned bool, unit int) {
	t.Helper()
	width := 400
	if turned {
		width = 300
	}
	for program, scale := range map[string]int{"mutool": unit, "pdftoppm": 1} {
		picture := rendered(t, program, file)
		if got := picture.Bounds().Dx(); got != scale*width {
			t.Fatalf("%s: a picture of %d by %d, scale is to be %d", program, got, picture.Bounds().Dy(), scale)
		}
		checkQuarters(t, program, picture, image.Rect(40*scale, 30*scale, 140*scale, 80*scale))
	}
}

// A signature on another page is shown on that one, and does not turn as the first does.
func TestVisibleTurnsWithItsPage(t *testing.T) {
	content := pdftest.Build(pdftest.Options{Kind: pdftest.Stream, Pages: 3, Page: "/Rotate 90"})
	doc := Document{ReaderAt: bytes.NewReader(content), Size: int64(len(content))}
	o := Options{Visible: &Visible{3, Rect{100, 500, 300, 600}, quarters()["plain"]}}
	l, err := layOut(doc, ades.Signer{}, o, 8)
	if err != nil {
		t.Fatal(err)
	}
	grown := append(content, l.filled(nil)...)
	file, err := pdf.Open(bytes.NewReader(grown), int64(len(grown)))
	if err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]int{1: 0, 2: 0, 3: 1} {
		page, err := file.Page(n)
		if err != nil {
			t.Fatal(err)
		}
		if annotations, _ := file.Array(page.Dict["Annots"]); len(annotations) != want {
			t.Errorf("page %d has the annotations %v", n, annotations)
		}
	}
	checkQuarters(t, "mutool", renderedPage(t, "mutool", grown, 3), image.Rect(100, 242, 300, 342))
}
