package pdf

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// parser reads objects from a window of a file. When it looks behind a window that is
// not the file's last, it sets ran, and whatever it found is void: the caller parses
// again from a larger window.
type parser struct {
	buf     []byte
	pos     int
	final   bool // nothing follows buf
	ran     bool
	depth   int
	items   int
	doubled bool // a dictionary has two values for a key
	// reference, if not nil, is called behind each reference with where it begins.
	reference func(start int, ref Ref)
}

// syntaxError reports text that is no object.
func syntaxError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// Parse returns the one object that src consists of, between white space and comments.
// Streams are not read.
func Parse(src []byte) (Object, error) {
	p := &parser{buf: src, final: true}
	o, err := p.object()
	if err != nil {
		return nil, fmt.Errorf("pdf: parsing an object: %w", err)
	}
	if p.skipSpace(); p.pos < len(p.buf) {
		return nil, fmt.Errorf("pdf: parsing an object: %w", syntaxError("more than one object"))
	}
	return o, nil
}

func (p *parser) peek() (byte, bool) {
	if p.pos < len(p.buf) {
		return p.buf[p.pos], true
	}
	p.ran = !p.final
	return 0, false
}

func (p *parser) next() (byte, bool) {
	c, ok := p.peek()
	if ok {
		p.pos++
	}
	return c, ok
}

// skipSpace skips white space and comments, which end with their line (7.2.4).
func (p *parser) skipSpace() {
	comment := false
	for {
		c, ok := p.peek()
		switch {
		case !ok:
			return
		case comment:
			comment = c != '\n' && c != '\r'
		case c == '%':
			comment = true
		case !isSpace(c):
			return
		}
		p.pos++
	}
}

// word reads a run of regular characters.
func (p *parser) word() []byte {
	start := p.pos
	for {
		c, ok := p.peek()
		if !ok || !isRegular(c) {
			return p.buf[start:p.pos]
		}
		p.pos++
	}
}

// keyword reads want, if it stands next, and reports whether it did.
func (p *parser) keyword(want string) bool {
	p.skipSpace()
	start := p.pos
	if string(p.word()) == want {
		return true
	}
	p.pos = start
	return false
}

// object reads an object that is not a stream.
func (p *parser) object() (Object, error) {
	p.skipSpace()
	c, ok := p.peek()
	switch {
	case !ok:
		return nil, syntaxError("object expected where the text ends")
	case c == '/':
		return p.name(), nil
	case c == '(':
		return p.literal()
	case c == '<':
		return p.angle()
	case c == '[':
		return p.array()
	case isNumeric(c):
		return p.number()
	}
	return p.constant()
}

func (p *parser) constant() (Object, error) {
	switch word := p.word(); string(word) {
	case "null":
		return nil, nil
	case "true":
		return true, nil
	case "false":
		return false, nil
	case "":
		return nil, syntaxError("unexpected %q", p.buf[p.pos])
	default:
		return nil, syntaxError("unexpected %.16q", word)
	}
}

// number reads a number, or the reference that it begins.
func (p *parser) number() (Object, error) {
	start := p.pos
	word := p.word()
	if before, ok := bytes.CutSuffix(word, []byte("endobj")); ok { // writers forget the space
		word, p.pos = before, p.pos-len("endobj")
	}
	if slices.ContainsFunc(word, func(c byte) bool { return !isNumeric(c) }) {
		return nil, syntaxError("%.16q is no number", word)
	}
	n, err := strconv.ParseInt(string(word), 10, 64)
	if err != nil {
		return realNumber(word)
	}
	if isDigit(word[0]) && n <= math.MaxUint32 {
		if gen, ok := p.referenceTail(); ok {
			ref := Ref{Num: uint32(n), Gen: gen}
			if p.reference != nil {
				p.reference(start, ref)
			}
			return ref, nil
		}
	}
	return Integer(n), nil
}

func realNumber(word []byte) (Object, error) {
	x, err := strconv.ParseFloat(string(word), 64)
	if err != nil {
		return nil, syntaxError("%.16q is no number", word)
	}
	return Real(x), nil
}

// referenceTail reads the generation number and the R of a reference, or nothing.
func (p *parser) referenceTail() (uint16, bool) {
	start := p.pos
	p.skipSpace()
	if c, ok := p.peek(); ok && !isDigit(c) {
		p.pos = start
		return 0, false
	}
	gen, err := strconv.ParseUint(string(p.word()), 10, 16)
	if err == nil && p.keyword("R") {
		return uint16(gen), true
	}
	p.pos = start
	return 0, false
}
