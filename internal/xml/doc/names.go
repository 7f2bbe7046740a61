package doc

import (
	"errors"
	"strings"
)

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

// writtenName is a name as it stands in the source, whatever its prefix means there.
type writtenName struct {
	text   string
	local  string // without the prefix
	prefix int32
	binds  int32 // the prefix that it declares as the name of an attribute, or none
	space  int32 // that it was in the last time
	place  int32 // in tree.names, that time
}

// use is a written name with the namespace that it is in somewhere.
type use struct{ written, space int32 }

// intern is the number of a name as it is written, of which prefix bytes are before the colon; 0
// where it has none.
func (s *scope) intern(text []byte, prefix int) (int32, error) {
	if i, ok := s.byText[string(text)]; ok {
		return i, nil
	}
	if len(s.written) == maxNames {
		return 0, errTooMany
	}
	w := writtenName{text: string(text), binds: none, space: none}
	if w.local = w.text; prefix > 0 {
		w.local = w.text[prefix+1:]
	}
	w.prefix = s.prefix(w.text[:prefix])
	switch {
	case w.prefix == prefixXMLNS:
		w.binds = s.prefix(w.local)
	case w.text == "xmlns":
		w.binds = noPrefix
	}
	s.written = append(s.written, w)
	s.byText[w.text] = int32(len(s.written) - 1)
	return s.byText[w.text], nil
}

// element is the place of an element's name.
func (s *scope) element(written int32) (int32, error) {
	prefix := s.written[written].prefix
	if prefix == prefixXMLNS {
		return 0, errReserved
	}
	return s.place(written, s.bound[prefix])
}

// attribute is that of an attribute's: without a prefix it is in no namespace (6.2).
func (s *scope) attribute(written int32) (int32, error) {
	w := &s.written[written]
	switch {
	case w.binds != none:
		return s.place(written, spaceXMLNS)
	case w.prefix == noPrefix:
		return s.place(written, noSpace)
	}
	return s.place(written, s.bound[w.prefix])
}

// target is that of an instruction's target.
func (s *scope) target(text []byte) (int32, error) {
	written, err := s.intern(text, 0)
	if err != nil {
		return 0, err
	}
	return s.place(written, spaceTarget)
}

// place is the place in tree.names of a name in a namespace. Mostly it is the one that it had the
// last time.
func (s *scope) place(written, space int32) (int32, error) {
	w := &s.written[written]
	if w.space == space && space != none {
		return w.place, nil
	}
	if space == none {
		return 0, errUnbound
	}
	place, ok := s.names[use{written, space}]
	if !ok {
		if len(s.tree.names) == maxNames {
			return 0, errTooMany
		}
		place = int32(len(s.tree.names))
		s.tree.names = append(s.tree.names, s.name(w, space))
		s.names[use{written, space}] = place
	}
	w.space, w.place = space, place
	return place, nil
}

func (s *scope) name(w *writtenName, space int32) name {
	if space == spaceTarget {
		return name{local: w.local, kind: instructionName}
	}
	n := name{local: w.local, space: s.uris[space]}
	if prefix, _, found := strings.Cut(w.text, ":"); found {
		n.prefix = prefix
	}
	switch {
	case space == spaceXMLNS && w.binds == noPrefix:
		n.kind, n.local = declarationName, ""
	case space == spaceXMLNS:
		n.kind = declarationName
	case identifies(n.space, n.local):
		n.kind = identifierName
	}
	n.expanded = s.expand(Name{Space: n.space, Local: n.local})
	return n
}

func (s *scope) expand(n Name) int32 {
	i, ok := s.expanded[n]
	if !ok {
		i = int32(len(s.seen))
		s.expanded[n] = i
		s.seen = append(s.seen, none)
	}
	return i
}

// seenIn says whether an element has an attribute of that expanded name already, and notes it.
func (s *scope) seenIn(place, element int32) bool {
	key := s.tree.names[place].expanded
	seen := s.seen[key] == element
	s.seen[key] = element
	return seen
}
