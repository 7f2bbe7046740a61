package stamp

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
	"time"
)

// Text is the text of the standard stamp. Empty fields are left out.
//
// Text is shown in Unicode's form NFC, with single spaces and without invisible characters. Text
// that is too long for its place ends in "…". The font has Latin, Greek and Cyrillic. It shows
// another character as a box, but programs that copy the text get the character.
type Text struct {
	Name      string    // of the signer, from the certificate
	Kennitala string    // shown after "Kt.", as ddmmyy-nnnn when it has 10 digits
	Time      time.Time // of signing; shown in UTC, as in Iceland: "22.11.2026 kl. 14:32:07"
	Reason    string
}

// Standard draws the standard stamp, a page of [StandardSize] without a background. The same text
// always gives the same bytes. The page contains nothing that PDF/A-1 to PDF/A-4 (ISO 19005) or
// PDF/UA (ISO 14289) forbid.
func Standard(t Text) ([]byte, error) {
	faces, err := readFaces()
	if err != nil {
		return nil, fmt.Errorf("stamp: %w", err)
	}
	return faces.draw(faces.layOut(t))
}

// line is a line of the standard stamp. Lengths are in points, from the lower left corner.
type line struct {
	text   string
	weight weight
	size   float64
	x, y   float64 // where its baseline begins
	glyphs []glyph
}

// Layout of the standard stamp, in points.
const (
	textLeft   = 8.
	textWidth  = 105.
	textHeight = 47.5 // from the top of the first line's capitals to the last baseline
)

// layoutOption is a number of lines and a font size for a paragraph.
type layoutOption struct {
	lines int
	size  float64
}

// paragraph is one field of the text. It is set by the first option into which it fits without
// dividing words, else by the first into which it fits with divided words. If it fits into none, it
// is truncated by the last option.
type paragraph struct {
	text    string
	weight  weight
	options []layoutOption
}

func paragraphs(t Text) []paragraph {
	name := []layoutOption{{1, 11}, {1, 10.5}, {1, 10}, {1, 9.5}, {1, 9}, {1, 8.5}, {1, 8}, {2, 8}, {2, 7.5}, {2, 7}, {2, 6.5}, {2, 6}}
	detail := []layoutOption{{1, 7.5}, {1, 7}, {1, 6.5}, {1, 6}}
	reason := []layoutOption{{1, 7.5}, {1, 7}, {1, 6.5}, {2, 6.5}, {2, 6}}
	return []paragraph{
		{displayText(t.Name), semiBold, name},
		{formatKennitala(t.Kennitala), regular, detail},
		{formatTime(t.Time), regular, detail},
		{displayText(t.Reason), regular, reason},
	}
}

// layOut sets the text in lines, as large as fits, and centres them vertically.
func (faces *faces) layOut(t Text) []line {
	var lines []line
	text := paragraphs(t)
	for _, most := range []float64{11, 7.5, 7, 6.5, 6} {
		lines = faces.set(text, most)
		if height(lines) <= textHeight {
			break
		}
	}
	lift := (StandardSize.Height + height(lines)) / 2
	for i := range lines {
		lines[i].y += lift
	}
	return lines
}

// set sets paragraphs from the top down. The capitals of the first line begin at 0. The font size
// never exceeds most and never grows from one paragraph to the next.
func (faces *faces) set(paragraphs []paragraph, most float64) []line {
	var lines []line
	for _, p := range paragraphs {
		f := faces[p.weight]
		texts, size := p.set(f, most)
		for _, text := range texts {
			glyphs, _ := f.shape(visualOrder(text))
			l := line{text, p.weight, size, textLeft, -size * float64(f.capHeight) / em, glyphs}
			if len(lines) > 0 {
				l.y = lines[len(lines)-1].nextBaseline(p.weight, size)
			}
			lines = append(lines, l)
			most = size
		}
	}
	return lines
}

// nextBaseline returns the baseline of the next line. It adds space after the name.
func (l line) nextBaseline(w weight, size float64) float64 {
	if w != l.weight {
		return l.y - 1.2*size - 1.5
	}
	return l.y - 1.2*(l.size+size)/2
}

// height returns the height of lines that were set from 0 downwards.
func height(lines []line) float64 {
	if len(lines) == 0 {
		return 0
	}
	return -lines[len(lines)-1].y
}

// set divides a paragraph into lines, and returns them and their font size.
func (p paragraph) set(f *face, most float64) ([]string, float64) {
	m := f.measure(p.text)
	var last layoutOption
	for _, divide := range []func(width, most int) ([]string, bool){m.breakAtWords, m.breakAtLetters} {
		for _, last = range p.options {
			if last.size > most {
				continue
			}
			if lines, ok := divide(last.width(), last.lines); ok {
				return lines, last.size
			}
		}
	}
	_, dots := f.shape(ellipsis)
	return m.truncate(last.width(), last.lines, dots), last.size
}

// width returns the width of a line in thousandths of the font's size.
func (a layoutOption) width() int { return int(textWidth * em / a.size) }

// Colours are calibrated (ISO 32000-2 8.6.5), which PDF/A allows with any output intent and without
// one: sRGB for the bar, black for the text, so that it is printed without a raster.
const (
	barColour  = "/Bar cs 0.06 0.30 0.46 sc"
	textColour = "/Ink cs 0 sc"
	palette    = "/ColorSpace << " +
		"/Bar [/CalRGB << /WhitePoint [0.9505 1 1.089] /Gamma [2.2 2.2 2.2] /Matrix [0.4124 0.2126 0.0193 0.3576 0.7152 0.1192 0.1805 0.0722 0.9505] >>] " +
		"/Ink [/CalGray << /WhitePoint [0.9505 1 1.089] /Gamma 2.2 >>] >>"
)

// The bar to the left of the text, in points.
const (
	barLeft  = 1.
	barWidth = 2.
	barInset = 1. // from the upper and the lower edge
)

// draw returns the page with the lines.
func (faces *faces) draw(lines []line) ([]byte, error) {
	var page onePage
	var fonts bytes.Buffer
	codes := make([]codes, len(faces))
	for i, f := range faces {
		codes[i] = newCodes(lines, weight(i))
		if len(codes[i].symbols) == 0 {
			continue
		}
		object, err := f.embed(&page, codes[i])
		if err != nil {
			return nil, fmt.Errorf("stamp: font %s: %w", f.name, err)
		}
		fmt.Fprintf(&fonts, "/F%d %d 0 R ", i, object)
	}
	var content bytes.Buffer
	fmt.Fprintf(&content, "%s %g %g %g %g re f\n", barColour, barLeft, barInset, barWidth, StandardSize.Height-2*barInset)
	for _, l := range lines {
		l.draw(&content, codes[l.weight])
	}
	resources := fmt.Sprintf("<< /Font << %s>> %s >>", fonts.Bytes(), palette)
	return page.bytes(StandardSize, resources, content.Bytes()), nil
}

// draw writes a line with the operators of ISO 32000-2 9.4: its glyphs by their codes. If a glyph
// does not begin where the one before ends, draw writes the distance to the left before it.
func (l line) draw(content *bytes.Buffer, codes codes) {
	fmt.Fprintf(content, "%s BT /F%d %g Tf 1 0 0 1 %g %s Tm", textColour, l.weight, l.size, l.x, formatLength(l.y))
	end, rise := 0, 0
	for i, g := range l.glyphs {
		if i == 0 || g.y != rise {
			if i > 0 {
				content.WriteString("] TJ")
			}
			rise = g.y
			fmt.Fprintf(content, " %s Ts [", formatLength(float64(rise)*l.size/em))
		}
		if g.x != end {
			fmt.Fprintf(content, "%d", end-g.x)
		}
		fmt.Fprintf(content, "<%04x>", codes.numbers[g.symbol])
		end = g.x + g.advance
	}
	content.WriteString("] TJ ET\n")
}

// formatLength writes a length to a thousandth of a point.
func formatLength(f float64) string {
	return strconv.FormatFloat(math.Round(f*1000)/1000, 'f', -1, 64)
}
