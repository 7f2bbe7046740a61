package stamp

// line is a line of the standard stamp. Lengths are in points, from the lower left corner.
type line struct {
	text   string
	weight weight
	size   float64
	x, y   float64 // where its baseline begins
	glyphs []glyph
}

// The standard stamp's measures, in points.
const (
	textLeft   = 8.
	textWidth  = 105.
	textHeight = 47.5 // from the top of capitals to a baseline
)

// attempt is a number of lines and a size to try a text in.
type attempt struct {
	lines int
	size  float64
}

// paragraph is a text of its own. It is set in the first attempt that takes its words, else
// in the first that takes its letters, else as much as the last takes.
type paragraph struct {
	text     string
	weight   weight
	attempts []attempt
}

func paragraphs(t Text) []paragraph {
	name := []attempt{{1, 11}, {1, 10.5}, {1, 10}, {1, 9.5}, {1, 9}, {1, 8.5}, {1, 8}, {2, 8}, {2, 7.5}, {2, 7}, {2, 6.5}, {2, 6}}
	detail := []attempt{{1, 7.5}, {1, 7}, {1, 6.5}, {1, 6}}
	reason := []attempt{{1, 7.5}, {1, 7}, {1, 6.5}, {2, 6.5}, {2, 6}}
	return []paragraph{
		{readable(t.Name), semiBold, name},
		{kennitala(t.Kennitala), regular, detail},
		{clock(t.Time), regular, detail},
		{readable(t.Reason), regular, reason},
	}
}

// layOut sets the text in lines, centred between the upper and the lower edge, as large as fits.
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

// set sets paragraphs from the top down, the first line's capitals beginning at 0. None is larger
// than most, or than the one above it.
func (faces *faces) set(paragraphs []paragraph, most float64) []line {
	var lines []line
	for _, p := range paragraphs {
		f := faces[p.weight]
		texts, size := p.set(f, most)
		for _, text := range texts {
			glyphs, _ := f.shape(visual(text))
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

// nextBaseline returns where the next line goes. The name stands apart.
func (l line) nextBaseline(w weight, size float64) float64 {
	if w != l.weight {
		return l.y - 1.2*size - 1.5
	}
	return l.y - 1.2*(l.size+size)/2
}

// height is that of lines which were set from 0 down.
func height(lines []line) float64 {
	if len(lines) == 0 {
		return 0
	}
	return -lines[len(lines)-1].y
}

// set divides a paragraph into lines, and returns their size.
func (p paragraph) set(f *face, most float64) ([]string, float64) {
	m := f.measure(p.text)
	var last attempt
	for _, divide := range []func(width, most int) ([]string, bool){m.words, m.letters} {
		for _, last = range p.attempts {
			if last.size > most {
				continue
			}
			if lines, ok := divide(last.width(), last.lines); ok {
				return lines, last.size
			}
		}
	}
	_, dots := f.shape(ellipsis)
	return m.cut(last.width(), last.lines, dots), last.size
}

// width is how much there is on a line, in thousandths of the font's size.
func (a attempt) width() int { return int(textWidth * em / a.size) }
