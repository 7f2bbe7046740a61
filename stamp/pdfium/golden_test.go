package pdfium_test

import (
	"errors"
	"fmt"
	"image"
	"image/png"
	"io/fs"
	"os"
	"path/filepath"
	"testing"
)

// gap is what is between the pages of a contact sheet, in pixels.
const gap = 20

// onSheet is where a page is on a contact sheet, which has one for each way it can be turned.
func (p pose) onSheet() image.Rectangle {
	left := 0
	for turn := 0; turn < p.turn; turn += 90 {
		left += inPixels(turned(turn)).X + gap
	}
	return image.Rectangle{Max: inPixels(p.Size)}.Add(image.Pt(left, 0))
}

// golden is the contact sheet of a stamp as PDFium drew it when somebody looked at it. One
// that is missing is made with INNSIGLI_GOLDEN=1.
func (l look) golden(t *testing.T, who signer, view viewer) *picture {
	t.Helper()
	path := filepath.Join("testdata", l.name+".png")
	file, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) && os.Getenv("INNSIGLI_GOLDEN") == "1" {
		l.makeGolden(t, path, who, view)
		file, err = os.Open(path)
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	decoded, err := png.Decode(file)
	if err != nil {
		t.Fatal(err)
	}
	sheet, ok := decoded.(*image.RGBA)
	if !ok {
		t.Fatalf("%s is a %T", path, decoded)
	}
	return opaque(sheet)
}

func (l look) makeGolden(t *testing.T, path string, who signer, view viewer) {
	t.Helper()
	poses := sheet(false, 1)
	canvas := newPicture(poses[len(poses)-1].onSheet().Max.X, perPoint*pageWidth)
	for i := range canvas.pixels {
		canvas.pixels[i] = 160
	}
	for _, p := range poses {
		signed, _ := who.inCorners(t, p.document, l.Size, l.appearance)
		canvas.put(p.onSheet(), view(t, signed, p.Size))
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(png.Encode(file, canvas.rgba()), file.Close()); err != nil {
		t.Fatal(err)
	}
}

func (p *picture) put(area image.Rectangle, part *picture) {
	for y := range part.height {
		copy(p.row(area.Min.Y+y, area.Min.X, area.Max.X), part.row(y, 0, part.width))
	}
}

func (p *picture) rgba() *image.RGBA {
	out := image.NewRGBA(p.bounds())
	for i := range len(p.pixels) / 3 {
		copy(out.Pix[4*i:], p.pixels[3*i:3*i+3])
		out.Pix[4*i+3] = 255
	}
	return out
}

// unlikeGolden compares a page with the one that was looked at.
func (p *picture) unlikeGolden(golden *picture) []string {
	if p.bounds() != golden.bounds() {
		return []string{fmt.Sprintf("a page of %v on a contact sheet for %v", p.bounds().Size(), golden.bounds().Size())}
	}
	unlike := 0
	for i := 0; i < len(p.pixels); i += 3 {
		if !colour(p.pixels[i:]).like(colour(golden.pixels[i:])) {
			unlike++
		}
	}
	if unlike > 0 {
		return []string{fmt.Sprintf("%d pixels are unlike those of the contact sheet", unlike)}
	}
	return nil
}
