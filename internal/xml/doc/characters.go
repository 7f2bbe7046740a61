package doc

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// characters reads a text node or the value of an attribute in pieces: it converts line ends to
// "\n" (XML 1.0 2.11), resolves references, removes the delimiters of CDATA sections, and in an
// attribute replaces white space that is not a reference by " " (3.3.3, for attributes without a
// declaration). The raw text has been checked by the parser.
type characters struct {
	raw       []byte
	attribute bool
	cdata     bool // the next byte is in a CDATA section
	buffer    [utf8.UTFMax]byte
}

const (
	cdataStart = "<![CDATA["
	cdataEnd   = "]]>"
)

// next returns the next piece, which is valid until the following call. It contains "\r", and in an
// attribute "\t" or "\n", only if the source has a reference to it.
func (c *characters) next() (piece []byte, ok bool) {
	for len(c.raw) > 0 {
		if n := c.literal(); n > 0 {
			piece, c.raw = c.raw[:n], c.raw[n:]
			return piece, true
		}
		if piece := c.nextSpecial(); len(piece) > 0 {
			return piece, true
		}
	}
	return nil, false
}

// literal returns how many of the next bytes stand for themselves.
func (c *characters) literal() int {
	if c.cdata {
		return c.section()
	}
	stop := endsTextLiteral
	if c.attribute {
		stop = endsValueLiteral
	}
	for i, b := range c.raw {
		if class[b]&stop != 0 {
			return i
		}
	}
	return len(c.raw)
}

func (c *characters) section() int {
	for i, b := range c.raw {
		if b == '\r' || b == ']' && bytes.HasPrefix(c.raw[i:], []byte(cdataEnd)) {
			return i
		}
	}
	return len(c.raw)
}

// nextSpecial returns the replacement of the next bytes, which do not stand for themselves. It is
// empty for the delimiters of CDATA sections.
func (c *characters) nextSpecial() []byte {
	switch c.raw[0] {
	case '&':
		r, n := dereference(c.raw)
		c.raw = c.raw[n:]
		return utf8.AppendRune(c.buffer[:0], r)
	case '<':
		c.raw, c.cdata = c.raw[len(cdataStart):], true
		return nil
	case ']':
		c.raw, c.cdata = c.raw[len(cdataEnd):], false
		return nil
	}
	return c.space()
}

// space returns the replacement of white space: of a line end other than "\n", or of any white
// space in an attribute.
func (c *characters) space() []byte {
	n := 1
	if c.raw[0] == '\r' && len(c.raw) > 1 && c.raw[1] == '\n' {
		n = 2
	}
	c.raw = c.raw[n:]
	c.buffer[0] = '\n'
	if c.attribute {
		c.buffer[0] = ' '
	}
	return c.buffer[:1]
}

// value returns the whole text.
func (c *characters) value() string {
	if c.literal() == len(c.raw) {
		return string(c.raw)
	}
	var b strings.Builder
	c.writeTo(&b)
	return b.String()
}

func (c *characters) writeTo(b *strings.Builder) {
	for piece, ok := c.next(); ok; piece, ok = c.next() {
		b.Write(piece)
	}
}

// dereference returns the character of the reference at the start of raw and the length of the
// reference. Both are 0 if it is neither a reference to a character of XML nor to a predefined
// entity.
func dereference(raw []byte) (r rune, length int) {
	const longest = 32 // bounds leading zeros
	end := bytes.IndexByte(raw[:min(len(raw), longest)], ';')
	if end < 2 || raw[0] != '&' {
		return 0, 0
	}
	if raw[1] != '#' {
		r = entity(string(raw[1:end]))
	} else {
		r = number(raw[2:end])
	}
	if !IsChar(r) {
		return 0, 0
	}
	return r, end + 1
}

// entity returns the character of a predefined entity (XML 1.0 4.6).
func entity(name string) rune {
	switch name {
	case "lt":
		return '<'
	case "gt":
		return '>'
	case "amp":
		return '&'
	case "apos":
		return '\''
	case "quot":
		return '"'
	}
	return 0
}

// number returns the character number after "&#": digits, or "x" and hexadecimal digits; 0 if it is
// malformed.
func number(digits []byte) (r rune) {
	base := rune(10)
	if len(digits) > 0 && digits[0] == 'x' {
		base, digits = 16, digits[1:]
	}
	for _, b := range digits {
		d := digit(b)
		if d >= base || r > utf8.MaxRune {
			return 0
		}
		r = r*base + d
	}
	return r
}

// digit returns the value of a hexadecimal digit, or a larger value if b is not one.
func digit(b byte) rune {
	switch {
	case '0' <= b && b <= '9':
		return rune(b - '0')
	case 'a' <= b && b <= 'f':
		return rune(b-'a') + 10
	case 'A' <= b && b <= 'F':
		return rune(b-'A') + 10
	}
	return utf8.MaxRune
}

// Classes of ASCII characters.
const (
	startsName uint8 = 1 << iota
	continuesName
	isSpace
	endsTextLiteral  // does not stand for itself in character data
	endsValueLiteral // does not stand for itself in an attribute's value
	endsPlainText    // the parser looks at it in text
	endsPlainValue   // the parser looks at it in an attribute's value
)

// Space is white space (XML 1.0 [3]).
const Space = " \t\r\n"

// class has the classes of each byte. Bytes of non-ASCII characters have none: those characters are
// classified as a whole.
var class = [256]uint8{
	'\t': isSpace | endsValueLiteral | endsPlainValue, '\n': isSpace | endsValueLiteral | endsPlainValue,
	'\r': isSpace | endsTextLiteral | endsValueLiteral | endsPlainText | endsPlainValue, ' ': isSpace,
	'&': endsTextLiteral | endsValueLiteral | endsPlainText | endsPlainValue, '<': endsTextLiteral | endsPlainText | endsPlainValue,
	'>': endsPlainText, '"': endsPlainValue, '\'': endsPlainValue,
	'-': continuesName, '.': continuesName, '_': startsName | continuesName,
	'0': continuesName, '1': continuesName, '2': continuesName, '3': continuesName, '4': continuesName,
	'5': continuesName, '6': continuesName, '7': continuesName, '8': continuesName, '9': continuesName,
	'A': letter, 'B': letter, 'C': letter, 'D': letter, 'E': letter, 'F': letter, 'G': letter, 'H': letter, 'I': letter,
	'J': letter, 'K': letter, 'L': letter, 'M': letter, 'N': letter, 'O': letter, 'P': letter, 'Q': letter, 'R': letter,
	'S': letter, 'T': letter, 'U': letter, 'V': letter, 'W': letter, 'X': letter, 'Y': letter, 'Z': letter,
	'a': letter, 'b': letter, 'c': letter, 'd': letter, 'e': letter, 'f': letter, 'g': letter, 'h': letter, 'i': letter,
	'j': letter, 'k': letter, 'l': letter, 'm': letter, 'n': letter, 'o': letter, 'p': letter, 'q': letter, 'r': letter,
	's': letter, 't': letter, 'u': letter, 'v': letter, 'w': letter, 'x': letter, 'y': letter, 'z': letter,
}

const letter = startsName | continuesName

// nameStarts are the non-ASCII characters with which a name can begin (XML 1.0 [4]).
var nameStarts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x2FF, 1}, {0x370, 0x37D, 1}, {0x37F, 0x1FFF, 1},
		{0x200C, 0x200D, 1}, {0x2070, 0x218F, 1}, {0x2C00, 0x2FEF, 1}, {0x3001, 0xD7FF, 1},
		{0xF900, 0xFDCF, 1}, {0xFDF0, 0xFFFD, 1},
	},
	R32: []unicode.Range32{{0x10000, 0xEFFFF, 1}},
}

// nameContinues are the further characters that a name can contain after its beginning ([4a]).
var nameContinues = &unicode.RangeTable{
	R16: []unicode.Range16{{0xB7, 0xB7, 1}, {0x300, 0x36F, 1}, {0x203F, 0x2040, 1}},
}

// ncName returns the length of the name without a colon at the beginning of text, or 0 (Namespaces
// in XML 1.0 [4]).
func ncName(text []byte) int {
	for i := 0; i < len(text); {
		b, wanted := text[i], continuesName
		if i == 0 {
			wanted = startsName
		}
		if b < utf8.RuneSelf {
			if class[b]&wanted == 0 {
				return i
			}
			i++
			continue
		}
		r, n := utf8.DecodeRune(text[i:])
		if !unicode.Is(nameStarts, r) && (i == 0 || !unicode.Is(nameContinues, r)) {
			return i
		}
		i += n
	}
	return len(text)
}

// IsChar reports whether XML allows the character (XML 1.0 [2]).
func IsChar(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xD800:
		return true
	}
	return 0xDFFF < r && r <= unicode.MaxRune && r != 0xFFFE && r != 0xFFFF
}

// indexForbidden returns the index of the first character that XML does not allow, or -1. The text
// is UTF-8, so only control characters and two noncharacters are possible.
func indexForbidden(text []byte) int {
	at := indexControl(text)
	for _, r := range []string{"\uFFFE", "\uFFFF"} {
		if i := bytes.Index(text, []byte(r)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// indexControl returns the index of the first control character other than white space. It tests
// eight bytes at once, because white space is rare.
func indexControl(text []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		if (word-low*' ')&^word&high == 0 {
			continue
		}
		if at := indexControlIn(text[i : i+8]); at >= 0 {
			return i + at
		}
	}
	if at := indexControlIn(text[i:]); at >= 0 {
		return i + at
	}
	return -1
}

func indexControlIn(text []byte) int {
	for i, b := range text {
		if b < ' ' && class[b]&isSpace == 0 {
			return i
		}
	}
	return -1
}
