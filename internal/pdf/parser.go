package pdf

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"reflect"
	"slices"
	"strconv"
)

// parser reads objects from a window of a file. If it needs bytes after the window, and the window
// is not the last one of the file, it sets needsMore. Its result is then void, and the caller
// parses again from a larger window.
type parser struct {
	buf           []byte
	pos           int
	final         bool // no bytes follow buf
	needsMore     bool
	depth         int
	items         int
	duplicateKeys bool // a dictionary has two different values for a key
	// reference, if not nil, is called after each reference with the start of the reference in buf.
	reference func(start int, ref Ref)
}

// entry is an entry of a dictionary: its key, its value, and the position of the value in the
// buffer.
type entry struct {
	key        Name
	value      Object
	start, end int
}

// syntaxError returns an error for text that is not an object.
func syntaxError(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{ErrDamaged}, args...)...)
}

// Parse returns the one object in src, which may have white space and comments around it. Parse
// does not read streams.
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
	p.needsMore = !p.final
	return 0, false
}

func (p *parser) next() (byte, bool) {
	c, ok := p.peek()
	if ok {
		p.pos++
	}
	return c, ok
}

// skipSpace skips white space and comments. A comment ends at the end of its line (7.2.4).
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

// keyword reads want if it is the next word, and reports whether it did.
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

// number reads a number or, if the number begins a reference, the reference.
func (p *parser) number() (Object, error) {
	start := p.pos
	word := p.word()
	if before, ok := bytes.CutSuffix(word, []byte("endobj")); ok { // some writers omit the space
		word, p.pos = before, p.pos-len("endobj")
	}
	if slices.ContainsFunc(word, func(c byte) bool { return !isNumeric(c) }) {
		return nil, syntaxError("%.16q is not a number", word)
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
		return nil, syntaxError("%.16q is not a number", word)
	}
	return Real(x), nil
}

// referenceTail reads the generation number and the R of a reference. If the two do not follow, it
// reads nothing.
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

// class is a character class (7.2.3).
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

// array reads an array (7.3.6).
func (p *parser) array() (Object, error) {
	a := Array{}
	_, err := p.eachItem(func(_ int, o Object) { a = append(a, o) })
	if err != nil {
		return nil, err
	}
	return a, nil
}

// eachItem reads an array and calls visit with each element and the position where the element
// begins. It returns the position of the closing bracket.
func (p *parser) eachItem(visit func(start int, o Object)) (closing int, err error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.leave()
	p.pos++
	for {
		p.skipSpace()
		if c, ok := p.peek(); ok && c == ']' {
			p.pos++
			return p.pos - 1, nil
		}
		start := p.pos
		o, err := p.item()
		if err != nil {
			return 0, err
		}
		visit(start, o)
	}
}

// angle reads an object that begins with "<": a dictionary or a hexadecimal string.
func (p *parser) angle() (Object, error) {
	p.pos++
	c, ok := p.peek()
	p.pos--
	if ok && c == '<' {
		return p.dict()
	}
	return p.hexadecimal()
}

// dict reads a dictionary. An entry whose value is null is equivalent to an absent entry (7.3.7).
func (p *parser) dict() (Object, error) {
	d, nothing := Dict{}, false
	_, err := p.eachEntry(func(e entry) {
		other, twice := d[e.key]
		p.duplicateKeys = p.duplicateKeys || twice && !reflect.DeepEqual(other, e.value)
		nothing = nothing || e.value == nil
		d[e.key] = e.value
	})
	if err != nil {
		return nil, err
	}
	if nothing {
		maps.DeleteFunc(d, func(_ Name, o Object) bool { return o == nil })
	}
	return d, nil
}

// eachEntry reads a dictionary and calls visit with its entries, in the order of the text. It
// returns the position of the closing brackets.
func (p *parser) eachEntry(visit func(entry)) (closing int, err error) {
	if err := p.enter(); err != nil {
		return 0, err
	}
	defer p.leave()
	p.pos += len("<<")
	for {
		p.skipSpace()
		switch c, ok := p.peek(); {
		case ok && c == '/':
		case ok && c == '>':
			return p.closeDict()
		default:
			return 0, syntaxError("dictionary: key expected")
		}
		e := entry{key: p.name()}
		p.skipSpace()
		e.start = p.pos
		if e.value, err = p.item(); err != nil {
			return 0, fmt.Errorf("/%.32s: %w", e.key, err)
		}
		e.end = p.pos
		visit(e)
	}
}

func (p *parser) closeDict() (closing int, err error) {
	p.pos++
	if c, ok := p.next(); !ok || c != '>' {
		return 0, syntaxError("dictionary: key or >> expected")
	}
	return p.pos - len(">>"), nil
}

// item reads an object inside an array or a dictionary.
func (p *parser) item() (Object, error) {
	if p.items++; p.items > maxItems {
		return nil, fmt.Errorf("%w: object of more than %d items", ErrLimit, maxItems)
	}
	return p.object()
}

func (p *parser) enter() error {
	if p.depth++; p.depth > maxDepth {
		return fmt.Errorf("%w: objects nested deeper than %d", ErrLimit, maxDepth)
	}
	return nil
}

func (p *parser) leave() { p.depth-- }
