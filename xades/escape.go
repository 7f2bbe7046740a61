package xades

import (
	"fmt"
	"strings"
	"unicode/utf8"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// escape is text as it stands in content and in attribute values: in ASCII, so that it means the same in
// each encoding, and with what a parser would normalize away as references. A character that XML does
// not have (XML 1.0 2.2) cannot be referred to either, and is replaced.
func escape(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case !xmldoc.IsChar(r):
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
