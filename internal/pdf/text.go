package pdf

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf16"
)

// Byte order marks of text strings (7.9.2.2).
const (
	markUTF16BE = "\xfe\xff"
	markUTF16LE = "\xff\xfe" // not allowed, but understood by viewers
	markUTF8    = "\xef\xbb\xbf"
)

// TextString returns the source text of a text string: a literal string in PDFDocEncoding
// when s is ASCII, else UTF-16BE in hexadecimal. Invalid UTF-8 becomes U+FFFD.
func TextString(s string) []byte {
	if !isPlainText(s) {
		return utf16String(s)
	}
	return literalString(s)
}

// isPlainText reports whether PDFDocEncoding has the same codes for s as ASCII.
func isPlainText(s string) bool {
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

// Text returns the characters of a text string: UTF-16 or UTF-8 where a byte order mark
// says so, else PDFDocEncoding (7.9.2.2). What is undefined becomes U+FFFD.
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

// withoutLanguage drops language codes, which stand between escape characters (7.9.2.2.2).
func withoutLanguage(text string) string {
	var b strings.Builder
	for {
		before, behind, found := strings.Cut(text, "\x1b")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		_, rest, closed := strings.Cut(behind, "\x1b")
		if !closed {
			return b.String() + behind
		}
		text = rest
	}
}

func docEncodingText(text string) string {
	if isPlainText(text) {
		return text
	}
	var b strings.Builder
	for i := range len(text) {
		b.WriteRune(docEncodingRune(text[i]))
	}
	return b.String()
}

// docEncodingRune decodes a character of PDFDocEncoding (Annex D.3).
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
