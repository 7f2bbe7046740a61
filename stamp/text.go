package stamp

import (
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/unicode/bidi"
	"golang.org/x/text/unicode/norm"
)

// maxText is how many bytes of a text are looked at: more than fit on any line.
const maxText = 1 << 10

const ellipsis = "…"

// readable returns a text as it is shown: in form NFC, with single spaces, and without what
// is invisible.
func readable(s string) string {
	if len(s) > maxText {
		s = s[:charStart(s, maxText)] + ellipsis
	}
	s = strings.Map(shown, strings.ToValidUTF8(s, string(utf8.RuneError)))
	s = norm.NFC.String(s)
	s = strings.ReplaceAll(s, "\u034f", "") // which NFC puts into long rows of marks
	s = strings.Join(strings.Fields(s), " ")
	if first, _ := utf8.DecodeRuneInString(s); unicode.Is(unicode.M, first) {
		s = "\u00a0" + s // what a mark alone is shown on (Unicode 7.9)
	}
	return s
}

// charStart returns where the character begins that has the byte at i.
func charStart(s string, i int) int {
	for least := i - utf8.UTFMax; i > least && !utf8.RuneStart(s[i]); {
		i--
	}
	return i
}

// shown is what a character is replaced with; below 0: left out.
func shown(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case unicode.In(r, unicode.Co, unicode.Noncharacter_Code_Point): // of no meaning to a reader elsewhere
		return utf8.RuneError
	}
	return r
}

// kennitala returns a kennitala as it is written in Iceland.
func kennitala(s string) string {
	s = readable(s)
	if s == "" {
		return ""
	}
	if digits := strings.ReplaceAll(s, "-", ""); isKennitala(digits) {
		s = digits[:6] + "-" + digits[6:]
	}
	return "Kt. " + s
}

func isKennitala(s string) bool {
	return len(s) == 10 && strings.Trim(s, "0123456789") == ""
}

// clock returns a time as it is written in Iceland, whose time is UTC all year.
func clock(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2.1.2006 kl. 15:04:05")
}

// visual returns a line in the order in which it is drawn, from left to right: stretches of
// right-to-left script are turned around (Unicode Annex 9, for a line that goes from left
// to right, without its rules for numbers and mirrors). Programs that copy the text turn
// them back.
func visual(line string) string {
	chars := []rune(line)
	for rest := chars; len(rest) > 0; {
		n := rightToLeft(rest)
		slices.Reverse(rest[:n])
		rest = rest[max(n, 1):]
	}
	return string(chars)
}

// rightToLeft returns how many characters of right-to-left script, with what is neutral
// between them, a line begins with.
func rightToLeft(line []rune) int {
	n := 0
	for i, char := range line {
		switch direction := direction(char); {
		case direction == bidi.RightToLeft:
			n = i + 1
		case direction == bidi.LeftToRight, n == 0:
			return n
		}
	}
	return n
}

// direction is that of a character; neutral when it takes on that of its neighbours.
func direction(char rune) bidi.Direction {
	p, _ := bidi.LookupString(string(char))
	switch p.Class() {
	case bidi.L, bidi.EN, bidi.AN:
		return bidi.LeftToRight
	case bidi.R, bidi.AL:
		return bidi.RightToLeft
	}
	return bidi.Neutral
}

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
