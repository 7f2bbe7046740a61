package doc

import (
	"bytes"
	"strings"
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
