package pdfium_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// shared returns a renderer that is ready, and that draws whatever it draws however busy the machine is.
func shared(t testing.TB) *pdfium.Renderer {
	t.Helper()
	return started(t, pdfium.Options{Cache: testenv.RendererCache(), Wait: 5 * time.Minute, Limit: 5 * time.Minute})
}

func started(t testing.TB, o pdfium.Options) *pdfium.Renderer {
	t.Helper()
	r := pdfium.New(o)
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := r.Warm(t.Context()); err != nil {
		t.Fatal(err)
	}
	return r
}

// source is a PDF of one page, as source text. It has no cross-reference: PDFium does without.
type source struct {
	catalog string // further entries
	page    string // its entries
	content string
	objects []string // numbered from 10
}

func (s source) bytes() []byte {
	var b bytes.Buffer
	write := func(n int, body string) { fmt.Fprintf(&b, "%d 0 obj\n%s\nendobj\n", n, body) }
	b.WriteString("%PDF-1.7\n")
	write(1, "<< /Type /Catalog /Pages 2 0 R "+s.catalog+" >>")
	write(2, "<< /Type /Pages /Kids [3 0 R] /Count 1 >>")
	write(3, "<< /Type /Page /Parent 2 0 R /Contents 4 0 R "+s.page+" >>")
	write(4, stream("", s.content))
	for i, body := range s.objects {
		write(10+i, body)
	}
	b.WriteString("trailer\n<< /Size 100 /Root 1 0 R >>\n%%EOF\n")
	return b.Bytes()
}

func stream(entries, content string) string {
	return fmt.Sprintf("<< %s /Length %d >>\nstream\n%s\nendstream", entries, len(content), content)
}

// rendered draws the page of a document.
func rendered(ctx context.Context, r *pdfium.Renderer, document []byte, width, height int) (*image.RGBA, error) {
	return r.Render(ctx, bytes.NewReader(document), int64(len(document)), 1, width, height)
}

// drawn is rendered where that has to do.
func drawn(t testing.TB, r *pdfium.Renderer, document []byte, width, height int) *image.RGBA {
	t.Helper()
	picture, err := rendered(t.Context(), r, document, width, height)
	if err != nil {
		t.Fatal(err)
	}
	if picture.Rect != image.Rect(0, 0, width, height) || !picture.Opaque() {
		t.Fatalf("a picture of %v, opaque: %v", picture.Rect, picture.Opaque())
	}
	return picture
}

// inked returns the smallest rectangle outside of which all is white.
func inked(picture *image.RGBA) (r image.Rectangle) {
	for y := range picture.Rect.Dy() {
		for x := range picture.Rect.Dx() {
			if picture.RGBAAt(x, y) != (color.RGBA{255, 255, 255, 255}) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}
