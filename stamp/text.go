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

// maxText bounds the bytes of a text that are used: more than fit on any line.
const maxText = 1 << 10

const ellipsis = "…"

// displayText returns a text as it is shown: in form NFC, with single spaces, and without invisible
// characters.
func displayText(s string) string {
	if len(s) > maxText {
		s = s[:charStart(s, maxText)] + ellipsis
	}
	s = strings.Map(displayRune, strings.ToValidUTF8(s, string(utf8.RuneError)))
	s = norm.NFC.String(s)
	s = strings.ReplaceAll(s, "\u034f", "") // NFC inserts it into long sequences of marks
	s = strings.Join(strings.Fields(s), " ")
	if first, _ := utf8.DecodeRuneInString(s); unicode.Is(unicode.M, first) {
		s = "\u00a0" + s // the base of an isolated mark (Unicode 7.9)
	}
	return s
}

// charStart returns the index at which the character begins that has the byte at i.
func charStart(s string, i int) int {
	for least := i - utf8.UTFMax; i > least && !utf8.RuneStart(s[i]); {
		i--
	}
	return i
}

// displayRune returns the replacement of a character, or -1 to leave it out.
func displayRune(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.In(r, unicode.Cc, unicode.Cf, unicode.Other_Default_Ignorable_Code_Point, unicode.Variation_Selector):
		return -1
	case unicode.In(r, unicode.Co, unicode.Noncharacter_Code_Point): // without a defined meaning
		return utf8.RuneError
	}
	return r
}

// formatKennitala returns a kennitala as it is written in Iceland.
func formatKennitala(s string) string {
	s = displayText(s)
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

// formatTime returns a time as it is written in Iceland, where the time is UTC all year.
func formatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format("2.1.2006 kl. 15:04:05")
}

// visualOrder returns a line in the order in which it is drawn, from left to right: it reverses
// sequences of right-to-left script (Unicode Annex 9, for a left-to-right line, without the rules
// for numbers and mirrored characters). Programs that copy the text reverse them again.
func visualOrder(line string) string {
	chars := []rune(line)
	for rest := chars; len(rest) > 0; {
		n := rightToLeftPrefix(rest)
		slices.Reverse(rest[:n])
		rest = rest[max(n, 1):]
	}
	return string(chars)
}

// rightToLeftPrefix returns how many characters at the beginning of a line are right-to-left, with
// the neutral ones between them.
func rightToLeftPrefix(line []rune) int {
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

// direction returns the direction of a character. It is neutral if the character takes the
// direction of its neighbours.
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

// measured is a text with its width in one face, ready to be divided into lines.
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

// breakAtWords divides the text between words into lines of at most width. ok is false if that
// takes more than most lines or a word is wider than a line.
func (m measured) breakAtWords(width, most int) (lines []string, ok bool) {
	for start := 0; start < len(m.chars); {
		end, _ := m.lineBreaks(start, width)
		if end == start || len(lines) == most {
			return nil, false
		}
		lines = append(lines, m.line(start, end))
		start = end
	}
	return lines, true
}

// breakAtLetters is breakAtWords that also divides a word if the line would otherwise be less than
// half full.
func (m measured) breakAtLetters(width, most int) (lines []string, ok bool) {
	lines, end := m.fill(width, most)
	return lines, end == len(m.chars)
}

// truncate divides the text like breakAtLetters. It replaces what does not fit at the end of the
// last line with an ellipsis. dots is the width of the ellipsis.
func (m measured) truncate(width, most, dots int) []string {
	lines, start := m.fill(width, most-1)
	_, end := m.lineBreaks(start, width-dots)
	return append(lines, m.line(start, end)+ellipsis)
}

// fill fills at most most lines, and returns where the rest of the text starts.
func (m measured) fill(width, most int) (lines []string, start int) {
	for start < len(m.chars) && len(lines) < most {
		wordEnd, end := m.lineBreaks(start, width)
		if m.width(start, wordEnd) >= width/2 {
			end = wordEnd
		}
		end = max(end, start+1)
		lines = append(lines, m.line(start, end))
		start = end
	}
	return lines, start
}

// lineBreaks returns where a line that begins at start can end: after whole words, and after whole
// characters. Words end at spaces and after hyphens. Marks stay with their letters.
func (m measured) lineBreaks(start, width int) (wordEnd, charEnd int) {
	wordEnd, charEnd = start, start
	for end := start + 1; end <= len(m.chars); end++ {
		last := m.chars[end-1]
		if last != ' ' && m.width(start, end) > width {
			return wordEnd, charEnd
		}
		if end == len(m.chars) {
			return end, end
		}
		if unicode.Is(unicode.M, m.chars[end]) {
			continue
		}
		charEnd = end
		if last == ' ' || last == '-' {
			wordEnd = end
		}
	}
	return wordEnd, charEnd
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
