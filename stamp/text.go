package stamp

import (
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

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
