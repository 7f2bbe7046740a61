package stamp

import (
	"bytes"
	"fmt"
	"math"
	"strconv"
)

// Colours are calibrated (ISO 32000-2 8.6.5), which PDF/A allows with any output intent and
// without one: sRGB for the bar, black for the text, so that it is printed without a raster.
const (
	barColour  = "/Bar cs 0.06 0.30 0.46 sc"
	textColour = "/Ink cs 0 sc"
	palette    = "/ColorSpace << " +
		"/Bar [/CalRGB << /WhitePoint [0.9505 1 1.089] /Gamma [2.2 2.2 2.2] /Matrix [0.4124 0.2126 0.0193 0.3576 0.7152 0.1192 0.1805 0.0722 0.9505] >>] " +
		"/Ink [/CalGray << /WhitePoint [0.9505 1 1.089] /Gamma 2.2 >>] >>"
)

// The bar left of the text, in points.
const (
	barLeft  = 1.
	barWidth = 2.
	barInset = 1. // from the upper and the lower edge
)

// draw makes the page of lines.
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

// draw writes a line with the operators of ISO 32000-2 9.4: its glyphs by their codes, and
// where the next is not where the last ends, how much further left it is.
func (l line) draw(content *bytes.Buffer, codes codes) {
	fmt.Fprintf(content, "%s BT /F%d %g Tf 1 0 0 1 %g %s Tm", textColour, l.weight, l.size, l.x, number(l.y))
	end, rise := 0, 0
	for i, g := range l.glyphs {
		if i == 0 || g.y != rise {
			if i > 0 {
				content.WriteString("] TJ")
			}
			rise = g.y
			fmt.Fprintf(content, " %s Ts [", number(float64(rise)*l.size/em))
		}
		if g.x != end {
			fmt.Fprintf(content, "%d", end-g.x)
		}
		fmt.Fprintf(content, "<%04x>", codes.numbers[g.symbol])
		end = g.x + g.advance
	}
	content.WriteString("] TJ ET\n")
}

// number writes a length to the thousandth of a point.
func number(f float64) string {
	return strconv.FormatFloat(math.Round(f*1000)/1000, 'f', -1, 64)
}
