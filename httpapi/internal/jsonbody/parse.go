package jsonbody

import "io"

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
	content // a string that went to the sink
)

// value is one value of a body. The text of a number is as it was written, that
// of a string is decoded, that of a boolean is "true" or "false".
type value struct {
	kind     kind
	text     string
	elements []*value
	members  map[string]*value
}

// parser builds the values of one body.
type parser struct {
	lexer
	faults    faults
	content   []string // the path of the content
	sink      func(io.Reader) error
	maxDepth  int
	maxValues int
	values    int
	path      []step // from the body to the value being read; its length is the depth
}

// document reads the body: one object and nothing after it.
func (p *parser) document() (*value, error) {
	first, err := p.token()
	if err != nil {
		return nil, err
	}
	if first != '{' {
		return nil, bodyError("The body must be one JSON object.")
	}
	v, err := p.value()
	if err != nil {
		return nil, err
	}
	ended, err := p.atEnd()
	if err == nil && !ended {
		err = bodyError("The body must be one JSON object and nothing after it.")
	}
	return v, err
}

func (p *parser) value() (*value, error) {
	if p.values++; p.values > p.maxValues {
		return nil, bodyError("The body has too many values.")
	}
	first, err := p.token()
	if err != nil {
		return nil, err
	}
	switch first {
	case '{':
		return p.object()
	case '[':
		return p.array()
	case '"':
		s, err := p.text()
		return &value{kind: text, text: s}, err
	case 't':
		return p.literal("true", boolean)
	case 'f':
		return p.literal("false", boolean)
	case 'n':
		return p.literal("null", null)
	}
	return p.numeral(first)
}

func (p *parser) numeral(first byte) (*value, error) {
	if first != '-' && (first < '0' || first > '9') {
		return nil, unexpected(p.offset)
	}
	s, err := p.number()
	return &value{kind: number, text: s}, err
}

func (p *parser) literal(word string, k kind) (*value, error) {
	at := p.offset
	b, err := p.take(len(word))
	if err != nil {
		return nil, err
	}
	if string(b) != word {
		return nil, unexpected(at)
	}
	return &value{kind: k, text: word}, nil
}

func (p *parser) object() (*value, error) {
	v := &value{kind: object, members: map[string]*value{}}
	return v, p.list('}', func() error { return p.member(v.members) })
}

func (p *parser) array() (*value, error) {
	v := &value{kind: array}
	return v, p.list(']', func() error {
		element, err := p.inside(step{index: len(v.elements)}, p.value)
		v.elements = append(v.elements, element)
		return err
	})
}

// list reads an object or an array: items with commas between them.
func (p *parser) list(closing byte, item func() error) error {
	if len(p.path) >= p.maxDepth {
		return bodyError("The body is nested too deeply.")
	}
	if err := p.advance(1); err != nil {
		return err
	}
	next, err := p.token()
	for err == nil && next != closing {
		next, err = p.item(closing, item)
	}
	if err != nil {
		return err
	}
	return p.advance(1)
}

// item reads one item and the comma after it, and shows what follows: after a
// comma, never the closing bracket.
func (p *parser) item(closing byte, item func() error) (next byte, err error) {
	if err := item(); err != nil {
		return 0, err
	}
	if next, err = p.token(); err != nil || next == closing {
		return next, err
	}
	if err := p.expect(','); err != nil {
		return 0, err
	}
	if next, err = p.token(); err == nil && next == closing {
		err = unexpected(p.offset)
	}
	return next, err
}

// member reads one member. A repeated name is refused before its value is read,
// so the content reaches the sink once.
func (p *parser) member(members map[string]*value) error {
	name, err := p.text()
	if err != nil {
		return err
	}
	if _, repeated := members[name]; repeated {
		return &SyntaxError{Path: p.pathTo(name), Message: "This member appears more than once."}
	}
	if err := p.expect(':'); err != nil {
		return err
	}
	members[name], err = p.inside(step{name: name, index: -1}, p.memberValue)
	return err
}

func (p *parser) memberValue() (*value, error) {
	if p.atContent() {
		return p.contentValue()
	}
	return p.value()
}
