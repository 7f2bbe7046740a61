package stamp

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/image/font/sfnt"
)

func TestCIDSet(t *testing.T) {
	for n, want := range map[int]string{1: "80", 2: "c0", 7: "fe", 8: "ff", 9: "ff80", 16: "ffff", 20: "fffff0"} {
		if got := fmt.Sprintf("%x", cidSet(n)); got != want {
			t.Errorf("%d CIDs: got %s, want %s", n, got, want)
		}
	}
}

func TestToUnicode(t *testing.T) {
	var all line
	for i := range 150 {
		all.glyphs = append(all.glyphs, glyph{symbol: symbol{char: rune(0x1f600 + i), id: sfnt.GlyphIndex(i)}})
	}
	cmap := newCodes([]line{all}, regular).toUnicode()
	var counts []string
	for part := range bytes.SplitSeq(cmap, []byte("\n")) {
		if bytes.HasSuffix(part, []byte(" beginbfchar")) {
			counts = append(counts, string(part))
		}
	}
	if diff := cmp.Diff([]string{"100 beginbfchar", "50 beginbfchar"}, counts); diff != "" {
		t.Error(diff)
	}
	for _, want := range []string{"<0001> <d83dde00>\n", "<0096> <d83dde95>\n"} {
		if !bytes.Contains(cmap, []byte(want)) {
			t.Errorf("no %q in\n%s", want, cmap)
		}
	}
}

// Characters that the font lacks look the same, and are different when they are copied.
func TestLackingCharactersHaveCodes(t *testing.T) {
	lines := layOut(t, Text{Name: "北京北"})
	c := newCodes(lines, semiBold)
	want := []symbol{{char: '京', advance: c.symbols[0].advance}, {char: '北', advance: c.symbols[0].advance}}
	if diff := cmp.Diff(want, c.symbols, cmp.AllowUnexported(symbol{})); diff != "" {
		t.Error(diff)
	}
	for s, number := range c.numbers {
		if number == 0 {
			t.Errorf("%c has the number of .notdef", s.char)
		}
	}
}
