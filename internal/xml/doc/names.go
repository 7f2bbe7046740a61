package doc

import (
	"errors"
	"strings"
)

// scope holds the namespace bindings at the parser's position and interns names. It looks up each
// name, prefix and namespace once for each occurrence. Afterwards they are compared as numbers.
type scope struct {
	tree             *tree
	written          []qualifiedName
	byText           map[string]int32
	prefixes         map[string]int32
	spaces           map[string]int32
	uris             []string       // of spaces
	bound            []int32        // per prefix, its space; none if it is not declared
	shadowedBindings []shadowed     // replaced bindings, innermost last
	names            map[use]int32  // to tree.names
	expanded         map[Name]int32 // to a number for each
	seen             []int32        // per expanded name, the last element with such an attribute
}

type shadowed struct{ prefix, space int32 }

// Numbers of the predefined prefixes and namespaces.
const (
	noPrefix, noSpace             = 0, 0
	prefixXML, spaceXML     int32 = 1, 1
	prefixXMLNS, spaceXMLNS int32 = 2, 2

	spaceTarget int32 = -2 // of the targets of processing instructions
)

var (
	errTooMany  = errors.New("too many names")
	errUnbound  = errors.New("an undeclared prefix")
	errReserved = errors.New("a declaration of a reserved prefix or namespace, or an empty namespace name for a prefix")
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

// declare binds a prefix by a namespace declaration with that name (Namespaces in XML 1.0 3).
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
	s.shadowedBindings = append(s.shadowedBindings, shadowed{prefix, s.bound[prefix]})
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

// restore restores the bindings of the time when shadowedBindings had that length.
func (s *scope) restore(length int) {
	for ; len(s.shadowedBindings) > length; s.shadowedBindings = s.shadowedBindings[:len(s.shadowedBindings)-1] {
		last := s.shadowedBindings[len(s.shadowedBindings)-1]
		s.bound[last.prefix] = last.space
	}
}

// qualifiedName is a name as written in the source, and the cached result of its last resolution.
type qualifiedName struct {
	text   string
	local  string // without the prefix
	prefix int32
	binds  int32 // the prefix that it declares as the name of an attribute, or none
	space  int32 // the namespace of the last resolution
	place  int32 // in tree.names, of the last resolution
}

// use is a written name with the namespace to which its prefix is bound.
type use struct{ written, space int32 }

// internName returns the number of a name as written. prefix is the length of its prefix, 0 for
// none.
func (s *scope) internName(text []byte, prefix int) (int32, error) {
	if i, ok := s.byText[string(text)]; ok {
		return i, nil
	}
	if len(s.written) == maxNames {
		return 0, errTooMany
	}
	w := qualifiedName{text: string(text), binds: none, space: none}
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

// element returns the index of an element's name in tree.names.
func (s *scope) element(written int32) (int32, error) {
	prefix := s.written[written].prefix
	if prefix == prefixXMLNS {
		return 0, errReserved
	}
	return s.place(written, s.bound[prefix])
}

// attribute returns the index of an attribute's name. Without a prefix it is in no namespace (6.2).
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

// target returns the index of the target of a processing instruction.
func (s *scope) target(text []byte) (int32, error) {
	written, err := s.internName(text, 0)
	if err != nil {
		return 0, err
	}
	return s.place(written, spaceTarget)
}

// place returns the index in tree.names of a name in a namespace. Usually it is the same as the
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

func (s *scope) name(w *qualifiedName, space int32) name {
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

// markSeen records that an element has an attribute with that expanded name, and reports whether it
// already had one.
func (s *scope) markSeen(place, element int32) bool {
	key := s.tree.names[place].expanded
	seen := s.seen[key] == element
	s.seen[key] = element
	return seen
}
