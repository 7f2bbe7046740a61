package pdf

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf16"
)

// name reads a name at its solidus (7.3.5). A number sign that is not followed by two hexadecimal
// digits stands for itself, as it did before PDF 1.2.
func (p *parser) name() Name {
	p.pos++
	word := p.word()
	if bytes.IndexByte(word, '#') < 0 {
		return Name(word)
	}
	decoded := make([]byte, 0, len(word))
	for i := 0; i < len(word); i++ {
		c := word[i]
		if v := hexPair(word[i:]); v >= 0 {
			c = byte(v)
			i += 2
		}
		decoded = append(decoded, c)
	}
	return Name(decoded)
}

// hexPair returns the value of the sequence #xx at the start of s, or -1.
func hexPair(s []byte) int {
	if len(s) < 3 || s[0] != '#' || hexValue(s[1]) < 0 || hexValue(s[2]) < 0 {
		return -1
	}
	return hexValue(s[1])<<4 | hexValue(s[2])
}

// hexadecimal reads a hexadecimal string. A missing last digit counts as 0 (7.3.4.3).
func (p *parser) hexadecimal() (Object, error) {
	p.pos++
	end := bytes.IndexByte(p.buf[p.pos:], '>')
	if end < 0 {
		p.pos = len(p.buf)
		p.next() // sets needsMore if this window is not the last one
		return nil, syntaxError("hexadecimal string without end")
	}
	// The fast path reads strings that have only pairs of digits, such as the long Contents of
	// signatures.
	plain := make([]byte, hex.DecodedLen(end))
	if _, err := hex.Decode(plain, p.buf[p.pos:p.pos+end]); err == nil {
		p.pos += end + 1
		return String(plain), nil
	}
	var decoded []byte
	digits, value := 0, 0
	for {
		c, _ := p.next()
		v := hexValue(c)
		switch {
		case c == '>':
			if digits%2 == 1 {
				decoded = append(decoded, byte(value<<4))
			}
			return String(decoded), nil
		case isSpace(c):
			continue
		case v < 0:
			return nil, syntaxError("hexadecimal string with %q", c)
		}
		value = value<<4 | v
		if digits++; digits%2 == 0 {
			decoded = append(decoded, byte(value))
			value = 0
		}
	}
}

// literal reads a literal string. Its parentheses are balanced, and each end of line is read as a
// line feed (7.3.4.2).
func (p *parser) literal() (Object, error) {
	p.pos++
	var decoded []byte
	for open := 1; ; {
		decoded = append(decoded, p.ordinaryCharacters()...)
		c, ok := p.next()
		if !ok {
			return nil, syntaxError("literal string without end")
		}
		switch c {
		case '(':
			open++
		case ')':
			if open--; open == 0 {
				return String(decoded), nil
			}
		case '\\':
			decoded = p.escape(decoded)
			continue
		case '\r':
			p.skipLineFeed()
			c = '\n'
		}
		decoded = append(decoded, c)
	}
}

// ordinaryCharacters reads the characters up to the next one with a special meaning in a literal
// string.
func (p *parser) ordinaryCharacters() []byte {
	start := p.pos
	for _, c := range p.buf[start:] {
		if c == '(' || c == ')' || c == '\\' || c == '\r' {
			break
		}
		p.pos++
	}
	return p.buf[start:p.pos]
}

func (p *parser) skipLineFeed() {
	if c, ok := p.peek(); ok && c == '\n' {
		p.pos++
	}
}

// escapes has the sequences of Table 3 that stand for one character.
var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// escape reads the characters after a reverse solidus and appends the bytes that they stand for.
// Before a character that Table 3 does not list, the reverse solidus is ignored.
func (p *parser) escape(decoded []byte) []byte {
	c, ok := p.next()
	switch {
	case !ok || c == '\n':
		return decoded
	case c == '\r':
		p.skipLineFeed()
		return decoded
	case isOctal(c):
		return append(decoded, p.octal(c))
	}
	if v, ok := escapes[c]; ok {
		c = v
	}
	return append(decoded, c)
}

func isOctal(c byte) bool { return '0' <= c && c <= '7' }

// octal returns the character with the octal code that begins with the digit first and has up to
// two more digits. High-order overflow is ignored (Table 3).
func (p *parser) octal(first byte) byte {
	value := first - '0'
	for range 2 {
		c, ok := p.peek()
		if !ok || !isOctal(c) {
			break
		}
		p.pos++
		value = value<<3 | (c - '0')
	}
	return value
}

// Byte order marks of text strings (7.9.2.2).
const (
	markUTF16BE = "\xfe\xff"
	markUTF16LE = "\xff\xfe" // not permitted, but viewers accept it
	markUTF8    = "\xef\xbb\xbf"
)

// TextString returns the source text of a text string. An ASCII string becomes a literal string in
// PDFDocEncoding; any other string becomes UTF-16BE in hexadecimal. Invalid UTF-8 becomes U+FFFD.
func TextString(s string) []byte {
	if !isASCIIText(s) {
		return utf16String(s)
	}
	return literalString(s)
}

// isASCIIText reports whether s has only printable ASCII characters, tabs and ends of line, which
// have the same codes in PDFDocEncoding.
func isASCIIText(s string) bool {
	for i := range len(s) {
		if c := s[i]; (c < ' ' || c > '~') && c != '\n' && c != '\r' && c != '\t' {
			return false
		}
	}
	return true
}

var literalEscapes = strings.NewReplacer(
	`\`, `\\`, `(`, `\(`, `)`, `\)`, "\n", `\n`, "\r", `\r`, "\t", `\t`)

func literalString(s string) []byte { return []byte("(" + literalEscapes.Replace(s) + ")") }

func utf16String(s string) []byte {
	encoded := []byte(markUTF16BE)
	for _, unit := range utf16.Encode([]rune(s)) {
		encoded = binary.BigEndian.AppendUint16(encoded, unit)
	}
	return HexString(encoded)
}

// HexString returns the source text of a string with the given bytes, in hexadecimal.
func HexString(b []byte) []byte {
	return append(hex.AppendEncode([]byte{'<'}, b), '>')
}

// Text returns the characters of a text string. The encoding is UTF-16 or UTF-8 if the string
// begins with the byte order mark, else PDFDocEncoding (7.9.2.2). Undefined codes become U+FFFD.
func Text(s String) string {
	text := string(s)
	switch {
	case strings.HasPrefix(text, markUTF16BE):
		return utf16Text(text[2:], binary.BigEndian)
	case strings.HasPrefix(text, markUTF16LE):
		return utf16Text(text[2:], binary.LittleEndian)
	case strings.HasPrefix(text, markUTF8):
		return withoutLanguage(strings.ToValidUTF8(text[3:], "\ufffd"))
	}
	return docEncodingText(text)
}

func utf16Text(text string, order binary.ByteOrder) string {
	units := make([]uint16, len(text)/2)
	for i := range units {
		units[i] = order.Uint16([]byte(text[2*i : 2*i+2]))
	}
	return withoutLanguage(string(utf16.Decode(units)))
}

// withoutLanguage removes language codes, which stand between two escape characters (7.9.2.2.2).
func withoutLanguage(text string) string {
	var b strings.Builder
	for {
		before, after, found := strings.Cut(text, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, rest, closed := strings.Cut(after, "\x1b")
		if !closed {
			return b.String() + after
		}
		text = rest
	}
}

func docEncodingText(text string) string {
	if isASCIIText(text) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(docEncodingRune(text[i]))
	}
	return b.String()
}

// docEncodingRune decodes one character of PDFDocEncoding (Annex D.3).
func docEncodingRune(c byte) rune {
	switch {
	case 0x18 <= c && c <= 0x1f:
		return docEncodingLow[c-0x18]
	case 0x80 <= c && c <= 0xa0:
		return docEncodingHigh[c-0x80]
	case c == 0x7f || c == 0xad:
		return '\ufffd'
	}
	return rune(c)
}

var (
	docEncodingLow  = [...]rune{'˘', 'ˇ', 'ˆ', '˙', '˝', '˛', '˚', '˜'}
	docEncodingHigh = [...]rune{
		'•', '†', '‡', '…', '—', '–', 'ƒ', '⁄', '‹', '›', '−', '‰', '„', '“', '”', '‘',
		'’', '‚', '™', 'ﬁ', 'ﬂ', 'Ł', 'Œ', 'Š', 'Ÿ', 'Ž', 'ı', 'ł', 'œ', 'š', 'ž', '\ufffd',
		'€',
	}
)

// NameToken returns the source text of a name (7.3.5).
func NameToken(n Name) []byte {
	token := []byte{'/'}
	for i := range len(n) {
		if c := n[i]; c < '!' || c > '~' || c == '#' || !isRegular(c) {
			token = fmt.Appendf(token, "#%02X", c)
		} else {
			token = append(token, c)
		}
	}
	return token
}

// DateString returns the source text of a date string in UTC, with seconds (7.9.4).
func DateString(t time.Time) []byte {
	return []byte("(" + t.UTC().Format("D:20060102150405") + "+00'00')")
}

// ParseDate reads a date string (7.9.4). It accepts a string without the parts after the year,
// without the prefix D: and without the apostrophes. A time without an offset is taken as UTC.
func ParseDate(s String) (time.Time, error) {
	text := strings.TrimPrefix(Text(s), "D:")
	digits := len(text) - len(strings.TrimLeft(text, "0123456789"))
	fields := [...]int{0, 1, 1, 0, 0, 0} // the defaults of 7.9.4
	err := dateFields(text[:digits], fields[:])
	zone, zoneErr := dateZone(text[digits:])
	if err = errors.Join(err, zoneErr); err != nil {
		return time.Time{}, fmt.Errorf("pdf: date %.32q: %w", string(s), err)
	}
	t := time.Date(fields[0], time.Month(fields[1]), fields[2], fields[3], fields[4], fields[5], 0, zone)
	// time.Date changes a date that is not in the calendar, such as February 30, into another date.
	if fields != [...]int{t.Year(), int(t.Month()), t.Day(), t.Hour(), t.Minute(), t.Second()} {
		return time.Time{}, fmt.Errorf("pdf: date %.32q is not in the calendar", string(s))
	}
	return t, nil
}

// dateFields reads four digits of a year and two digits of each other field, until text ends.
func dateFields(text string, fields []int) error {
	for i, width := 0, 4; i < len(fields) && (text != "" || i == 0); i, width = i+1, 2 {
		if len(text) < width {
			return fmt.Errorf("%d digits expected", width)
		}
		n, err := strconv.Atoi(text[:width])
		if err != nil {
			return err
		}
		fields[i], text = n, text[width:]
	}
	if text != "" {
		return errors.New("digits after the seconds")
	}
	return nil
}

// dateZone reads the relation to UTC: an empty text, Z, or a sign with hours and minutes.
func dateZone(text string) (*time.Location, error) {
	digits := strings.ReplaceAll(text, "'", "")
	if digits == "" || strings.HasPrefix(digits, "Z") {
		return time.UTC, nil
	}
	sign, digits := digits[0], digits[1:]
	if sign != '+' && sign != '-' || len(digits) != 2 && len(digits) != 4 {
		return nil, fmt.Errorf("%.16q is not an offset from UTC", text)
	}
	n, err := strconv.ParseUint((digits + "00")[:4], 10, 16)
	if err != nil || n/100 > 23 || n%100 > 59 {
		return nil, fmt.Errorf("%.16q is not an offset from UTC", text)
	}
	seconds := int(n/100*60+n%100) * 60
	switch {
	case seconds == 0:
		return time.UTC, nil
	case sign == '-':
		seconds = -seconds
	}
	return time.FixedZone("", seconds), nil
}
