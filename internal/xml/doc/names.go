package doc

import "strings"

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
