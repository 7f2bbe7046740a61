package audkenni

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/clipperhouse/uax29/v2/graphemes"
)

// longest is how many characters of a text Auðkenni's app shows (spec 3.2), and how
// many of its long text.
const (
	longest     = 60
	longestLong = 200
)

// The places of a template.
const (
	codePlace     = "{code}"
	documentPlace = "{document}"
)

// fill puts a code and as much of the document's name, which is one line, into a template as
// there is room for.
func fill(template, code, document string, limit int) string {
	room := limit - utf8.RuneCountInString(strings.NewReplacer(codePlace, code, documentPlace, "").Replace(template))
	return strings.NewReplacer(codePlace, code, documentPlace, cut(document, room)).Replace(template)
}

// cut returns the first characters of s, at most limit of Unicode's, without dividing what
// a reader takes for one (UAX #29 3): the letter and its accent, the family of an emoji.
func cut(s string, limit int) string {
	end, length := 0, 0
	for clusters := graphemes.FromString(s); clusters.Next(); end = clusters.End() {
		if length += utf8.RuneCountInString(clusters.Value()); length > limit {
			break
		}
	}
	return s[:end]
}

// line makes one line of s. Control characters and line breaks become spaces, since they
// are not allowed on the phone; what turns the direction of writing is dropped, so that a
// name cannot be made to read as another.
func line(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.Is(unicode.Bidi_Control, r):
			return -1
		case unicode.In(r, unicode.Cc, unicode.Zl, unicode.Zp):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, string(utf8.RuneError)))
}
