package stamp

import (
	"strings"
	"unicode"
)

// measured is a text in one face, to be divided into lines.
type measured struct {
	chars []rune
	ends  []int // where each character ends, in thousandths of the font's size
}

func (f *face) measure(text string) measured {
	glyphs, _ := f.shape(text)
	m := measured{chars: []rune(text)}
	end := 0
	for _, g := range glyphs {
		if !g.isMark() {
			end = g.x + g.advance
		}
		m.ends = append(m.ends, end)
	}
	return m
}

// words divides the text between words into lines of at most a width, and reports false when
// that takes more lines than most or when a word is wider.
func (m measured) words(width, most int) (lines []string, ok bool) {
	for start := 0; start < len(m.chars); {
		end, _ := m.lineEnds(start, width)
		if end == start || len(lines) == most {
			return nil, false
		}
		lines = append(lines, m.line(start, end))
		start = end
	}
	return lines, true
}

// letters also divides words, where a line would be less than half full otherwise.
func (m measured) letters(width, most int) (lines []string, ok bool) {
	lines, end := m.fill(width, most)
	return lines, end == len(m.chars)
}

// cut divides the text as letters does. The last line ends in an ellipsis instead of what
// there is no room for; dots is how wide that is.
func (m measured) cut(width, most, dots int) []string {
	lines, start := m.fill(width, most-1)
	_, end := m.lineEnds(start, width-dots)
	return append(lines, m.line(start, end)+ellipsis)
}

// fill fills at most a number of lines, and returns where the rest of the text starts.
func (m measured) fill(width, most int) (lines []string, start int) {
	for start < len(m.chars) && len(lines) < most {
		words, end := m.lineEnds(start, width)
		if m.width(start, words) >= width/2 {
			end = words
		}
		end = max(end, start+1)
		lines = append(lines, m.line(start, end))
		start = end
	}
	return lines, start
}

// lineEnds returns how far a line can go that begins at start: with whole words, and with
// whole characters. Words end at spaces and after hyphens; marks stay with their letters.
func (m measured) lineEnds(start, width int) (words, chars int) {
	words, chars = start, start
	for end := start + 1; end <= len(m.chars); end++ {
		last := m.chars[end-1]
		if last != ' ' && m.width(start, end) > width {
			return words, chars
		}
		if end == len(m.chars) {
			return end, end
		}
		if unicode.Is(unicode.M, m.chars[end]) {
			continue
		}
		chars = end
		if last == ' ' || last == '-' {
			words = end
		}
	}
	return words, chars
}

func (m measured) width(start, end int) int {
	if start == end {
		return 0
	}
	if start == 0 {
		return m.ends[end-1]
	}
	return m.ends[end-1] - m.ends[start-1]
}

func (m measured) line(start, end int) string {
	return strings.Trim(string(m.chars[start:end]), " ")
}
