package doc

import "bytes"

// ValuePrefix returns a prefix that a value of a part of the document uses, such as the p of
// type="p:name", while the exclusive canonical form of the part does not have the namespace to which
// it is bound there. Exclusive XML Canonicalization keeps a declaration only if a name of an element
// or an attribute uses its prefix, or if its PrefixList has it (sections 1.3 and 3). found is false if
// there is no such prefix.
//
// The default namespace, which values without a prefix may use, is not looked at.
func (d *Document) ValuePrefix(s Subset, prefixList []string) (prefix string, found bool) {
	apex := s.Apex
	if apex == (Node{}) {
		apex = d.Root()
	}
	b := bindings{Document: d, of: make([]binding, len(d.tree.bound.prefixTexts)), listed: d.tree.bound.prefixSet(prefixList)}
	for around := apex.Parent(); around != (Node{}); around = around.Parent() {
		b.declareAround(around.index)
	}
	return b.nodes(s)
}

// nodes looks at the values of a part of the document.
func (b *bindings) nodes(s Subset) (prefix string, found bool) {
	first, end := b.nodesOf(s)
	out := b.exclusionOf(s)
	for i := first; i < end && !found; {
		n := b.tree.nodes.at(i)
		for len(b.open) > 0 && b.open[len(b.open)-1].end <= n.start {
			b.leave()
		}
		next := i + 1
		switch {
		case n.kind != Element:
		case out.excludes(i, n):
			next = b.tree.next(i)
		default:
			prefix, found = b.enter(i, n)
		}
		i = next
	}
	return prefix, found
}

// binding is whether a prefix is declared, and whether the canonical form has its namespace.
type binding uint8

const (
	undeclared binding = iota
	unwritten
	written
)

// bindings are the prefixes that are declared at a position of a document.
type bindings struct {
	*Document
	of        []binding // by prefix
	unwritten int       // how many of these are unwritten
	listed    []bool    // by prefix, whether it is in the PrefixList
	shadowed  []shadowedBinding
	open      []openBindings
	word      []byte
}

// shadowedBinding is a binding before an element changed it.
type shadowedBinding struct {
	prefix int32
	was    binding
}

// openBindings is an element that the position is in and that changed bindings.
type openBindings struct {
	end      uint32
	shadowed int // the length of bindings.shadowed before it
}

// set changes a binding until leave.
func (b *bindings) set(prefix int32, to binding) {
	b.shadowed = append(b.shadowed, shadowedBinding{prefix, b.of[prefix]})
	b.put(prefix, to)
}

func (b *bindings) put(prefix int32, to binding) {
	if b.of[prefix] == unwritten {
		b.unwritten--
	}
	if b.of[prefix] = to; to == unwritten {
		b.unwritten++
	}
}

// declared returns the binding of a prefix that is declared.
func (b *bindings) declared(prefix int32) binding {
	if b.listed[prefix] {
		return written
	}
	return unwritten
}

// declareAround adds the declarations of an element around the apex, in which those further inside
// come first.
func (b *bindings) declareAround(i int32) {
	for j, end := b.tree.attributesOf(i); j < end; j++ {
		name := &b.tree.names[*b.tree.attributes.at(j)]
		if name.kind == declarationName && name.local != "" && b.of[name.binds] == undeclared {
			b.put(name.binds, b.declared(name.binds))
		}
	}
}

// enter adds what the tag of an element declares and uses, and returns a prefix that one of its
// values, or of the texts that are its children, uses.
func (b *bindings) enter(i int32, n *node) (prefix string, found bool) {
	before := len(b.shadowed)
	simple := n.is&simpleTag != 0
	first, end := b.tree.attributesOf(i)
	for j := first; j < end && !simple; j++ {
		if name := &b.tree.names[*b.tree.attributes.at(j)]; name.kind == declarationName && name.local != "" {
			b.set(name.binds, b.declared(name.binds))
		}
	}
	b.use(b.tree.names[n.name].prefixNumber)
	for j := first; j < end && !simple; j++ {
		b.use(b.tree.names[*b.tree.attributes.at(j)].prefixNumber)
	}
	if len(b.shadowed) > before {
		b.open = append(b.open, openBindings{n.end, before})
	}
	if b.unwritten == 0 {
		return "", false
	}
	t := b.tagOf(i)
	for a, ok := t.attribute(); ok && !found; a, ok = t.attribute() {
		if b.tree.names[a.name].kind != declarationName {
			prefix, found = b.find(b.text[a.start:a.end], true)
		}
	}
	for child := range (Node{doc: b.Document, index: i}).Children() {
		if !found && child.Kind() == Text {
			prefix, found = b.find(child.characters().raw, false)
		}
	}
	return prefix, found
}

// use has the canonical form write the namespace of a prefix at the innermost open element.
func (b *bindings) use(prefix int32) {
	if b.of[prefix] == unwritten {
		b.set(prefix, written)
	}
}

// leave removes what the innermost open element has changed.
func (b *bindings) leave() {
	last := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	for len(b.shadowed) > last.shadowed {
		was := b.shadowed[len(b.shadowed)-1]
		b.shadowed = b.shadowed[:len(b.shadowed)-1]
		b.put(was.prefix, was.was)
	}
}

// find returns a prefix in a value whose namespace the canonical form does not have.
func (b *bindings) find(raw []byte, attribute bool) (prefix string, found bool) {
	if b.unwritten == 0 || bytes.IndexByte(raw, ':') < 0 && bytes.IndexByte(raw, '&') < 0 {
		return "", false
	}
	b.word = b.word[:0]
	c := characters{raw: raw, attribute: attribute}
	for piece, ok := c.next(); ok; piece, ok = c.next() {
		for _, char := range piece {
			switch {
			case char == ':':
				if number, known := b.tree.bound.prefixes[string(b.word)]; known && b.of[number] == unwritten {
					return string(b.word), true
				}
				b.word = b.word[:0]
			case endsWord(char):
				b.word = b.word[:0]
			default:
				b.word = append(b.word, char)
			}
		}
	}
	return "", false
}

// endsWord reports whether a byte of UTF-8 cannot be in a prefix.
func endsWord(b byte) bool {
	switch {
	case b >= 'a' && b <= 'z', b >= 'A' && b <= 'Z', b >= '0' && b <= '9', b == '_', b == '-', b == '.', b >= 0x80:
		return false
	}
	return true
}
