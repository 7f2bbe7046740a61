package pdfium_test

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"
	"unicode"

	"golang.org/x/text/unicode/norm"

	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// What is read of a page is what Poppler's pdftotext reads, but for the order, the spaces, and fonts
// that do not say what their letters are.
func TestLinesAsPdftotext(t *testing.T) {
	r := shared(t)
	alike, compared := 0, 0
	for i, f := range testenv.Expected(t, "pdf") {
		if i%12 != 0 || f.Says["encrypted"] == "yes" || f.Says["mutool_info"] != "0" {
			continue
		}
		theirs := letters(pdftotext(t, f.Path))
		document, err := os.ReadFile(f.Path)
		if err != nil {
			t.Fatal(err)
		}
		if len(theirs) < 10 || len(document) > 1<<20 {
			continue
		}
		var ours strings.Builder
		for _, line := range written(t, r, document) {
			ours.WriteString(line.Text)
		}
		compared++
		if likeness := likenessOf(letters(ours.String()), theirs); likeness >= 0.95 {
			alike++
		} else {
			t.Logf("%s: %.2f", f.Name, likeness)
		}
	}
	t.Logf("figure: the text of %d pages is that of pdftotext on %d", compared, alike)
	if compared < 20 || alike < compared*9/10 {
		t.Errorf("of %d pages, %d have the text that pdftotext reads", compared, alike)
	}
}

// pdftotext reads the first page of a file. What it cannot read is no text.
func pdftotext(t *testing.T, path string) string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), testenv.Program(t, "pdftotext"), "-l", "1", path, "-").Output()
	var failed *exec.ExitError
	if err != nil && !errors.As(err, &failed) {
		t.Fatal(err)
	}
	return string(out)
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

// likenessOf is the share of the letters of either that are in both.
func likenessOf(a, b map[rune]int) float64 {
	both, all := 0, 0
	for c, n := range a {
		both += min(n, b[c])
		all += n
	}
	for _, n := range b {
		all += n
	}
	return float64(2*both) / float64(max(all, 1))
}
