package stamp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"fmt"
	"maps"
	"math/bits"
	"slices"
	"unicode/utf16"

	"golang.org/x/image/font"
	"golang.org/x/image/math/fixed"
)

// codes are the numbers that a page's content has for the symbols of a face. A number is both
// code and CID and glyph of the subset; 0 is nobody's, since PDF/A-2 (ISO 19005-2 6.2.11.8)
// forbids to draw .notdef.
type codes struct {
	symbols []symbol // by number, from 1
	numbers map[symbol]int
}

func newCodes(lines []line, w weight) codes {
	c := codes{numbers: make(map[symbol]int)}
	for _, l := range lines {
		for _, g := range l.glyphs {
			if l.weight == w {
				c.numbers[g.symbol] = 0
			}
		}
	}
	c.symbols = slices.SortedFunc(maps.Keys(c.numbers), func(a, b symbol) int {
		return cmp.Or(cmp.Compare(a.char, b.char), cmp.Compare(a.id, b.id))
	})
	for i, s := range c.symbols {
		c.numbers[s] = i + 1
	}
	return c
}

// embed adds the font of a face's symbols, a composite one (ISO 32000-2 9.7), and returns its number.
func (f *face) embed(page *onePage, c codes) (int, error) {
	glyphs := []uint16{0}
	for _, s := range c.symbols {
		glyphs = append(glyphs, uint16(s.id))
	}
	subset, err := f.outlines.Subset(glyphs)
	if err != nil {
		return 0, err
	}
	name := subsetTag(subset.File) + "+" + f.name
	file := page.addStream(fmt.Sprintf("/Length1 %d", len(subset.File)), subset.File)
	present := page.addEncoded("", cidSet(subset.Glyphs))
	descriptor := page.add(f.descriptor(name, file, present))
	descendant := page.add(fmt.Appendf(nil, "<< /Type /Font /Subtype /CIDFontType2 /BaseFont /%s /CIDSystemInfo "+
		"<< /Registry (Adobe) /Ordering (Identity) /Supplement 0 >> /FontDescriptor %d 0 R /CIDToGIDMap /Identity /DW %d /W [1 [%s]] >>",
		name, descriptor, f.symbol(0).advance, c.widths()))
	unicodes := page.addStream("", c.toUnicode())
	return page.add(fmt.Appendf(nil, "<< /Type /Font /Subtype /Type0 /BaseFont /%s /Encoding /Identity-H /DescendantFonts [%d 0 R] /ToUnicode %d 0 R >>",
		name, descendant, unicodes)), nil
}

func (f *face) descriptor(name string, file, cidSet int) []byte {
	const symbolic = 4
	box, _ := f.metrics.Bounds(nil, fixed.I(em), font.HintingNone)
	stem := f.ink(f.symbol('l')).Dx()
	return fmt.Appendf(nil, "<< /Type /FontDescriptor /FontName /%s /Flags %d /FontBBox [%d %d %d %d] /ItalicAngle 0 "+
		"/Ascent %d /Descent %d /CapHeight %d /StemV %d /FontFile2 %d 0 R /CIDSet %d 0 R >>",
		name, symbolic, box.Min.X.Floor(), -box.Max.Y.Ceil(), box.Max.X.Ceil(), -box.Min.Y.Floor(),
		f.ascent, f.descent, f.capHeight, stem, file, cidSet)
}

// subsetTag is the tag of a font program (ISO 32000-2 9.9.2): six letters that no other
// has, as far as can be.
func subsetTag(program []byte) string {
	sum := sha256.Sum256(program)
	tag := sum[:6]
	for i := range tag {
		tag[i] = 'A' + tag[i]%26
	}
	return string(tag)
}

// cidSet has a bit for each of the first n CIDs, the highest bit first (ISO 32000-2 table 122).
func cidSet(n int) []byte {
	set := bytes.Repeat([]byte{0xff}, (n+7)/8)
	set[len(set)-1] = bits.Reverse8(uint8(1<<((n-1)%8+1) - 1))
	return set
}

func (c codes) widths() []byte {
	var b bytes.Buffer
	for _, s := range c.symbols {
		fmt.Fprintf(&b, "%d ", s.advance)
	}
	return b.Bytes()
}

// toUnicode is the CMap that programs copy text by (ISO 32000-2 9.10.3).
func (c codes) toUnicode() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n")
	number := 1
	for some := range slices.Chunk(c.symbols, 100) { // the most that a CMap may have at once
		fmt.Fprintf(&b, "%d beginbfchar\n", len(some))
		for _, s := range some {
			fmt.Fprintf(&b, "<%04x> <%s>\n", number, utf16Hex(s.char))
			number++
		}
		b.WriteString("endbfchar\n")
	}
	b.WriteString("endcmap\nCMapName currentdict /CMap defineresource pop\nend\nend\n")
	return b.Bytes()
}

func utf16Hex(char rune) string {
	hex := ""
	for _, unit := range utf16.AppendRune(nil, char) {
		hex += fmt.Sprintf("%04x", unit)
	}
	return hex
}
