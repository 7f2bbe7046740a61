package pades

import (
	"bytes"
	"fmt"
	"image"
	"image/color"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// rendered draws the first page with mutool or pdftoppm in 72 dots per inch.
func rendered(t *testing.T, program string, content []byte) *pixmap {
	t.Helper()
	return renderedPage(t, program, content, 1)
}

func renderedPage(t *testing.T, program string, content []byte, page int) *pixmap {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{
		"mutool":   {"draw", "-q", "-r", "72", "-c", "rgb", "-F", "ppm", "-o", "-", path, fmt.Sprint(page)},
		"pdftoppm": {"-cropbox", "-r", "72", "-f", fmt.Sprint(page), "-l", fmt.Sprint(page), path},
	}
	// With room for most pictures: watched for races, a buffer that grows takes longer than drawing.
	out := bytes.NewBuffer(make([]byte, 0, 2<<20))
	command := exec.Command(testenv.Program(t, program), args[program]...)
	command.Stdout = out
	if err := command.Run(); err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return portablePixmap(t, out.Bytes())
}

// pixmap is a picture as these programs write it, three bytes to a pixel.
type pixmap struct {
	image.Rectangle
	pixels []byte
}

func (*pixmap) ColorModel() color.Model   { return color.RGBAModel }
func (p *pixmap) Bounds() image.Rectangle { return p.Rectangle }

func (p *pixmap) At(x, y int) color.Color {
	if !image.Pt(x, y).In(p.Rectangle) {
		return color.RGBA{}
	}
	rgb := p.pixels[3*(y*p.Dx()+x):]
	return color.RGBA{rgb[0], rgb[1], rgb[2], 255}
}

// portablePixmap reads a picture of format P6.
func portablePixmap(t *testing.T, b []byte) *pixmap {
	t.Helper()
	var width, height, most int
	r := bytes.NewReader(b)
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil || most != 255 || r.Len() != 3*width*height {
		t.Fatalf("no picture of %d by %d with %d bytes: %v", width, height, r.Len(), err)
	}
	return &pixmap{image.Rect(0, 0, width, height), b[len(b)-r.Len():]}
}

// differing counts the pixels that are not the same in pictures of one size.
func differing(a, b *pixmap) int {
	if a.Bounds() != b.Bounds() {
		return max(len(a.pixels), len(b.pixels)) / 3
	}
	if bytes.Equal(a.pixels, b.pixels) { // sooner seen than counted
		return 0
	}
	n := 0
	for i := 0; i < len(a.pixels); i += 3 {
		if !bytes.Equal(a.pixels[i:i+3], b.pixels[i:i+3]) {
			n++
		}
	}
	return n
}
