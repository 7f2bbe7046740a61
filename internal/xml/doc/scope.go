package doc

import "errors"

// scope knows what prefixes are bound to where the parser is, and gives names their places in the
// tree. Names, prefixes and namespaces are looked up once per occurrence and compared as numbers
// from there on.
type scope struct {
	tree     *tree
	written  []writtenName
	byText   map[string]int32
	prefixes map[string]int32
	spaces   map[string]int32
	uris     []string       // of spaces
	bound    []int32        // per prefix, its space; none where it is not declared
	undo     []shadowed     // what was bound before, innermost last
	names    map[use]int32  // to tree.names
	expanded map[Name]int32 // to a number for each
	seen     []int32        // per expanded name, the last element that has such an attribute
}

type shadowed struct{ prefix, space int32 }

// What is always there, and so has fixed numbers.
const (
	noPrefix, noSpace             = 0, 0
	prefixXML, spaceXML     int32 = 1, 1
	prefixXMLNS, spaceXMLNS int32 = 2, 2

	spaceTarget int32 = -2 // of targets of instructions, which are no names of elements
)

var (
	errTooMany  = errors.New("too many names")
	errUnbound  = errors.New("a prefix that is not declared")
	errReserved = errors.New("a declaration of what is reserved, or of no namespace for a prefix")
)

func newScope(t *tree) *scope {
	s := &scope{
		tree: t, byText: make(map[string]int32), prefixes: make(map[string]int32), spaces: make(map[string]int32),
		names: make(map[use]int32), expanded: make(map[Name]int32),
	}
	for i, fixed := range []struct{ prefix, space string }{{"", ""}, {"xml", xmlSpace}, {"xmlns", xmlnsSpace}} {
		s.prefixes[fixed.prefix], s.spaces[fixed.space] = int32(i), int32(i)
		s.uris, s.bound = append(s.uris, fixed.space), append(s.bound, int32(i))
	}
	return s
}

func (s *scope) prefix(text string) int32 {
	i, ok := s.prefixes[text]
	if !ok {
		i = int32(len(s.bound))
		s.prefixes[text] = i
		s.bound = append(s.bound, none)
	}
	return i
}

// declare binds what a declaration of that name binds (Namespaces in XML 1.0 3).
func (s *scope) declare(written int32, uri string) error {
	prefix := s.written[written].binds
	space, err := s.space(uri)
	switch {
	case err != nil:
		return err
	case prefix == prefixXMLNS, space == spaceXMLNS,
		(prefix == prefixXML) != (space == spaceXML),
		prefix != noPrefix && space == noSpace:
		return errReserved
	}
	s.undo = append(s.undo, shadowed{prefix, s.bound[prefix]})
	s.bound[prefix] = space
	return nil
}

func (s *scope) space(uri string) (int32, error) {
	if i, ok := s.spaces[uri]; ok {
		return i, nil
	}
	if len(s.uris) == maxNames {
		return 0, errTooMany
	}
	s.uris = append(s.uris, uri)
	s.spaces[uri] = int32(len(s.uris) - 1)
	return s.spaces[uri], nil
}

// leave goes back to what was bound when undo had that length.
func (s *scope) leave(length int) {
	for ; len(s.undo) > length; s.undo = s.undo[:len(s.undo)-1] {
		last := s.undo[len(s.undo)-1]
		s.bound[last.prefix] = last.space
	}
}
