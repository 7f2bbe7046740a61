package pdfium_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"os/exec"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/text/unicode/norm"

	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/stamp"
	"github.com/innsigli/innsigli/stamp/pdfium"
)

// TestLinePlaces checks that Lines, Render and ReadPage agree on how a page is rotated, cropped and
// scaled: the place of a line is where the page's picture shows it.
func TestLinePlaces(t *testing.T) {
	r := shared(t)
	for _, rotate := range []int{0, 90, 180, 270, -90, 450} {
		for _, unit := range []float64{1, 2} {
			document := source{
				page:    fmt.Sprintf("/MediaBox [-10 0 250 190] /CropBox [50 20 400 170] /Rotate %d /UserUnit %g %s", rotate, unit, helvetica),
				content: "BT /F 20 Tf 80 90 Td (HEIMILI) Tj ET",
			}.bytes()
			page, lines := readPage(t, document), linesOf(t, r, document)
			if diff := cmp.Diff([]string{"HEIMILI"}, texts(lines)); diff != "" {
				t.Fatalf("rotated by %d, UserUnit %g (-want +got):\n%s", rotate, unit, diff)
			}
			const perPoint = 4 // at UserUnit 1
			ink := inked(drawn(t, r, document, int(page.Width/unit*perPoint), int(page.Height/unit*perPoint)))
			scale := unit / perPoint
			left, top, width, height := float64(ink.Min.X)*scale, float64(ink.Min.Y)*scale, float64(ink.Dx())*scale, float64(ink.Dy())*scale
			got := lines[0].Rect
			inside := left >= got.Left-unit && top >= got.Top-unit && left+width <= got.Left+got.Width+unit && top+height <= got.Top+got.Height+unit
			if !inside || got.Width*got.Height > 2.5*width*height { // there is space above and below capital letters
				t.Errorf("rotated by %d, UserUnit %g: the line is at %v, want it around the ink at %v, %v, %v by %v", rotate, unit, got, left, top, width, height)
			}
		}
	}
}

// TestLines checks the text of the page and of visible annotations, without text outside the page and
// characters that XML does not allow.
func TestLines(t *testing.T) {
	r := shared(t)
	page := func(content string) source {
		return source{page: page200 + helvetica, content: "BT /F 9 Tf " + content + " ET"}
	}
	annotation := func(flags int) source {
		s := page("10 80 Td (Samningur) Tj")
		s.page += " /Annots [10 0 R]"
		s.objects = []string{
			fmt.Sprintf("<< /Type /Annot /Subtype /Stamp /F %d /Rect [100 50 140 70] /AP << /N 11 0 R >> >>", flags),
			stream(box+helvetica, "BT /F 9 Tf 2 5 Td (Undirrita) Tj ET"),
		}
		return s
	}
	for name, test := range map[string]struct {
		source
		want []string
	}{
		"no text":                  {source{page: page200, content: "0 0 50 50 re f"}, nil},
		"Icelandic":                {page(`10 80 Td (\336\363r\360ur \306gir \326\360insson) Tj`), []string{"Þórður Ægir Öðinsson"}},
		"two lines":                {page("10 80 Td 12 TL (one) Tj T* (two words) Tj"), []string{"one", "two words"}},
		"columns of a table":       {page("10 80 Td (name) Tj 100 0 Td (amount) Tj"), []string{"name", "amount"}},
		"one line in parts":        {page("10 80 Td (na) Tj 10 0 Td (me) Tj"), []string{"name"}},
		"text outside the page":    {page("10 80 Td (here) Tj 0 300 Td (there) Tj"), []string{"here"}},
		"invisible text":           {page("3 Tr 10 80 Td (read by a machine) Tj"), nil},
		"characters not for XML":   {page(`10 80 Td (a\001b\033c\006d) Tj`), []string{"abcd"}},
		"characters of XML markup": {page(`10 80 Td (<b>&amp;) Tj`), []string{"<b>&amp;"}},
		"annotation":               {annotation(4), []string{"Samningur", "Undirrita"}},
		"hidden annotation":        {annotation(2), []string{"Samningur"}},
	} {
		if diff := cmp.Diff(test.want, texts(linesOf(t, r, test.bytes())), cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestLinesAreBounded checks that only a part of a very long text is read.
func TestLinesAreBounded(t *testing.T) {
	r := shared(t)
	const side = 14400
	lines := func(text string, size, columns int) string {
		var content strings.Builder
		fmt.Fprintf(&content, "/F %d Tf ", size)
		for i := range 7000 {
			fmt.Fprintf(&content, "1 0 0 1 %d %d Tm (%s) Tj\n", 10+i%columns*(side/columns), side-100-i/columns*60, text)
		}
		return content.String()
	}
	for name, content := range map[string]string{
		"many lines":      lines("a", 50, 70),
		"long line":       "/F 20 Tf 10 50 Td " + strings.Repeat("("+strings.Repeat("x", 1000)+") Tj\n", 400),
		"many long lines": lines(strings.Repeat("\\376", 40), 20, 30),
	} {
		document := source{page: "/MediaBox [0 0 14400 14400] " + helvetica, content: "BT /F 1 Tf " + content + " ET"}.bytes()
		lines, size := linesOf(t, r, document), 0
		for _, line := range lines {
			size += len(line.Text)
			if !utf8.ValidString(line.Text) || math.IsNaN(line.Width) {
				t.Fatalf("%s: got %q at %v", name, line.Text, line.Rect)
			}
		}
		if len(lines) == 0 || len(lines) > 5000 || size < 1000 || size > 200<<10 {
			t.Errorf("%s: got %d lines of %d bytes, want at most 5,000 of 1,000 bytes to 200 KiB", name, len(lines), size)
		}
	}
}

// TestLinesErrors checks the errors of Lines, and that the next page is read.
func TestLinesErrors(t *testing.T) {
	r := shared(t)
	canceled, cancel := context.WithCancel(t.Context())
	cancel()
	anyError := errors.New("any error")
	for _, test := range []struct {
		name     string
		ctx      context.Context
		document []byte
		page     int
		want     error
	}{
		{"empty file", t.Context(), nil, 1, anyError},
		{"not a PDF", t.Context(), []byte("hello"), 1, stamp.ErrUnreadable},
		{"page 2 of a document of 1", t.Context(), textPage(), 2, stamp.ErrNoPage},
		{"context ended", canceled, textPage(), 1, context.Canceled},
		{"good", t.Context(), textPage(), 1, nil},
	} {
		lines, err := r.Lines(test.ctx, bytes.NewReader(test.document), int64(len(test.document)), test.page)
		expected := errors.Is(err, test.want) || test.want == anyError && err != nil
		if !expected || (lines == nil) != (err != nil) {
			t.Errorf("%s: got %d lines, error %v, want error %v", test.name, len(lines), err, test.want)
		}
	}
}

// TestLinesLikePdftotext checks that Lines and Poppler's pdftotext read the same letters from foreign
// files. Their order, spaces, and fonts that do not state what their letters are, may differ.
func TestLinesLikePdftotext(t *testing.T) {
	r, program := shared(t), testenv.Program(t, "pdftotext")
	alike, compared := 0, 0
	for i, f := range testenv.Expected(t, "pdf") {
		if i%12 != 0 || f.Says["encrypted"] == "yes" || f.Says["mutool_info"] != "0" {
			continue
		}
		out, err := exec.CommandContext(t.Context(), program, "-l", "1", f.Path, "-").Output()
		if failed := new(exec.ExitError); err != nil && !errors.As(err, &failed) {
			t.Fatal(err)
		}
		theirs, document := letters(string(out)), testenv.ReadFile(t, f.Path)
		if len(theirs) < 10 || len(document) > 1<<20 {
			continue
		}
		compared++
		ours := letters(strings.Join(texts(linesOf(t, r, document)), ""))
		common, all := 0, 0
		for c, n := range theirs {
			common += min(n, ours[c])
			all += n
		}
		for _, n := range ours {
			all += n
		}
		if share := float64(2*common) / float64(all); share >= 0.95 {
			alike++
		} else {
			t.Logf("%s: %.2f of the letters are common", f.Name, share)
		}
	}
	t.Logf("figure: the text of %d pages is that of pdftotext on %d", compared, alike)
	if compared < 20 || alike < compared*9/10 {
		t.Errorf("of %d pages, %d have the text that pdftotext reads, want 20 pages and 90 %%", compared, alike)
	}
}

// letters counts the letters and digits of a text.
func letters(text string) map[rune]int {
	count := make(map[rune]int)
	for _, c := range norm.NFKC.String(text) {
		if unicode.IsLetter(c) || unicode.IsDigit(c) {
			count[c]++
		}
	}
	return count
}

// linesOf reads the text of a document's first page.
func linesOf(t testing.TB, r *pdfium.Renderer, document []byte) []stamp.Line {
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

// BenchmarkLines reads the text of a page of 4,000 characters.
func BenchmarkLines(b *testing.B) {
	r, document := shared(b), textPage()
	for b.Loop() {
		linesOf(b, r, document)
	}
}
