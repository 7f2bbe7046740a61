package pdfium_test

import (
	"bytes"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// viewer draws the page of a document with perPoint pixels to the point as displayed. Viewers
// that do not know UserUnit, as Poppler 22.12 and PDFium, draw a smaller page: that is why they
// are told how many pixels all of it has.
type viewer func(t *testing.T, document []byte, page stamp.Size) *picture

func viewers(t *testing.T) map[string]viewer {
	t.Helper()
	return map[string]viewer{
		"mutool": mutool(t),
		"pdftoppm": program(testenv.Program(t, "pdftoppm"), func(path, longSide string) []string {
			return []string{"-cropbox", "-scale-to", longSide, "-f", "1", "-l", "1", path}
		}),
		"PDFium": ours(shared(t)),
	}
}

func mutool(t *testing.T) viewer {
	t.Helper()
	return program(testenv.Program(t, "mutool"), func(path, longSide string) []string {
		return []string{"draw", "-q", "-w", longSide, "-h", longSide, "-c", "rgb", "-F", "ppm", "-o", "-", path, "1"}
	})
}

func program(path string, arguments func(path, longSide string) []string) viewer {
	return func(t *testing.T, document []byte, page stamp.Size) *picture {
		t.Helper()
		file := filepath.Join(t.TempDir(), "page.pdf")
		if err := os.WriteFile(file, document, 0o600); err != nil {
			t.Fatal(err)
		}
		size := inPixels(page)
		out, err := exec.CommandContext(t.Context(), path, arguments(file, strconv.Itoa(max(size.X, size.Y)))...).Output()
		if err != nil {
			t.Fatal(err)
		}
		p, err := readPicture(out)
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
}

func ours(r *pdfium.Renderer) viewer {
	return func(t *testing.T, document []byte, page stamp.Size) *picture {
		t.Helper()
		size := inPixels(page)
		return opaque(drawn(t, r, document, size.X, size.Y))
	}
}

// opaque is a picture without its alpha.
func opaque(rgba *image.RGBA) *picture {
	p := newPicture(rgba.Rect.Dx(), rgba.Rect.Dy())
	for i := range len(p.pixels) / 3 {
		copy(p.pixels[3*i:3*i+3], rgba.Pix[4*i:])
	}
	return p
}

func newPicture(width, height int) *picture {
	return &picture{width: width, height: height, pixels: make([]byte, 3*width*height)}
}

func inPixels(page stamp.Size) image.Point {
	return image.Pt(int(page.Width*perPoint), int(page.Height*perPoint))
}

// part copies an area.
func (p *picture) part(area image.Rectangle) *picture {
	out := newPicture(area.Dx(), area.Dy())
	for y := range out.height {
		copy(out.row(y, 0, out.width), p.row(area.Min.Y+y, area.Min.X, area.Max.X))
	}
	return out
}

// ink is the smallest rectangle outside of which an area is like white.
func (p *picture) ink(area image.Rectangle) (box image.Rectangle) {
	blank := bytes.Repeat([]byte{255}, 3*area.Dx())
	for y := area.Min.Y; y < area.Max.Y; y++ {
		row := p.row(y, area.Min.X, area.Max.X)
		if bytes.Equal(row, blank) { // as most are, which is sooner seen than looked for
			continue
		}
		for x := range area.Dx() {
			if !colour(row[3*x:]).like(colour{255, 255, 255}) {
				box = box.Union(image.Rect(area.Min.X+x, y, area.Min.X+x+1, y+1))
			}
		}
	}
	return box
}
