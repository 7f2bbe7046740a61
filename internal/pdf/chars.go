package pdf

// class is a character class of 7.2.3.
type class uint8

const (
	regular class = iota
	space
	delimiter
)

var classes = func() (t [256]class) {
	for _, c := range []byte("\x00\t\n\f\r ") {
		t[c] = space
	}
	for _, c := range []byte("()<>[]{}/%") {
		t[c] = delimiter
	}
	return t
}()

func isSpace(c byte) bool   { return classes[c] == space }
func isRegular(c byte) bool { return classes[c] == regular }
func isDigit(c byte) bool   { return '0' <= c && c <= '9' }
func isNumeric(c byte) bool { return isDigit(c) || c == '+' || c == '-' || c == '.' }

// hexValue returns the value of a hexadecimal digit, or -1.
func hexValue(c byte) int {
	switch {
	case isDigit(c):
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
