package report

import (
	"strings"
	"unicode"

	"golang.org/x/text/unicode/bidi"
)

// Bounds of what somebody else says in the text.
const (
	mostText   = 300 // characters of a name or a reason
	mostField  = 60  // of one of several fields
	mostDetail = 600 // of what the validation says, which may have such a name in it
	mostMarks  = 3   // one above the other, on a letter
)

// Around what is written from right to left, so that nothing beside it is turned around (Unicode Annex 9, 2.4).
const firstStrongIsolate, popIsolate = "\u2068", "\u2069"

// clean is what somebody else says, as a part of a line: without line ends, control characters and marks of
// direction, and with single spaces. The rest of what is longer than most characters is left out.
func clean(text string, most int) string {
	text = strings.Join(strings.Fields(strings.Map(visible, strings.ToValidUTF8(text, "\ufffd"))), " ")
	text = shortened(unstacked(text), most)
	if strings.ContainsFunc(text, rightToLeft) {
		return firstStrongIsolate + text + popIsolate
	}
	return text
}

// visible drops what is not seen but changes how the rest is.
func visible(r rune) rune {
	switch {
	case unicode.IsSpace(r):
		return ' '
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r):
		return -1
	case !unicode.IsGraphic(r): // private, or of no Unicode that is known
		return unicode.ReplacementChar
	}
	return r
}

func rightToLeft(r rune) bool {
	p, _ := bidi.LookupRune(r)
	return p.Class() == bidi.R || p.Class() == bidi.AL
}

// unstacked leaves out marks that would pile up over other lines.
func unstacked(text string) string {
	marks := 0
	return strings.Map(func(r rune) rune {
		if !unicode.In(r, unicode.Mn, unicode.Me) {
			marks = 0
			return r
		}
		if marks++; marks > mostMarks {
			return -1
		}
		return r
	}, text)
}

func shortened(text string, most int) string {
	n := 0
	for i := range text {
		if n++; n > most {
			return text[:i] + "…"
		}
	}
	return text
}
