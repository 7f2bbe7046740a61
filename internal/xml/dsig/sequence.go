package dsig

import (
	"encoding/base64"
	"fmt"
	"strings"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

const space = xmldoc.Space

// maxOctets bounds a digest, a value or a certificate in bytes.
const maxOctets = 1 << 20

// sequence is the elements in an element, which are taken in the order of the schema. The first that is
// not as the schema has it ends the reading.
type sequence struct {
	name string // of the element that they are in
	rest []xmldoc.Node
	err  error
}

// sequenceOf is what stands in an element that has no text of its own. Comments and instructions say
// nothing.
func sequenceOf(n xmldoc.Node) *sequence {
	s := &sequence{name: n.Name().Local}
	for child := range n.Children() {
		switch child.Kind() {
		case xmldoc.Element:
			s.rest = append(s.rest, child)
		case xmldoc.Text:
			if strings.Trim(child.Text(), space) != "" {
				s.fail("text")
			}
		}
	}
	return s
}

// maybe takes an element that may be missing; it is zero then.
func (s *sequence) maybe(namespace, local string) (n xmldoc.Node) {
	if s.err == nil && len(s.rest) > 0 && s.rest[0].Is(namespace, local) {
		n, s.rest = s.rest[0], s.rest[1:]
	}
	return n
}

// one takes an element of XML Signature that has to be there.
func (s *sequence) one(local string) xmldoc.Node {
	n := s.maybe(Namespace, local)
	if n == (xmldoc.Node{}) {
		s.fail("no " + local + " where it belongs")
	}
	return n
}

// some takes as many elements of XML Signature as there are, and fails beyond a number of them.
func (s *sequence) some(local string, limit int) []xmldoc.Node {
	n := 0
	for n < len(s.rest) && s.rest[n].Is(Namespace, local) {
		n++
	}
	if s.err == nil && n > limit {
		s.err = fmt.Errorf("%w: %d %s elements in %s", ErrLimit, n, local, s.name)
	}
	if s.err != nil {
		return nil
	}
	taken := s.rest[:n:n]
	s.rest = s.rest[n:]
	return taken
}

// end says whether everything was as expected, and nothing is left.
func (s *sequence) end() error {
	if len(s.rest) > 0 {
		s.fail("an element that does not belong there")
	}
	return s.err
}

func (s *sequence) fail(what string) {
	if s.err == nil {
		s.err = fmt.Errorf("%w: %s in %s", ErrFormat, what, s.name)
	}
}

// textOf is the text of an element that has nothing else. All of it: who takes the part before a comment
// for the whole reads something else than was signed.
func textOf(n xmldoc.Node) (string, error) {
	for range n.Elements() {
		return "", fmt.Errorf("%w: an element in the text of %s", ErrFormat, n.Name().Local)
	}
	return n.Text(), nil
}

func binaryOf(n xmldoc.Node) ([]byte, error) { return Binary(n, maxOctets) }

// Binary is what the text of an element is the base64 of (XML Schema Part 2 3.2.16): white space in it says
// nothing, and bits behind the last octet are zero. [ErrFormat] for anything else, and [ErrLimit] beyond a number
// of octets.
func Binary(n xmldoc.Node, limit int) ([]byte, error) {
	text, err := textOf(n)
	if err != nil {
		return nil, err
	}
	text = strings.Map(withoutSpace, text)
	if octets := len(strings.TrimRight(text, "=")) * 3 / 4; octets > limit {
		return nil, fmt.Errorf("%w: octets in %s", ErrLimit, n.Name().Local)
	}
	octets, err := base64.StdEncoding.Strict().DecodeString(text)
	if err != nil {
		return nil, fmt.Errorf("%w: base64 in %s", ErrFormat, n.Name().Local)
	}
	return octets, nil
}

func withoutSpace(r rune) rune {
	if strings.ContainsRune(space, r) {
		return -1
	}
	return r
}
