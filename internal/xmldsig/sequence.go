package xmldsig

import (
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/internal/xmldoc"
)

// space is the white space of XML 1.0 (production 3).
const space = " \t\r\n"

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

// binaryOf is an element's text as base64 (XML Schema 3.2.16), in which white space says nothing.
func binaryOf(n xmldoc.Node) ([]byte, error) {
	text, err := textOf(n)
	if err != nil {
		return nil, err
	}
	octets, err := base64.StdEncoding.Strict().DecodeString(strings.Map(withoutSpace, text))
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
