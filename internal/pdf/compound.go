package pdf

import (
	"fmt"
	"maps"
	"reflect"
)

// array reads an array (7.3.6).
func (p *parser) array() (Object, error) {
	a := Array{}
	_, err := p.eachItem(func(_ int, o Object) { a = append(a, o) })
	if err != nil {
		return nil, err
	}
	return a, nil
}

// eachItem reads an array, calls visit with each element and where it begins, and
// returns where the closing bracket stands.
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

// angle reads what "<" begins: a dictionary or a hexadecimal string.
func (p *parser) angle() (Object, error) {
	p.pos++
	c, ok := p.peek()
	p.pos--
	if ok && c == '<' {
		return p.dict()
	}
	return p.hexadecimal()
}

// dict reads a dictionary. An entry whose value is null is none (7.3.7).
func (p *parser) dict() (Object, error) {
	d, nothing := Dict{}, false
	_, err := p.eachEntry(func(e entry) {
		other, twice := d[e.key]
		p.doubled = p.doubled || twice && !reflect.DeepEqual(other, e.value)
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

// entry is a key with its value, and where the value stands in the window.
type entry struct {
	key        Name
	value      Object
	start, end int
}

// eachEntry reads a dictionary, calls visit with its entries in their order, and
// returns where the closing brackets stand.
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

// item reads an object inside of another one.
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
