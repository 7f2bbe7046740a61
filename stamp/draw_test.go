package stamp

import (
	"bytes"
	"errors"
	"fmt"
	"image"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// spec 3.3: an image of 60 by 40 pixels in a box of 120 by 100 points.
func TestScalingAndZoom(t *testing.T) {
	i := imageOf(t, jpegOf(t, quarters(60, 40, colours)), JPEG)
	for _, test := range []struct {
		drawing Drawing
		want    image.Rectangle // in points; beyond the box it is clipped
	}{
		{Drawing{}, image.Rect(0, 0, 120, 100)},
		{Drawing{Scaling: Stretch, Zoom: 50}, image.Rect(30, 25, 90, 75)},
		{Drawing{Scaling: ZoomAndCenter}, image.Rect(0, 10, 120, 90)},
		{Drawing{Scaling: ZoomAndCenter, Zoom: 25}, image.Rect(45, 40, 75, 60)},
		{Drawing{Scaling: Center}, image.Rect(30, 30, 90, 70)},
		{Drawing{Scaling: Center, Zoom: 150}, image.Rect(15, 20, 105, 80)},
	} {
		t.Run(fmt.Sprint(test.drawing), func(t *testing.T) {
			inViewers(t, drawImage(t, i, Size{120, 100}, test.drawing), 144, func(t *testing.T, page image.Image) {
				if page.Bounds() != image.Rect(0, 0, 240, 200) {
					t.Fatalf("a page of %v", page.Bounds())
				}
				checkQuarters(t, page, image.Rectangle{test.want.Min.Mul(2), test.want.Max.Mul(2)}, colours)
			})
		})
	}
}

// Zoomed, all that is seen of the quarters is around their middle.
func TestZoomIsAboutTheMiddle(t *testing.T) {
	i := &decoded{picture: quarters(64, 64, colours), turn: upright}
	for _, scaling := range []Scaling{Stretch, ZoomAndCenter, Center} {
		drawn, err := i.draw(Size{60, 60}, Drawing{Scaling: scaling, Zoom: 1000})
		if err != nil {
			t.Fatal(err)
		}
		inViewers(t, drawn, 144, func(t *testing.T, page image.Image) {
			checkQuarters(t, page, page.Bounds(), colours)
		})
	}
}

// An image is clipped to its box where a page shows more.
func TestImageIsClipped(t *testing.T) {
	i := imageOf(t, jpegOf(t, quarters(60, 40, colours)), JPEG)
	drawn := drawImage(t, i, Size{120, 100}, Drawing{Zoom: 200})
	wider := bytes.Replace(drawn, []byte("[0 0 120 100]"), []byte("[-9 0 99 99] "), 1)
	inViewers(t, wider, 72, func(t *testing.T, page image.Image) {
		for _, fault := range wrongPixel(page, image.Pt(4, 50), greys[3], 0) {
			t.Error(fault)
		}
		for _, fault := range wrongPixel(page, image.Pt(12, 20), colours[0], 6) {
			t.Error(fault)
		}
	})
}

func TestDrawingRefused(t *testing.T) {
	i := imageOf(t, jpegOf(t, quarters(6, 4, colours)), JPEG)
	good := Size{10, 10}
	for _, test := range []struct {
		size    Size
		drawing Drawing
	}{
		{Size{0, 10}, Drawing{}},
		{Size{10, -1}, Drawing{}},
		{Size{14401, 10}, Drawing{}},
		{Size{10, math.Inf(1)}, Drawing{}},
		{Size{math.NaN(), 10}, Drawing{}},
		{Size{1e-9, 10}, Drawing{}},
		{good, Drawing{Zoom: -1}},
		{good, Drawing{Zoom: 1001}},
		{good, Drawing{Scaling: "Fill"}},
	} {
		if b, err := i.Draw(test.size, test.drawing); err == nil || errors.Is(err, ErrImage) {
			t.Errorf("%v: %d bytes, %v", test, len(b), err)
		}
	}
}

// What is drawn is small however large the image is, and never beyond what an appearance may have.
func TestDrawnIsSmall(t *testing.T) {
	photo := imageOf(t, jpegOf(t, image.NewGray(image.Rect(0, 0, 4000, 2250))), JPEG)
	if n := len(drawImage(t, photo, StandardSize, Drawing{})); n > 32<<10 {
		t.Errorf("a photo of 9 million pixels takes %d bytes", n)
	}
	i := &decoded{picture: noise(1500, 1500), turn: upright}
	if b, err := i.draw(Size{1000, 1000}, Drawing{}); !errors.Is(err, ErrImage) {
		t.Errorf("%d bytes, %v", len(b), err)
	}
}

// The file is well formed, opaque where that is asked for, has no group, and breaks no rule of
// PDF/A-1b but those on what a document says of itself.
func TestDrawnFile(t *testing.T) {
	qpdf := testenv.Program(t, "qpdf")
	var claims []validators.VeraPDFClaim
	folder := t.TempDir()
	for n, k := range kinds(t) {
		for _, d := range []Drawing{{}, {Opaque: true, Scaling: Center, Zoom: 1000}} {
			content := drawImage(t, imageOf(t, k.encoded, k.of), StandardSize, d)
			if d.Opaque && bytes.Contains(content, []byte("/SMask")) || bytes.Contains(content, []byte("/Group")) {
				t.Errorf("%s: transparent", k.name)
			}
			path := filepath.Join(folder, fmt.Sprint(n, d.Opaque, ".pdf"))
			if err := os.WriteFile(path, content, 0o600); err != nil {
				t.Fatal(err)
			}
			if out, err := exec.Command(qpdf, "--check", path).CombinedOutput(); err != nil {
				t.Errorf("%s: %v\n%s", k.name, err, out)
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
