package page

import (
	"bytes"
	"errors"
	"image"
	"image/color"
	"image/jpeg"
	"image/png"
	"math"
	"math/rand/v2"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/portal"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// A picture is as wide as asked for, and has the shape of the page, within the pixels that there may be.
func TestPixels(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		page      stamp.Size
		width     int
		wantW     int
		wantH     int
		wantError bool
	}{
		{page: stamp.Size{Width: 595, Height: 842}, width: 640, wantW: 640, wantH: 906},
		{page: stamp.Size{Width: 842, Height: 595}, width: 1440, wantW: 1440, wantH: 1018},
		{page: stamp.Size{Width: 600, Height: 6000}, width: 1440, wantW: 648, wantH: 6472},
		{page: stamp.Size{Width: 1, Height: 1e6}, width: 640, wantW: 2, wantH: 2047843},
		{page: stamp.Size{Width: 1e6, Height: 1e-3}, width: 640, wantW: 640, wantH: 1},
		{page: stamp.Size{}, width: 640, wantError: true},
		{page: stamp.Size{Width: math.NaN(), Height: 1}, width: 640, wantError: true},
	} {
		w, h, err := pixelSize(test.page, test.width)
		if (err != nil) != test.wantError || w*h > maxPixels || w != test.wantW || math.Abs(float64(h-test.wantH)) > 1e-3*float64(h)+1 {
			t.Errorf("%v in %d: %d x %d, %v", test.page, test.width, w, h, err)
		}
	}
}

// Text stays as it is drawn to the pixel; what is a photo or a scan, in colours or not, takes no more
// room than it has to.
func TestEncode(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(7, 8))
	paint := func(at func(x, y int) color.RGBA) *image.RGBA {
		out := image.NewRGBA(image.Rect(0, 0, 300, 400))
		for y := range 400 {
			for x := range 300 {
				out.SetRGBA(x, y, at(x, y))
			}
		}
		return out
	}
	noise := func(n int) uint8 { return uint8(200 + random.IntN(n)) }
	for name, test := range map[string]struct {
		drawn *image.RGBA
		kind  string
	}{
		"white": {paint(func(int, int) color.RGBA { return color.RGBA{255, 255, 255, 255} }), "image/png"},
		"dense text": {paint(func(x, y int) color.RGBA {
			v := uint8(min(255, x*7%61*y%9*30))
			return color.RGBA{v, v, v, 255}
		}), "image/png"},
		"text in many colours": {paint(func(x, y int) color.RGBA {
			return color.RGBA{uint8(x / 6 * 5), uint8(y / 2), uint8(x / 6), 255}
		}), "image/png"},
		"grey scan": {paint(func(int, int) color.RGBA {
			v := noise(50)
			return color.RGBA{v, v, v, 255}
		}), "image/jpeg"},
		"colour scan": {paint(func(int, int) color.RGBA { return color.RGBA{noise(50), noise(50), noise(50), 255} }), "image/jpeg"},
	} {
		t.Run(name, func(t *testing.T) {
			made, err := encode(test.drawn)
			if err != nil || made.mediaType != test.kind {
				t.Fatalf("%s, %v", made.mediaType, err)
			}
			if most := len(made.file)*9/8 + 8192; cap(made.file) > most { // sizes in which memory is given
				t.Errorf("a file of %d bytes takes %d", made.cost(), cap(made.file))
			}
			if made.mediaType == "image/jpeg" {
				if got, err := jpeg.Decode(bytes.NewReader(made.file)); err != nil || got.Bounds() != test.drawn.Rect {
					t.Errorf("%v", err)
				}
				return
			}
			got, err := png.Decode(bytes.NewReader(made.file))
			if err != nil {
				t.Fatal(err)
			}
			for i := 0; i < len(test.drawn.Pix); i += 4 {
				x, y := i/4%300, i/4/300
				if color.RGBAModel.Convert(got.At(x, y)) != test.drawn.RGBAAt(x, y) {
					t.Fatalf("at %d, %d: %v, want %v", x, y, got.At(x, y), test.drawn.RGBAAt(x, y))
				}
			}
		})
	}
}

// Pages of text and scans are drawn and read, and what there is not is not found.
func TestPicturesOfABook(t *testing.T) {
	testenv.Slow(t, "a long document is drawn")
	p := newPictures(newRenderer(t, pdfium.Options{Limit: enoughTime}))
	defer p.close()
	rev, open := docRevision{"a process", 0}, openingOf(bytes.NewReader(book()), int64(len(book())), 0, nil)
	for n, kind := range map[int]string{1: "image/png", 2: "image/jpeg"} {
		got, err := p.picture(t.Context(), rev, open, n, 640)
		if err != nil || got.mediaType != kind || len(got.file) > 300<<10 {
			t.Fatalf("page %d: %v, %v", n, got, err)
		}
		t.Logf("figure: page %d takes %d bytes as %s", n, len(got.file), kind)
	}
	for n, want := range map[int][]string{1: clauses(1), 2: nil} {
		got, err := p.text(t.Context(), rev, open, n)
		if err != nil || len(got.lines) != len(want) {
			t.Fatalf("page %d: %d lines, %v", n, len(got.lines), err)
		}
		for i, line := range got.lines {
			if line.Text != want[i] {
				t.Errorf("line %d is %q, want %q", i+1, line.Text, want[i])
			}
		}
	}
	for _, n := range []int{-1, 0, 41} {
		if _, err := p.picture(t.Context(), rev, open, n, 640); !errors.Is(err, portal.ErrNotFound) {
			t.Errorf("page %d: %v", n, err)
		}
	}
}
