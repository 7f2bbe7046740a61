package main

import "strings"

// outsideQuotes are the parts of a header's value between separators that are in no quoted-string
// (RFC 9110 5.6.4). It is not whole when such a string has no end.
func outsideQuotes(text string, separator byte) (parts []string, whole bool) {
	begin, quoted := 0, false
	for i := 0; i < len(text); i++ {
		switch c := text[i]; {
		case quoted && c == '\\':
			i++
		case c == '"':
			quoted = !quoted
		case c == separator && !quoted:
			parts, begin = append(parts, text[begin:i]), i+1
		}
	}
	return append(parts, text[begin:]), !quoted
}

// unquoted is what a quoted-string says, or the text itself where it is none.
func unquoted(text string) string {
	if len(text) < 2 || text[0] != '"' || text[len(text)-1] != '"' {
		return text
	}
	var out strings.Builder
	for i := 1; i < len(text)-1; i++ {
		if text[i] == '\\' && i+1 < len(text)-1 {
			i++
		}
		out.WriteByte(text[i])
	}
	return out.String()
}
