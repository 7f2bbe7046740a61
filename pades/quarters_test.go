package pades

import (
	"fmt"
	"image"
	"image/color"
	"strings"
	"testing"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

var (
	red    = color.RGBA{255, 0, 0, 255}
	green  = color.RGBA{0, 255, 0, 255}
	blue   = color.RGBA{0, 0, 255, 255}
	yellow = color.RGBA{255, 255, 0, 255}
	white  = color.RGBA{255, 255, 255, 255}
)

// quarters returns pages that are all displayed in the same way.
func quarters() map[string][]byte {
	// The colours of the quarters in user space: lower left and right, upper left and right.
	upright := [4]string{"0 0 1", "1 1 0", "1 0 0", "0 1 0"}
	turned := map[int][4]string{
		90:  {"1 0 0", "0 0 1", "0 1 0", "1 1 0"},
		180: {"0 1 0", "1 0 0", "1 1 0", "0 0 1"},
		270: {"1 1 0", "0 1 0", "0 0 1", "1 0 0"},
	}
	pages := map[string][]byte{
		"plain":              quartersPage("/MediaBox [0 0 200 100]", 0, 0, 100, 50, upright),
		"half as large":      quartersPage("/MediaBox [0 0 100 50]", 0, 0, 50, 25, upright),
		"crop box":           quartersPage("/MediaBox [-900 -900 900 900] /CropBox [120 -70 320 -170]", 120, -170, 100, 50, upright),
		"crop box too large": quartersPage("/MediaBox [0 0 200 100] /CropBox [-50 -50 900 900]", 0, 0, 100, 50, upright),
		"crop box and turned": quartersPage("/MediaBox [0 0 900 900] /CropBox [30 40 130 240] /Rotate -90", 30, 40, 50, 100,
			turned[270]),
	}
	for _, rotate := range []int{90, 270} {
		pages[fmt.Sprint("turned by ", rotate)] = quartersPage(fmt.Sprintf("/MediaBox [0 0 100 200] /Rotate %d", rotate), 0, 0, 50, 100, turned[rotate])
	}
	pages["turned by 180"] = quartersPage("/MediaBox [0 0 200 100] /Rotate 180", 0, 0, 100, 50, turned[180])
	return pages
}

// quartersPage draws four rectangles of w by h from (x, y) on, on a magenta ground that is
// not to be seen, from two content streams and with the colours' space in resources.
func quartersPage(entries string, x, y, w, h int, colours [4]string) []byte {
	ground := "/Space cs 1 0 1 sc -9000 -9000 18000 18000 re f"
	var quarters strings.Builder
	for i, c := range colours {
		fmt.Fprintf(&quarters, "%s sc %d %d %d %d re f ", c, x+i%2*w, y+i/2*h, w, h)
	}
	return pdftest.Build(pdftest.Options{
		Page: entries + " /Contents [100 0 R 99 0 R 101 0 R] /Resources << /ColorSpace 102 0 R >>",
		Objects: []string{
			streamObject(ground), streamObject(quarters.String()),
			"<< /Space 103 0 R /Unused << /Back [1 0 R 2 0 R 10 0 R] >> >>", "/DeviceRGB",
		},
	})
}

func streamObject(content string) string {
	return fmt.Sprintf("<< /Length %d >>\nstream\n%s\nendstream", len(content), content)
}

// checkQuarters looks at the middle of each quarter and around the rectangle.
func checkQuarters(t *testing.T, program string, picture image.Image, r image.Rectangle) {
	t.Helper()
	w, h := r.Dx(), r.Dy()
	for at, want := range map[image.Point]color.RGBA{
		{w / 4, h / 4}: red, {3 * w / 4, h / 4}: green, {w / 4, 3 * h / 4}: blue, {3 * w / 4, 3 * h / 4}: yellow,
		{2, 2}: red, {w - 3, 2}: green, {2, h - 3}: blue, {w - 3, h - 3}: yellow,
		{-3, h / 2}: white, {w + 2, h / 2}: white, {w / 2, -3}: white, {w / 2, h + 2}: white,
	} {
		at = at.Add(r.Min)
		if got := picture.At(at.X, at.Y); got != want {
			t.Errorf("%s: %v at %v, want %v", program, got, at, want)
		}
	}
}
