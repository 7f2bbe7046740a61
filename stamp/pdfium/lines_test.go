package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// written reads the text of a document's first page.
func written(t testing.TB, r *pdfium.Renderer, document []byte) []stamp.Line {
	t.Helper()
	lines, err := r.Lines(t.Context(), bytes.NewReader(document), int64(len(document)), 1)
	if err != nil {
		t.Fatal(err)
	}
	return lines
}

func texts(lines []stamp.Line) (all []string) {
	for _, line := range lines {
		all = append(all, line.Text)
	}
	return all
}

const helvetica = "/Resources << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica /Encoding /WinAnsiEncoding >> >> >>"

// The words of a page are where its picture shows them, however it is turned, cropped and scaled.
func TestLinesAreWhereTheyAreDrawn(t *testing.T) {
	r := shared(t)
	for _, rotate := range []int{0, 90, 180, 270} {
		for _, unit := range []float64{1, 2} {
			t.Run(fmt.Sprintf("%d, UserUnit %g", rotate, unit), func(t *testing.T) {
				document := source{
					page:    fmt.Sprintf("/MediaBox [-10 0 250 190] /CropBox [50 20 400 170] /Rotate %d /UserUnit %g %s", rotate, unit, helvetica),
					content: "BT /F 20 Tf 80 90 Td (HEIMILI) Tj ET",
				}.bytes()
				page := readPage(t, document)
				lines := written(t, r, document)
				if diff := cmp.Diff([]string{"HEIMILI"}, texts(lines)); diff != "" {
					t.Fatal(diff)
				}
				// Half a point, and the room above and below capital letters.
				drawn := inked(drawn(t, r, document, int(page.Width/unit*4), int(page.Height/unit*4)))
				scale := unit / 4
				ink := stamp.Rect{Left: float64(drawn.Min.X) * scale, Top: float64(drawn.Min.Y) * scale, Width: float64(drawn.Dx()) * scale, Height: float64(drawn.Dy()) * scale}
				if got := lines[0].Rect; !within(ink, got, unit) || got.Width*got.Height > 2.5*ink.Width*ink.Height {
					t.Errorf("the ink is at %v, the text at %v", ink, got)
				}
			})
		}
	}
}

func within(inner, outer stamp.Rect, slack float64) bool {
	return inner.Left >= outer.Left-slack && inner.Top >= outer.Top-slack &&
		inner.Left+inner.Width <= outer.Left+outer.Width+slack && inner.Top+inner.Height <= outer.Top+outer.Height+slack
}

// What is on the page is read, line by line, and what viewers show of annotations and forms; nothing
// that is beside the page, and nothing that XML does not allow.
func TestLines(t *testing.T) {
	r := shared(t)
	annotation := func(flags int) source {
		return source{
			page:    page200 + helvetica + " /Annots [10 0 R]",
			content: "BT /F 9 Tf 10 80 Td (Samningur) Tj ET",
			objects: []string{
				fmt.Sprintf("<< /Type /Annot /Subtype /Stamp /F %d /Rect [100 50 140 70] /AP << /N 11 0 R >> >>", flags),
				stream(box+helvetica, "BT /F 9 Tf 2 5 Td (Undirritað) Tj ET"),
			},
		}
	}
	page := func(content string) source {
		return source{page: page200 + helvetica, content: "BT /F 9 Tf " + content + " ET"}
	}
	for name, test := range map[string]struct {
		source
		want []string
	}{
		"nothing":            {source{page: page200, content: "0 0 50 50 re f"}, nil},
		"letters of Iceland": {page(`10 80 Td (\xde\xf3r\xf0ur \xc6gir \xd6\xf0insson) Tj`), []string{"Þórður Ægir Öðinsson"}},
		"two lines":          {page("10 80 Td 12 TL (one) Tj T* (two words) Tj"), []string{"one", "two words"}},
		"columns of a table": {page("10 80 Td (name) Tj 100 0 Td (amount) Tj"), []string{"name", "amount"}},
		"one line in parts":  {page("10 80 Td (na) Tj 10 0 Td (me) Tj"), []string{"name"}},
		"beside the page":    {page("10 80 Td (here) Tj 0 300 Td (there) Tj"), []string{"here"}},
		"invisible":          {page("3 Tr 10 80 Td (read by a machine) Tj"), []string{"read by a machine"}},
		"not for XML":        {page(`10 80 Td (a\001b\033c\006d) Tj`), []string{"abcd"}},
		"markup":             {page(`10 80 Td (<b>&amp;) Tj`), []string{"<b>&amp;"}},
		"annotation":         {annotation(4), []string{"Samningur", "Undirrita"}},
		"hidden annotation":  {annotation(2), []string{"Samningur"}},
	} {
		t.Run(name, func(t *testing.T) {
			test.content = octal(test.content)
			got := texts(written(t, r, test.bytes()))
			if name == "annotation" && len(got) == 2 { // in the encoding of this file
				got[1] = got[1][:len("Undirrita")]
			}
			if diff := cmp.Diff(test.want, got, cmpopts.EquateEmpty()); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// octal has bytes that are written as \xNN as PDF writes them (ISO 32000-2 7.3.4.2).
func octal(content string) string {
	for n := 0x80; n < 0x100; n++ {
		content = strings.ReplaceAll(content, fmt.Sprintf(`\x%02x`, n), fmt.Sprintf(`\%03o`, n))
	}
	return content
}

// A page of more text than anybody reads is read in part.
func TestLinesAreBounded(t *testing.T) {
	r := shared(t)
	lines := func(n int, text string) string {
		var content strings.Builder
		for i := range n {
			fmt.Fprintf(&content, "1 0 0 1 10 %d Tm (%s) Tj\n", 14390-2*i, text)
		}
		return content.String()
	}
	for name, content := range map[string]string{
		"many lines":  lines(7000, "a"),
		"long lines":  "10 50 Td " + strings.Repeat("("+strings.Repeat("x", 1000)+") Tj\n", 400),
		"much of all": lines(7000, strings.Repeat("\\376", 100)),
	} {
		t.Run(name, func(t *testing.T) {
			document := source{page: "/MediaBox [0 0 14400 14400] " + helvetica, content: "BT /F 1 Tf " + content + " ET"}.bytes()
			lines, size := written(t, r, document), 0
			for _, line := range lines {
				size += len(line.Text)
				if !utf8.ValidString(line.Text) || math.IsNaN(line.Width) {
					t.Fatalf("%q at %v", line.Text, line.Rect)
				}
			}
			if len(lines) == 0 || len(lines) > 5000 || size < 4000 || size > 200<<10 {
				t.Errorf("%d lines of %d bytes", len(lines), size)
			}
		})
	}
}

// Errors are those of drawing, and the next page is read.
func TestLinesRefused(t *testing.T) {
	r := shared(t)
	good := text()
	read := func(ctx context.Context, document []byte, page int) error {
		lines, err := r.Lines(ctx, bytes.NewReader(document), int64(len(document)), page)
		if err != nil && lines != nil {
			t.Errorf("%d lines with the error %v", len(lines), err)
		}
		return err
	}
	if err := read(t.Context(), nil, 1); err == nil {
		t.Error("an empty document is read")
	}
	if err := read(t.Context(), []byte("hello"), 1); !errors.Is(err, stamp.ErrUnreadable) {
		t.Errorf("no PDF: %v", err)
	}
	if err := read(t.Context(), good, 2); !errors.Is(err, stamp.ErrNoPage) {
		t.Errorf("page 2: %v", err)
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if err := read(ended, good, 1); !errors.Is(err, context.Canceled) {
		t.Errorf("nobody waits: %v", err)
	}
	if err := read(t.Context(), good, 1); err != nil {
		t.Error(err)
	}
}

// BenchmarkLines is the text of a page of 4,000 characters.
func BenchmarkLines(b *testing.B) {
	r, document := shared(b), text()
	for b.Loop() {
		written(b, r, document)
	}
}
