package jsonbody

import (
	"strconv"
	"strings"
)

// number reads a number and keeps its text.
func (l *lexer) number() (string, error) {
	at := l.offset
	var b strings.Builder
	for {
		c, err := l.peek()
		if err != nil {
			return "", err
		}
		if strings.IndexByte("+-.0123456789Ee", c) < 0 {
			break
		}
		b.WriteByte(c)
		if err := l.advance(1); err != nil {
			return "", err
		}
	}
	if !isNumber(b.String()) {
		return "", bodyError("The body is not valid JSON: invalid number at byte offset %d.", at)
	}
	return b.String(), nil
}

// isNumber implements the grammar of RFC 8259 section 6.
func isNumber(s string) bool {
	s = strings.TrimPrefix(s, "-")
	whole, s := digits(s)
	if whole == "" || len(whole) > 1 && whole[0] == '0' {
		return false
	}
	if fraction, ok := strings.CutPrefix(s, "."); ok {
		if fraction, s = digits(fraction); fraction == "" {
			return false
		}
	}
	if s == "" {
		return true
	}
	if s[0] != 'e' && s[0] != 'E' {
		return false
	}
	s = s[1:]
	if s != "" && (s[0] == '+' || s[0] == '-') {
		s = s[1:]
	}
	exponent, s := digits(s)
	return exponent != "" && s == ""
}

// digits splits s after its leading digits.
func digits(s string) (leading, rest string) {
	rest = strings.TrimLeft(s, "0123456789")
	return s[:len(s)-len(rest)], rest
}

// integer returns the value of a number when it is whole, however it is written: 1, 1.0 and 10e-1
// are the same (spec 1.2). One that does not fit is the nearest that does, which is as far out
// of every range. It works on the digits, for floating point would take 1.00000000000000000001 for 1.
func integer(number string) (n int64, whole bool) {
	significant, point := scientific(strings.TrimPrefix(number, "-"))
	if significant == "" {
		return 0, true
	}
	if point < len(significant) {
		return 0, false
	}
	const maxDigits = 19 // of an int64; with one more, ParseInt returns the nearest bound
	zeros := min(point, max(maxDigits+1, len(significant))) - len(significant)
	text := significant + strings.Repeat("0", zeros)
	if number[0] == '-' {
		text = "-" + text
	}
	n, _ = strconv.ParseInt(text, 10, 64)
	return n, true
}

// scientific takes a number without its sign apart into its digits, zeros at both
// ends dropped, and how many of them stand before the decimal point.
func scientific(number string) (significant string, point int) {
	mantissa, exponent, _ := strings.Cut(strings.ToLower(number), "e")
	whole, fraction, _ := strings.Cut(mantissa, ".")
	all := whole + fraction
	significant = strings.TrimLeft(all, "0")
	point = len(whole) - (len(all) - len(significant))
	if exponent != "" {
		// An exponent too large for ParseInt comes back as the nearest bound, which
		// is as far out of every range as the true one.
		shift, _ := strconv.ParseInt(exponent, 10, 32)
		point += int(shift)
	}
	return strings.TrimRight(significant, "0"), point
}
