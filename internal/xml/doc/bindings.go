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
	apex, first, end := s.Apex, int32(0), d.tree.nodes.length
	if apex == (Node{}) {
		apex = d.Root()
	} else {
		first, end = apex.index, apex.entry().next
	}
	b := bindings{Document: d, written: make(map[string]bool), listed: make(map[string]bool)}
	for _, p := range prefixList {
		b.listed[p] = true
	}
	for around := apex.Parent(); around != (Node{}); around = around.Parent() {
		b.declareAround(around.index)
	}
	for i := first; i < end; {
		n := d.tree.nodes.at(i)
		for len(b.open) > 0 && b.open[len(b.open)-1].next <= i {
			b.leave()
		}
		switch {
		case n.name == runName:
			prefix, found = b.find(d.text[n.start:n.end], false)
		case n.name < 0 || d.tree.names[n.name].kind == instructionName:
		case s.Without != nil && s.Without(Node{d, i}):
			i = n.next
			continue
		default:
			prefix, found = b.enter(i, n)
		}
		if found {
			return prefix, true
		}
		i++
	}
	return "", false
}

// bindings are the prefixes that are declared at a position of a document.
type bindings struct {
	*Document
	written   map[string]bool // by prefix, whether the canonical form has its namespace here
	unwritten int             // how many of these are false
	listed    map[string]bool // the PrefixList
	shadowed  []shadowedBinding
	open      []openBindings
	word      []byte
}

// shadowedBinding is a binding before an element changed it.
type shadowedBinding struct {
	prefix            string
	declared, written bool
}

// openBindings is an element that the position is in.
type openBindings struct {
	next     int32 // the node after its content
	shadowed int   // the length of bindings.shadowed before it
}

// set changes a binding until leave.
func (b *bindings) set(prefix string, written bool) {
	was, declared := b.written[prefix]
	b.shadowed = append(b.shadowed, shadowedBinding{prefix, declared, was})
	b.put(prefix, written)
}

func (b *bindings) put(prefix string, written bool) {
	b.remove(prefix)
	b.written[prefix] = written
	if !written {
		b.unwritten++
	}
}

func (b *bindings) remove(prefix string) {
	if written, declared := b.written[prefix]; declared && !written {
		b.unwritten--
	}
	delete(b.written, prefix)
}

// declareAround adds the declarations of an element around the apex, in which those further inside
// come first.
func (b *bindings) declareAround(i int32) {
	for j, end := b.tree.attributesOf(i); j < end; j++ {
		name := &b.tree.names[b.tree.attributes.at(j).name]
		if name.kind != declarationName || name.local == "" {
			continue
		}
		if _, declared := b.written[name.local]; !declared {
			b.put(name.local, b.listed[name.local])
		}
	}
}

// enter adds what the tag of an element declares and uses, and returns a prefix that one of its
// values uses.
func (b *bindings) enter(i int32, n *node) (prefix string, found bool) {
	b.open = append(b.open, openBindings{n.next, len(b.shadowed)})
	first, end := b.tree.attributesOf(i)
	for j := first; j < end; j++ {
		if name := &b.tree.names[b.tree.attributes.at(j).name]; name.kind == declarationName && name.local != "" {
			b.set(name.local, b.listed[name.local])
		}
	}
	b.use(b.tree.names[n.name].prefix)
	for j := first; j < end; j++ {
		b.use(b.tree.names[b.tree.attributes.at(j).name].prefix)
	}
	for j := first; j < end && !found; j++ {
		if a := b.tree.attributes.at(j); b.tree.names[a.name].kind != declarationName {
			prefix, found = b.find(b.text[a.start:a.end], true)
		}
	}
	return prefix, found
}

// use has the canonical form write the namespace of a prefix at the innermost open element.
func (b *bindings) use(prefix string) {
	if written, declared := b.written[prefix]; declared && !written {
		b.set(prefix, true)
	}
}

// leave removes what the innermost open element has changed.
func (b *bindings) leave() {
	last := b.open[len(b.open)-1]
	b.open = b.open[:len(b.open)-1]
	for len(b.shadowed) > last.shadowed {
		was := b.shadowed[len(b.shadowed)-1]
		b.shadowed = b.shadowed[:len(b.shadowed)-1]
		if was.declared {
			b.put(was.prefix, was.written)
		} else {
			b.remove(was.prefix)
		}
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
				if written, declared := b.written[string(b.word)]; declared && !written {
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
