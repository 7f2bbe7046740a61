package pdf

import (
	"bytes"
	"encoding/hex"
)

// name reads a name at its solidus (7.3.5). A number sign that no two hexadecimal
// digits follow stands for itself, as it did before PDF 1.2.
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

// hexPair returns the value of the sequence #xx that s begins with, or -1.
func hexPair(s []byte) int {
	if len(s) < 3 || s[0] != '#' || hexValue(s[1]) < 0 || hexValue(s[2]) < 0 {
		return -1
	}
	return hexValue(s[1])<<4 | hexValue(s[2])
}

// hexadecimal reads a hexadecimal string; a missing last digit is 0 (7.3.4.3).
func (p *parser) hexadecimal() (Object, error) {
	p.pos++
	end := bytes.IndexByte(p.buf[p.pos:], '>')
	if end < 0 {
		p.pos = len(p.buf)
		p.next() // which notes that more is needed
		return nil, syntaxError("hexadecimal string without end")
	}
	// Nothing but pairs of digits, as in the long strings of signatures.
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

// literal reads a literal string: parentheses balance, an end of line is a line feed (7.3.4.2).
func (p *parser) literal() (Object, error) {
	p.pos++
	var decoded []byte
	for open := 1; ; {
		decoded = append(decoded, p.plain()...)
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

// plain reads characters that stand for themselves in a literal string.
func (p *parser) plain() []byte {
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

// escapes are those of Table 3 that stand for one character.
var escapes = map[byte]byte{'n': '\n', 'r': '\r', 't': '\t', 'b': '\b', 'f': '\f'}

// escape reads what follows a reverse solidus and appends what it stands for. Before
// any other character than those of Table 3 the reverse solidus is ignored.
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

// octal reads the one or two digits that may follow first; an overflow is ignored (Table 3).
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
