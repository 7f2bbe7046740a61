package stamp

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// viewers draw a page of a file to a PNG in some dots per inch.
var viewers = map[string]func(path string, dpi int) []string{
	"mutool": func(path string, dpi int) []string {
		return []string{"draw", "-q", "-r", strconv.Itoa(dpi), "-c", "rgb", "-F", "png", "-o", "-", path, "1"}
	},
	"pdftoppm": func(path string, dpi int) []string { return []string{"-png", "-r", strconv.Itoa(dpi), path} },
}

// inViewers draws a page with each viewer.
func inViewers(t *testing.T, content []byte, dpi int, check func(t *testing.T, page image.Image)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for program, arguments := range viewers {
		t.Run(program, func(t *testing.T) {
			out, err := exec.Command(testenv.Program(t, program), arguments(path, dpi)...).Output()
			if err != nil {
				t.Fatal(err)
			}
			page, err := png.Decode(bytes.NewReader(out))
			if err != nil {
				t.Fatal(err)
			}
			check(t, page)
		})
	}
}

// checkQuarters wants quarters in an area of a page.
func checkQuarters(t *testing.T, page image.Image, area image.Rectangle, want [4]color.NRGBA) {
	t.Helper()
	for _, fault := range wrongQuarters(page, area, want) {
		t.Error(fault)
	}
}

// wrongQuarters looks at pixels well inside of each quarter, and at those around the area as
// far as the page has any, which are white.
func wrongQuarters(page image.Image, area image.Rectangle, want [4]color.NRGBA) (faults []string) {
	w, h := area.Dx(), area.Dy()
	for i, colour := range want {
		for _, at := range []image.Point{{15, 15}, {35, 15}, {15, 35}, {35, 35}} {
			p := area.Min.Add(image.Pt(w*(i%2*50+at.X)/100, h*(i/2*50+at.Y)/100))
			faults = append(faults, wrongPixel(page, p, colour, 6)...)
		}
	}
	for _, p := range []image.Point{
		{area.Min.X - 2, area.Min.Y + h/4}, {area.Max.X + 1, area.Min.Y + h/4},
		{area.Min.X + w/4, area.Min.Y - 2}, {area.Min.X + w/4, area.Max.Y + 1},
	} {
		if p.In(page.Bounds()) {
			faults = append(faults, wrongPixel(page, p, color.NRGBA{}, 0)...)
		}
	}
	return faults
}

// wrongPixel compares a pixel with a colour on white.
func wrongPixel(page image.Image, p image.Point, want color.NRGBA, tolerance int) []string {
	got := color.NRGBAModel.Convert(page.At(p.X, p.Y)).(color.NRGBA)
	over := func(v uint8) int { return (int(v)*int(want.A) + 255*(255-int(want.A))) / 255 }
	for _, d := range []int{int(got.R) - over(want.R), int(got.G) - over(want.G), int(got.B) - over(want.B)} {
		if d < -tolerance || d > tolerance {
			return []string{fmt.Sprintf("at %v: %v, want %v on white", p, got, want)}
		}
	}
	return nil
}
