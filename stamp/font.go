package stamp

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"embed"
	"fmt"
	"image"
	"maps"
	"math/bits"
	"slices"
	"sync"
	"unicode"
	"unicode/utf16"

	"golang.org/x/image/font"
	"golang.org/x/image/font/sfnt"
	"golang.org/x/image/math/fixed"

	"github.com/innsigli/innsigli/stamp/internal/truetype"
)

// The font is Noto Sans, version 2.004, as its makers released it; fonts/OFL.txt is its licence.
//
//go:embed fonts
var fontFiles embed.FS

// weight is the weight of a face of the standard stamp.
type weight int

const (
	regular weight = iota
	semiBold
)

// faceFiles are the PostScript names of the faces, by weight.
var faceFiles = [...]string{regular: "NotoSans-SemiCondensed", semiBold: "NotoSans-SemiCondensedSemiBold"}

// em is the size of the font in the unit of all lengths of a face.
const em = 1000

// face is a font in one weight. Several goroutines may use it at once.
type face struct {
	name     string
	metrics  *sfnt.Font
	outlines *truetype.Font

	xHeight, capHeight, ascent, descent int // descent is negative
}

// faces are the faces of the standard stamp, by weight.
type faces [len(faceFiles)]*face

// readFaces reads the faces once, when the first stamp is drawn.
var readFaces = sync.OnceValues(func() (*faces, error) {
	var faces faces
	for i, name := range faceFiles {
		var err error
		if faces[i], err = readFace(name); err != nil {
			return nil, fmt.Errorf("font %s: %w", name, err)
		}
	}
	return &faces, nil
})

func readFace(name string) (*face, error) {
	file, err := fontFiles.ReadFile("fonts/" + name + ".ttf")
	if err != nil {
		return nil, err
	}
	f := &face{name: name}
	if f.metrics, err = sfnt.Parse(file); err != nil {
		return nil, err
	}
	if f.outlines, err = truetype.Parse(file); err != nil {
		return nil, err
	}
	m, err := f.metrics.Metrics(nil, fixed.I(em), font.HintingNone)
	f.xHeight, f.capHeight = m.XHeight.Round(), m.CapHeight.Round()
	f.ascent, f.descent = m.Ascent.Round(), -m.Descent.Round()
	return f, err
}

// glyph is a symbol and its position, in thousandths of the font's size.
type glyph struct {
	symbol
	x, y int // from the start of the line, and above its baseline
}

// symbol is a character and the glyph that is drawn for it. If the font lacks the character, that
// is glyph 0, a box.
type symbol struct {
	char    rune
	id      sfnt.GlyphIndex
	advance int
}

// symbol returns the symbol of a character. It ignores errors, which only a damaged font would
// cause.
func (f *face) symbol(char rune) symbol {
	var b sfnt.Buffer
	id, _ := f.metrics.GlyphIndex(&b, char)
	advance, _ := f.metrics.GlyphAdvance(&b, id, fixed.I(em), font.HintingNone)
	return symbol{char, id, advance.Round()}
}

// isMark reports whether the character is a combining mark and the font has a glyph of width 0 for
// it.
func (s symbol) isMark() bool { return s.id != 0 && s.advance == 0 && unicode.Is(unicode.M, s.char) }

// kern returns the kerning between two symbols.
func (f *face) kern(a, b symbol) int {
	if a.id == 0 || b.id == 0 {
		return 0
	}
	kern, err := f.metrics.Kern(nil, a.id, b.id, fixed.I(em), font.HintingNone)
	if err != nil {
		return 0 // no kerning
	}
	return kern.Round()
}

// ink returns the bounding box of a symbol, with y upwards. It is empty for a space.
func (f *face) ink(s symbol) image.Rectangle {
	bounds, _, _ := f.metrics.GlyphBounds(nil, s.id, fixed.I(em), font.HintingNone)
	return image.Rect(bounds.Min.X.Floor(), -bounds.Max.Y.Ceil(), bounds.Max.X.Ceil(), -bounds.Min.Y.Floor())
}

// shape returns the glyphs of a line and its width. It kerns the characters, and places combining
// marks above or below the preceding letter.
func (f *face) shape(text string) (glyphs []glyph, width int) {
	base := -1                 // index of the letter that carries the next marks
	var letter image.Rectangle // its ink, once it has one
	for _, char := range text {
		s := f.symbol(char)
		if s.isMark() && base >= 0 {
			if base == len(glyphs)-1 {
				letter = f.baseInk(glyphs[base])
			}
			ink := f.ink(s)
			if f.isAbove(ink) {
				glyphs[base].symbol = f.dotless(glyphs[base].symbol)
			}
			at := f.placeMark(&letter, ink)
			glyphs = append(glyphs, glyph{s, at.X, at.Y})
			continue
		}
		if base >= 0 {
			width += f.kern(glyphs[base].symbol, s)
		}
		base = len(glyphs)
		glyphs = append(glyphs, glyph{s, width, 0})
		width += s.advance
	}
	return glyphs, width
}

// How far marks go from the baseline, in thousandths of the font's size. The stamp has room for
// that over its first line and below its last.
const (
	highestMark = 1150
	lowestMark  = -400
)

// placeMark returns where to draw a combining mark on a letter, and extends the letter's ink by it.
// Marks are made for lowercase letters. A mark above a letter rises by as much as the letter is
// higher than a lowercase one. A mark below sinks as far as the letter's ink goes below the
// baseline. Other marks stay at the baseline. Marks never leave the line, however many there are.
func (f *face) placeMark(letter *image.Rectangle, mark image.Rectangle) image.Point {
	at := image.Pt((letter.Min.X+letter.Max.X-mark.Min.X-mark.Max.X)/2, 0)
	switch {
	case f.isAbove(mark):
		at.Y = max(0, min(letter.Max.Y-f.xHeight, highestMark-mark.Max.Y))
		letter.Max.Y = max(letter.Max.Y, mark.Max.Y+at.Y)
	case mark.Max.Y < f.xHeight/4:
		at.Y = min(0, max(letter.Min.Y, lowestMark-mark.Min.Y))
		letter.Min.Y = min(letter.Min.Y, mark.Min.Y+at.Y)
	}
	return at
}

func (f *face) isAbove(mark image.Rectangle) bool { return mark.Min.Y > f.xHeight/2 }

// baseInk returns the box on which a letter's marks are placed. The box of a space has no height.
func (f *face) baseInk(letter glyph) image.Rectangle {
	ink := f.ink(f.dotless(letter.symbol))
	if ink.Empty() {
		ink = image.Rect(0, 0, letter.advance, 0)
	}
	return ink.Add(image.Pt(letter.x, 0))
}

// dotless returns an i or j without its dot, as it is drawn below a mark (Unicode 7.1, Diacritics
// on i and j). The symbol still stands for the same character.
func (f *face) dotless(s symbol) symbol {
	switch s.char {
	case 'i':
		s.id = f.symbol('ı').id
	case 'j':
		s.id = f.symbol('ȷ').id
	}
	return s
}

// codes are the numbers by which a page's content refers to the symbols of a face. A number is the
// character code, the CID and the glyph of the subset. Number 0 is not used, since PDF/A-2 (ISO
// 19005-2 6.2.11.8) forbids drawing .notdef.
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

// embed adds a composite font (ISO 32000-2 9.7) with the symbols of a face, and returns its object
// number.
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

// subsetTag returns the tag of a font subset (ISO 32000-2 9.9.2): six letters from the hash of the
// font program, so different subsets get different tags.
func subsetTag(program []byte) string {
	sum := sha256.Sum256(program)
	tag := sum[:6]
	for i := range tag {
		tag[i] = 'A' + tag[i]%26
	}
	return string(tag)
}

// cidSet returns a bit for each of the first n CIDs, the highest bit first (ISO 32000-2 table 122).
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

// toUnicode returns the CMap by which programs copy text (ISO 32000-2 9.10.3).
func (c codes) toUnicode() []byte {
	var b bytes.Buffer
	b.WriteString("/CIDInit /ProcSet findresource begin\n12 dict begin\nbegincmap\n" +
		"/CIDSystemInfo << /Registry (Adobe) /Ordering (UCS) /Supplement 0 >> def\n" +
		"/CMapName /Adobe-Identity-UCS def\n/CMapType 2 def\n" +
		"1 begincodespacerange\n<0000> <ffff>\nendcodespacerange\n")
	number := 1
	for some := range slices.Chunk(c.symbols, 100) { // the maximum for one block of a CMap
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
