package httpapi_test

import (
	"fmt"
	"strings"
)

const (
	required  = "This field is required."
	notBase64 = "Must be Base64 (RFC 4648 section 4) with padding and without line breaks, and not empty."
)

var (
	missing    = wrong{required, []any{absent{}, nil}}
	blankText  = wrong{required, []any{"", " ", "\t\r\n", "\u00a0\u3000"}}
	notText    = wrong{"Must be a string.", []any{5, true, object{}, []any{}, number("1e400")}}
	notNumber  = wrong{"Must be a number.", []any{"1", "", true, object{}, []any{}}}
	notWhole   = wrong{"Must be a whole number.", []any{1.5, -0.1, number("1.00000000000000000001"), number("1e-400")}}
	notBool    = wrong{"Must be true or false.", []any{1, "true", "", object{}, []any{}}}
	notList    = wrong{"Must be an array.", []any{"x", 5, true, object{}}}
	notObject  = wrong{"Must be an object.", []any{"x", 5, true, []any{}}}
	control    = wrong{"Must not contain control characters.", []any{"a\x00b", "a\nb", "\u001b[0m", "a\u007f", "a\u0085b", "a\u009fb"}}
	infinite   = wrong{"Must be a smaller number.", []any{number("1e400"), number("1" + strings.Repeat("0", 400))}}
	unlikeUUID = wrong{"Must be a UUID.", []any{"1", "{6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11}", "urn:uuid:6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b11", "6e1f5c9e6c2f4a0e9a650f6d2a3c8b11", "6e1f5c9e-6c2f-4a0e-9a65-0f6d2a3c8b1g"}}
	unlikeB64  = wrong{notBase64, []any{"", " ", "====", "QUI", "QUI==", "QUJD\n", "QUJD\r\nREVG", "-_-_", "QQ==QUJD", "QUJ D", "QUJð", "data:application/pdf;base64,QUJD"}}
)

// text is what a string may not be, of at most so many code points.
func text(most int) []wrong {
	return []wrong{notText, control, {fmt.Sprintf("Must be at most %d characters long.", most), long(most + 1)}}
}

// choice is what a string may not be that is one of a few.
func choice(words ...string) []wrong {
	return []wrong{notText, control, {"Must be one of: " + strings.Join(words, ", ") + ".", []any{
		"x", strings.ToLower(words[0]), strings.ToUpper(words[len(words)-1]), words[0] + " ", words[0] + "," + words[len(words)-1],
	}}}
}

// amount is what a number may not be, and what is said of these that are out of its bounds.
func amount(bounds string, out ...any) []wrong { return []wrong{notNumber, {bounds, out}} }

// whole is what a whole number may not be.
func whole(bounds string, out ...any) []wrong { return []wrong{notNumber, notWhole, {bounds, out}} }

// have is what is wrong with a member that has to be there.
func have(other []wrong, lacking ...wrong) []wrong {
	return append(other[:len(other):len(other)], lacking...)
}

// words are those of a list, which are right, and what counts as absent.
func words(list ...any) []any { return append(list, nil, "", " ") }
