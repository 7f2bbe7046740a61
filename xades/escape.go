package xades

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// escape is text as it stands in content and in attribute values: in ASCII, so that it means the same in
// each encoding, and with what a parser would normalize away as references. A character that XML does
// not have (XML 1.0 2.2) cannot be referred to either, and is replaced.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !isCharacter(r):
			r = utf8.RuneError
			fallthrough
		case r < ' ', r > '~', strings.ContainsRune(`&<>"'`, r):
			fmt.Fprintf(&b, "&#x%X;", r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// isCharacter is the production Char of XML 1.0 2.2.
func isCharacter(r rune) bool {
	switch {
	case r == '\t', r == '\n', r == '\r':
		return true
	case r < ' ', r == 0xFFFE, r == 0xFFFF:
		return false
	}
	return true // a string's runes are no surrogates
}
