package doc

import (
	"encoding/binary"
	"errors"
	"strings"
)

// scope holds the namespace bindings at the parser's position and interns names. It looks up each
// name, prefix and namespace once for each occurrence. Afterwards they are compared as numbers.
type scope struct {
	tree             *tree
	written          []qualifiedName
	byText           map[string]int32
	recent           [recentNames]int32 // numbers of written names that were looked up before, by their hash
	bound            []int32            // per prefix, its space; none if it is not declared
	shadowedBindings []shadowed         // replaced bindings, innermost last
	names            map[use]int32      // to tree.names
	expanded         map[Name]int32     // to a number for each
	seen             []int32            // per expanded name, the last element with such an attribute
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
	t.bound = names{prefixes: make(map[string]int32), spaces: make(map[string]int32)}
	s := &scope{tree: t, byText: make(map[string]int32), names: make(map[use]int32), expanded: make(map[Name]int32)}
	for i, fixed := range []struct{ prefix, space string }{{"", ""}, {"xml", xmlSpace}, {"xmlns", xmlnsSpace}} {
		s.bound[s.prefix(fixed.prefix)] = int32(i)
		t.bound.spaces[fixed.space], t.bound.uris = int32(i), append(t.bound.uris, fixed.space)
	}
	return s
}

func (s *scope) prefix(text string) int32 {
	known := &s.tree.bound
	i, ok := known.prefixes[text]
	if !ok {
		i = int32(len(s.bound))
		known.prefixes[text], known.prefixTexts = i, append(known.prefixTexts, text)
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
	known := &s.tree.bound
	i, ok := known.spaces[uri]
	switch {
	case ok:
		return i, nil
	case len(known.uris) == maxNames:
		return 0, errTooMany
	}
	i = int32(len(known.uris))
	known.spaces[uri], known.uris = i, append(known.uris, uri)
	return i, nil
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
	recent := &s.recent[recentName(text)]
	if i := *recent; int(i) < len(s.written) && s.written[i].text == string(text) {
		return i, nil
	}
	if i, ok := s.byText[string(text)]; ok {
		*recent = i
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

// recentNames is the size of the table of names that were looked up before.
const recentNames = 256

// recentName returns the place of a name, which has at least one byte, in the table of names that were
// looked up before: a hash of its first and last bytes.
func recentName(text []byte) uint8 {
	n := len(text)
	word := uint32(text[0])<<8 | uint32(text[n-1])
	if n >= 4 {
		word = binary.LittleEndian.Uint32(text[n-4:]) ^ uint32(text[0])<<8
	}
	return uint8((word ^ uint32(n)<<16) * 0x9E3779B1 >> 24)
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
	n := name{local: w.local, space: s.tree.bound.uris[space], prefixNumber: w.prefix, spaceNumber: space, binds: w.binds}
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
