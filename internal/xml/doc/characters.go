package doc

import (
	"bytes"
	"encoding/binary"
	"strings"
	"unicode"
	"unicode/utf8"
)

// characters reads what a run of character data, or the value of an attribute, stands for, piece by
// piece: line ends are "\n" (XML 1.0 2.11), references are resolved, CDATA sections are their
// content, and white space of an attribute that is not a reference is " " (3.3.3, as for an
// attribute that nothing declares). What it reads was parsed.
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

// next is the next piece, which holds until the call after it. A "\r", and in an attribute a "\t" or
// "\n", can only be in it when a reference says so.
func (c *characters) next() (piece []byte, ok bool) {
	for len(c.raw) > 0 {
		if n := c.literal(); n > 0 {
			piece, c.raw = c.raw[:n], c.raw[n:]
			return piece, true
		}
		if piece := c.special(); len(piece) > 0 {
			return piece, true
		}
	}
	return nil, false
}

// literal is how many bytes stand for themselves.
func (c *characters) literal() int {
	if c.cdata {
		return c.section()
	}
	stop := stopsRun
	if c.attribute {
		stop = stopsValue
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

// special is what stands for something else than itself; nothing for the delimiters of CDATA
// sections.
func (c *characters) special() []byte {
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

// space is white space: a line end that is not written as "\n", or any in an attribute.
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

// value is all that a value or a run stands for.
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

// dereference is the character that the reference at the start of raw stands for, and the length of
// the reference; 0 when it is none of a character or of an entity that XML has by itself.
func dereference(raw []byte) (r rune, length int) {
	const longest = 32 // zeros may lead the digits, but nobody needs that many
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

// entity is a predefined entity (XML 1.0 4.6).
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

// number is what comes after "&#": digits, or "x" and hexadecimal digits; 0 when it is something
// else.
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

// digit is the value of a hexadecimal digit; more than any for what is none.
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

// What an ASCII character, or a byte of another character, can be.
const (
	startsName uint8 = 1 << iota
	continuesName
	isSpace
	stopsRun   // does not stand for itself in character data
	stopsValue // does not stand for itself in an attribute's value
)

// Space is white space (XML 1.0 [3]).
const Space = " \t\r\n"

// class is what each byte can be. Bytes of characters outside of ASCII are none of it: what those
// can be has to be asked of the whole character.
var class = [256]uint8{
	'\t': isSpace | stopsValue, '\n': isSpace | stopsValue, '\r': isSpace | stopsRun | stopsValue, ' ': isSpace,
	'&': stopsRun | stopsValue, '<': stopsRun,
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

// nameStarts are the characters outside of ASCII that a name can begin with (XML 1.0 [4]).
var nameStarts = &unicode.RangeTable{
	R16: []unicode.Range16{
		{0xC0, 0xD6, 1}, {0xD8, 0xF6, 1}, {0xF8, 0x2FF, 1}, {0x370, 0x37D, 1}, {0x37F, 0x1FFF, 1},
		{0x200C, 0x200D, 1}, {0x2070, 0x218F, 1}, {0x2C00, 0x2FEF, 1}, {0x3001, 0xD7FF, 1},
		{0xF900, 0xFDCF, 1}, {0xFDF0, 0xFFFD, 1},
	},
	R32: []unicode.Range32{{0x10000, 0xEFFFF, 1}},
}

// nameContinues are those that it can have in other places too ([4a]).
var nameContinues = &unicode.RangeTable{
	R16: []unicode.Range16{{0xB7, 0xB7, 1}, {0x300, 0x36F, 1}, {0x203F, 0x2040, 1}},
}

// ncName is the length of the name without a colon that text begins with; 0 when it begins with
// none (Namespaces in XML 1.0 [4]).
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

// IsChar says whether a document can have the character (XML 1.0 [2]).
func IsChar(r rune) bool {
	switch {
	case r < ' ':
		return r == '\t' || r == '\n' || r == '\r'
	case r < 0xD800:
		return true
	}
	return 0xDFFF < r && r <= unicode.MaxRune && r != 0xFFFE && r != 0xFFFF
}

// forbidden is where the first character stands that no document can have; -1 when there is none.
// The text is UTF-8, so that only control characters and two noncharacters are looked for.
func forbidden(text []byte) int {
	at := control(text)
	for _, r := range []string{"\uFFFE", "\uFFFF"} {
		if i := bytes.Index(text, []byte(r)); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	return at
}

// control looks at eight bytes at once: white space is rare beside what is none.
func control(text []byte) int {
	const low, high = 0x0101010101010101, 0x8080808080808080
	i := 0
	for ; i+8 <= len(text); i += 8 {
		word := binary.LittleEndian.Uint64(text[i:])
		if (word-low*' ')&^word&high == 0 {
			continue
		}
		if at := controlIn(text[i : i+8]); at >= 0 {
			return i + at
		}
	}
	if at := controlIn(text[i:]); at >= 0 {
		return i + at
	}
	return -1
}

func controlIn(text []byte) int {
	for i, b := range text {
		if b < ' ' && class[b]&isSpace == 0 {
			return i
		}
	}
	return -1
}
