package jsonbody

import (
	"io"
	"strconv"
	"strings"
)

type kind uint8

const (
	null kind = iota
	boolean
	number
	text
	array
	object
	content // the string that was passed to the sink
)

// value is one value of a body. The text of a number is unconverted, that of a string is decoded, and that of a
// boolean is "true" or "false".
type value struct {
	kind     kind
	text     string
	elements []*value
	members  map[string]*value
}

// parser parses one body.
type parser struct {
	lexer
	faults    faults
	content   []string // the path of the content
	sink      func(io.Reader) error
	maxDepth  int
	maxValues int
	values    int
	path      []step // from the body to the current value; its length is the depth
}

// body parses the body: one object and nothing after it.
func (p *parser) body() (*value, error) {
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

// list parses an object or an array: items with commas between them.
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

// item parses one item and the comma after it, and returns the next byte. It refuses a closing bracket after a comma.
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

// member parses one member. It refuses a repeated name before it reads the value, so that the sink is called once.
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

// step is an element of a path: a member of an object or an element of an array.
type step struct {
	name  string // empty for an element
	index int    // -1 for a member
}

// inside calls read with the step added to the path.
func (p *parser) inside(s step, read func() (*value, error)) (*value, error) {
	p.path = append(p.path, s)
	v, err := read()
	p.path = p.path[:len(p.path)-1]
	return v, err
}

// atContent reports whether the current value is the content. It compares step by step, since a name with a dot is
// not a path.
func (p *parser) atContent() bool {
	if len(p.path) != len(p.content) {
		return false
	}
	for i, s := range p.path {
		if s.name != p.content[i] {
			return false
		}
	}
	return true
}

// pathTo returns the path of a member of the current object. The path ends before a name that is not a short word,
// so that text of the client is not repeated in errors.
func (p *parser) pathTo(name string) string {
	path := ""
	for _, s := range append(p.path[:len(p.path):len(p.path)], step{name: name, index: -1}) {
		switch {
		case s.index >= 0:
			path += "[" + strconv.Itoa(s.index) + "]"
		case isPlainWord(s.name):
			path = join(path, s.name)
		default:
			return orBody(path)
		}
	}
	return path
}

func isPlainWord(name string) bool {
	const maxLen = 64
	return name != "" && len(name) <= maxLen && strings.IndexFunc(name, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '_' || r == '-')
	}) < 0
}

func join(path, name string) string {
	if path == "" {
		return name
	}
	return path + "." + name
}

func orBody(path string) string {
	if path == "" {
		return wholeBody
	}
	return path
}
