package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/width"
)

// columns of a terminal, and where things stand in them.
const (
	columns = 80
	outer   = 2 // before the document's verdict and the heads of signatures
	inner   = 4 // before labels
	gap     = 2 // between the longest label and what stands beside it
)

// sheet is a text in lines of at most so many columns.
type sheet struct {
	strings.Builder
	labels int // columns of the longest label
}

// paragraph wraps a text at an indentation.
func (s *sheet) paragraph(indent int, text string) {
	for _, line := range wrapped(text, columns-indent) {
		s.line(strings.Repeat(" ", indent) + line)
	}
}

func (s *sheet) line(text string) { s.WriteString(strings.TrimRight(text, " ") + "\n") }

// row puts texts beside a label, each beginning a line of its own; nothing where there are none.
func (s *sheet) row(label string, texts ...string) {
	indent := inner + s.labels + gap
	for _, text := range texts {
		for _, line := range wrapped(text, columns-indent) {
			s.line(strings.Repeat(" ", inner) + label + strings.Repeat(" ", indent-inner-widthOf(label)) + line)
			label = ""
		}
	}
}

// wrapped breaks a text at its spaces into lines of at most so many columns, and breaks what is longer without
// a space where it has to.
func wrapped(text string, most int) (lines []string) {
	line, used := "", 0
	for _, word := range strings.Fields(text) {
		for len(word) > 0 {
			n := widthOf(word)
			if line != "" && used+1+n > most {
				lines, line, used = append(lines, line), "", 0
			}
			part := word
			if line != "" {
				line, used = line+" ", used+1
			} else if n > most {
				part = beginning(word, most)
			}
			line, used, word = line+part, used+widthOf(part), word[len(part):]
		}
	}
	if line != "" {
		lines = append(lines, line)
	}
	return lines
}

// beginning is as much of a word as has room, and at least a character.
func beginning(word string, most int) string {
	used := 0
	for i, r := range word {
		if used += widthOfRune(r); used > most && i > 0 {
			return word[:i]
		}
	}
	return word
}

// widthOf is how many columns a terminal takes for a text (Unicode Annex 11).
func widthOf(text string) (n int) {
	for _, r := range text {
		n += widthOfRune(r)
	}
	return n
}

func widthOfRune(r rune) int {
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	if kind := width.LookupRune(r).Kind(); kind == width.EastAsianWide || kind == width.EastAsianFullwidth {
		return 2
	}
	return 1
}
