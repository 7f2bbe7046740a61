package stamp

import (
	"slices"

	"golang.org/x/text/unicode/bidi"
)

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
