package stamp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// TestScalingAndZoom draws an image of 60 by 40 pixels in a box of 120 by 100 points (spec 3.3).
func TestScalingAndZoom(t *testing.T) {
	encoded := encode(t, JPEG, quarters(60, 40, colours))
	for _, test := range []struct {
		drawing Drawing
		want    image.Rectangle // in points
	}{
		{Drawing{}, image.Rect(0, 0, 120, 100)},
		{Drawing{Scaling: Stretch, Zoom: 50}, image.Rect(30, 25, 90, 75)},
		{Drawing{Scaling: ZoomAndCenter}, image.Rect(0, 10, 120, 90)},
		{Drawing{Scaling: ZoomAndCenter, Zoom: 25}, image.Rect(45, 40, 75, 60)},
		{Drawing{Scaling: Center}, image.Rect(30, 30, 90, 70)},
		{Drawing{Scaling: Center, Zoom: 150}, image.Rect(15, 20, 105, 80)},
	} {
		t.Run(fmt.Sprint(test.drawing), func(t *testing.T) {
			content := drawImage(t, encoded, JPEG, Size{120, 100}, test.drawing)
			inViewers(t, content, 144, func(t *testing.T, page image.Image) {
				if page.Bounds() != image.Rect(0, 0, 240, 200) {
					t.Fatalf("got a page of %v pixels, want 240 by 200", page.Bounds())
				}
				checkQuarters(t, page, image.Rectangle{test.want.Min.Mul(2), test.want.Max.Mul(2)}, colours)
			})
		})
	}
}

// TestZoomIsAboutTheCentre checks that the centre of the image stays at the centre of the box, and
// that the image is clipped to its box even where the page is larger.
func TestZoomIsAboutTheCentre(t *testing.T) {
	encoded := encode(t, PNG, quarters(64, 64, colours))
	for _, scaling := range []Scaling{Stretch, ZoomAndCenter, Center} {
		content := drawImage(t, encoded, PNG, Size{100, 60}, Drawing{Scaling: scaling, Zoom: 1000})
		inViewers(t, content, 144, func(t *testing.T, page image.Image) { checkQuarters(t, page, page.Bounds(), colours) })
		larger := bytes.Replace(content, []byte("[0 0 100 60]"), []byte("[-9 0 99 70]"), 1)
		inViewers(t, larger, 72, func(t *testing.T, page image.Image) {
			checkQuarters(t, page, image.Rect(9, 10, 109, 70), colours)
		})
	}
}

func TestDrawErrors(t *testing.T) {
	i, err := ReadImage(encode(t, JPEG, quarters(6, 4, colours)), JPEG)
	if err != nil {
		t.Fatal(err)
	}
	good := Size{10, 10}
	for name, test := range map[string]struct {
		size    Size
		drawing Drawing
	}{
		"no width":                 {Size{0, 10}, Drawing{}},
		"negative height":          {Size{10, -1}, Drawing{}},
		"width too large":          {Size{14401, 10}, Drawing{}},
		"infinite height":          {Size{10, math.Inf(1)}, Drawing{}},
		"width that is not number": {Size{math.NaN(), 10}, Drawing{}},
		"width too small":          {Size{1e-9, 10}, Drawing{}},
		"negative zoom":            {good, Drawing{Zoom: -1}},
		"zoom too large":           {good, Drawing{Zoom: 1001}},
		"unknown scaling":          {good, Drawing{Scaling: "Fill"}},
	} {
		if b, err := i.Draw(test.size, test.drawing); err == nil || errors.Is(err, ErrImage) {
			t.Errorf("%s: got %d bytes, error %v, want an error other than ErrImage", name, len(b), err)
		}
	}
}

// TestDrawnSize checks that Draw reduces a large image, and refuses one that is too large even then.
func TestDrawnSize(t *testing.T) {
	photo := encode(t, JPEG, image.NewGray(image.Rect(0, 0, 4000, 2250)))
	if n := len(drawImage(t, photo, JPEG, StandardSize, Drawing{})); n > 32<<10 {
		t.Errorf("a photo of 9 million pixels takes %d bytes, want at most 32 KiB", n)
	}
	i := &decoded{picture: noise(1500, 1500), turn: upright}
	if b, err := i.draw(Size{1000, 1000}, Drawing{}); !errors.Is(err, ErrImage) {
		t.Errorf("got %d bytes, error %v, want ErrImage", len(b), err)
	}
}

// TestDrawnFile checks that the PDF is well formed, and that an opaque one breaks no rule of PDF/A-1b
// except those on the metadata of a document.
func TestDrawnFile(t *testing.T) {
	var claims []validators.VeraPDFClaim
	folder := t.TempDir()
	for _, k := range imageKinds(t) {
		for _, d := range []Drawing{{}, {Opaque: true, Scaling: Center, Zoom: 1000}} {
			content := drawImage(t, k.encoded, k.format, StandardSize, d)
			if bytes.Contains(content, []byte("/Group")) {
				t.Errorf("%s: the page has a transparency group", k.name)
			}
			path := filepath.Join(folder, fmt.Sprint(k.name, d.Opaque, ".pdf"))
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if warnings, err := validators.QPDFCheck(t, path); err != nil || len(warnings) > 0 {
				t.Errorf("%s: qpdf: %v, error %v", k.name, warnings, err)
			}
			if d.Opaque {
				claims = append(claims, validators.VeraPDFClaim{Profile: "1b", File: path})
			}
		}
	}
	for i, report := range validators.VeraPDF(t, claims...) {
		if report.Error != "" {
			t.Errorf("%v: %s", claims[i], report.Error)
		}
		for _, failure := range report.Failures {
			if failure.Clause != "6.1.3" && !strings.HasPrefix(failure.Clause, "6.7.") {
				t.Errorf("%v: %v", claims[i], failure)
			}
		}
	}
}

func drawImage(t testing.TB, encoded []byte, format ImageType, s Size, d Drawing) []byte {
	t.Helper()
	i, err := ReadImage(encoded, format)
	if err != nil {
		t.Fatal(err)
	}
	content, err := i.Draw(s, d)
	if err != nil {
		t.Fatal(err)
	}
	return content
}

// viewers are the arguments of programs that draw the first page of a file as a PNG.
var viewers = map[string]func(path, dpi string) []string{
	"mutool": func(path, dpi string) []string {
		return []string{"draw", "-q", "-r", dpi, "-c", "rgb", "-F", "png", "-o", "-", path, "1"}
	},
	"pdftoppm": func(path, dpi string) []string { return []string{"-png", "-r", dpi, path} },
}

// inViewers checks a page as each viewer draws it.
func inViewers(t *testing.T, content []byte, dpi int, check func(t *testing.T, page image.Image)) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	for program, arguments := range viewers {
		t.Run(program, func(t *testing.T) {
			out, err := exec.Command(testenv.Program(t, program), arguments(path, strconv.Itoa(dpi))...).Output()
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

func checkQuarters(t *testing.T, page image.Image, area image.Rectangle, want [4]color.NRGBA) {
	t.Helper()
	for _, fault := range wrongQuarters(page, area, want) {
		t.Error(fault)
	}
}

// wrongQuarters compares pixels well inside each quarter of an area with a colour, and the pixels
// around the area, if the page has any, with white.
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
	onWhite := func(v uint8) int { return (int(v)*int(want.A) + 255*(255-int(want.A))) / 255 }
	for _, d := range []int{int(got.R) - onWhite(want.R), int(got.G) - onWhite(want.G), int(got.B) - onWhite(want.B)} {
		if d < -tolerance || d > tolerance {
			return []string{fmt.Sprintf("at %v: got %v, want %v on white", p, got, want)}
		}
	}
	return nil
}
