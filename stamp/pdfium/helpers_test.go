package pdfium_test

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/color"
	"image/draw"
	"image/png"
	"math"
	"os/exec"
	"strings"
	"testing"
	"time"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// enough is more time than any page takes, however busy the machine is.
const enough = time.Hour

// shared returns a renderer that is ready and waits for as long as it takes.
func shared(t testing.TB) *pdfium.Renderer {
	t.Helper()
	return started(t, pdfium.Options{Wait: enough, Limit: enough})
}

// started returns a renderer with the cache of the tests that is ready.
func started(t testing.TB, o pdfium.Options) *pdfium.Renderer {
	t.Helper()
	o.Cache = testenv.RendererCache()
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

// source is a PDF of one page, as source text. It has no cross-reference, which PDFium rebuilds.
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

const (
	page200   = "/MediaBox [0 0 200 100] "
	helvetica = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >>"
	// box and red are an appearance that fills its box of 40 by 20.
	box = "/Type /XObject /Subtype /Form /BBox [0 0 40 20]"
	red = "1 0 0 rg 0 0 40 20 re f"
)

// textPage returns a page of 4,000 characters.
func textPage() []byte {
	const sentence = "(Undirritaður samþykkir skilmála þessa samnings, sem er í tveimur eintökum.) ' "
	return source{
		page:    "/MediaBox [0 0 595 842] " + helvetica,
		content: "BT /F 11 Tf 14 TL 50 780 Td " + strings.Repeat(sentence, 50) + "ET",
	}.bytes()
}

// slowPage returns a page that takes minutes to draw: the colour of each pixel is the result of a long
// calculation (ISO 32000-2 7.10.5, 8.7.4.5.2).
func slowPage() []byte {
	calculation := "{ " + strings.Repeat("exch 1.01 mul sin exch cos ", 20_000) + "2 copy add }"
	return source{
		page:    "/MediaBox [0 0 1000 1000] /Resources << /Shading << /S 10 0 R >> >>",
		content: "/S sh",
		objects: []string{
			"<< /ShadingType 1 /ColorSpace /DeviceRGB /Matrix [1000 0 0 1000 0 0] /Function 11 0 R >>",
			stream("/FunctionType 4 /Domain [0 1 0 1] /Range [0 1 0 1 0 1]", calculation),
		},
	}.bytes()
}

func readPage(t testing.TB, document []byte) *stamp.Page {
	t.Helper()
	page, err := stamp.ReadPage(bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	return page
}

// render draws the first page of a document.
func render(ctx context.Context, r *pdfium.Renderer, document []byte, width, height int) (*image.RGBA, error) {
	return r.Render(ctx, bytes.NewReader(document), int64(len(document)), 1, width, height)
}

// drawn draws the first page of a document, which may not fail.
func drawn(t testing.TB, r *pdfium.Renderer, document []byte, width, height int) *image.RGBA {
	t.Helper()
	picture, err := render(t.Context(), r, document, width, height)
	if err != nil {
		t.Fatal(err)
	}
	if picture.Rect != image.Rect(0, 0, width, height) || !picture.Opaque() {
		t.Fatalf("got a picture of %v, opaque %v, want an opaque one of %d by %d", picture.Rect, picture.Opaque(), width, height)
	}
	return picture
}

// programPicture returns the picture that a program writes to its output as a PNG.
func programPicture(ctx context.Context, program string, arguments ...string) (*image.RGBA, error) {
	command := exec.CommandContext(ctx, program, arguments...)
	command.WaitDelay = time.Minute
	out, err := command.Output()
	if err != nil {
		return nil, err
	}
	decoded, err := png.Decode(bytes.NewReader(out))
	if err != nil {
		return nil, err
	}
	return crop(decoded, decoded.Bounds()), nil
}

// crop returns a copy of a part of a picture, with its upper left corner at 0, 0.
func crop(picture image.Image, area image.Rectangle) *image.RGBA {
	out := image.NewRGBA(image.Rectangle{Max: area.Size()})
	draw.Draw(out, out.Rect, picture, area.Min, draw.Src)
	return out
}

const (
	// perPoint is the number of pixels per point in pictures that are compared: 144 dpi.
	perPoint = 2
	// tolerance is how far each channel of two colours that count as alike may differ.
	tolerance = 16
)

var white = color.RGBA{255, 255, 255, 255}

func alike(a, b color.RGBA) bool {
	near := func(a, b uint8) bool { return max(a, b)-min(a, b) <= tolerance }
	return near(a.R, b.R) && near(a.G, b.G) && near(a.B, b.B)
}

// inked returns the smallest rectangle that contains all pixels that are not like white.
func inked(picture *image.RGBA) (r image.Rectangle) {
	return boundsOf(picture, func(x, y int) bool { return !alike(picture.RGBAAt(x, y), white) })
}

// boundsOf returns the smallest rectangle that contains all selected pixels of a picture.
func boundsOf(picture *image.RGBA, selected func(x, y int) bool) (r image.Rectangle) {
	for y := picture.Rect.Min.Y; y < picture.Rect.Max.Y; y++ {
		for x := picture.Rect.Min.X; x < picture.Rect.Max.X; x++ {
			if selected(x, y) {
				r = r.Union(image.Rect(x, y, x+1, y+1))
			}
		}
	}
	return r
}

// inkedIn is inked for a part of a picture.
func inkedIn(picture *image.RGBA, area image.Rectangle) image.Rectangle {
	return inked(picture.SubImage(area).(*image.RGBA))
}

// pixels returns the pixels that a rectangle of a page touches.
func pixels(r stamp.Rect) image.Rectangle {
	return image.Rect(
		int(math.Floor(perPoint*r.Left)), int(math.Floor(perPoint*r.Top)),
		int(math.Ceil(perPoint*(r.Left+r.Width))), int(math.Ceil(perPoint*(r.Top+r.Height))),
	)
}

var corners = []stamp.Corner{stamp.TopLeft, stamp.TopRight, stamp.BottomLeft, stamp.BottomRight}

func cornerName(c stamp.Corner) string {
	return [...]string{"TopLeft", "TopRight", "BottomLeft", "BottomRight"}[c]
}
