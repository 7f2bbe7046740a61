package idp

import "strings"

// unwritten drops what people write between the digits of a phone number; one of the spaces is that
// which keeps a number on one line.
var unwritten = strings.NewReplacer(" ", "", "\u00a0", "", "-", "")

// LocalPhone returns the seven digits of a number in Iceland, where numbers have no area code.
func LocalPhone(phone string) (digits string, ok bool) {
	digits = unwritten.Replace(phone)
	for _, iceland := range []string{"+354", "00354"} {
		if local, found := strings.CutPrefix(digits, iceland); found {
			digits = local
			break
		}
	}
	other := func(r rune) bool { return r < '0' || r > '9' }
	return digits, len(digits) == 7 && !strings.ContainsFunc(digits, other)
}
