package pades

import (
	"bytes"
	"fmt"
	"image"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/innsigli/innsigli/internal/testenv"
)

// rendered draws the first page with mutool or pdftoppm in 72 dots per inch.
func rendered(t *testing.T, program string, content []byte) *image.RGBA {
	t.Helper()
	return renderedPage(t, program, content, 1)
}

func renderedPage(t *testing.T, program string, content []byte, page int) *image.RGBA {
	t.Helper()
	path := filepath.Join(t.TempDir(), "page.pdf")
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	args := map[string][]string{
		"mutool":   {"draw", "-q", "-r", "72", "-c", "rgb", "-F", "ppm", "-o", "-", path, fmt.Sprint(page)},
		"pdftoppm": {"-cropbox", "-r", "72", "-f", fmt.Sprint(page), "-l", fmt.Sprint(page), path},
	}
	out, err := exec.Command(testenv.Program(t, program), args[program]...).Output()
	if err != nil {
		t.Fatalf("%s: %v", program, err)
	}
	return portablePixmap(t, out)
}

// portablePixmap reads a picture of format P6.
func portablePixmap(t *testing.T, b []byte) *image.RGBA {
	t.Helper()
	var width, height, most int
	r := bytes.NewReader(b)
	if _, err := fmt.Fscanf(r, "P6\n%d %d\n%d\n", &width, &height, &most); err != nil || most != 255 || r.Len() != 3*width*height {
		t.Fatalf("no picture of %d by %d with %d bytes: %v", width, height, r.Len(), err)
	}
	picture := image.NewRGBA(image.Rect(0, 0, width, height))
	for i, pixels := 0, b[len(b)-r.Len():]; i < width*height; i++ {
		copy(picture.Pix[4*i:], pixels[3*i:3*i+3])
		picture.Pix[4*i+3] = 255
	}
	return picture
}

// differing counts the pixels that are not the same in pictures of one size.
func differing(a, b *image.RGBA) int {
	if a.Bounds() != b.Bounds() {
		return max(len(a.Pix), len(b.Pix)) / 4
	}
	n := 0
	for i := 0; i < len(a.Pix); i += 4 {
		if !bytes.Equal(a.Pix[i:i+4], b.Pix[i:i+4]) {
			n++
		}
	}
	return n
}
