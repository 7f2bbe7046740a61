package doc

import (
	"iter"
	"strings"
)

// Kind says what the node is; 0 for none.
func (n Node) Kind() Kind {
	if n.doc == nil {
		return 0
	}
	switch name := n.entry().name; {
	case name == runName:
		return Text
	case name == commentName:
		return Comment
	case n.doc.tree.names[name].kind == instructionName:
		return Instruction
	}
	return Element
}

func (n Node) entry() *node { return n.doc.tree.nodes.at(n.index) }

// name is what the node has for a name; nothing for what has none.
func (n Node) name() name {
	if n.doc == nil || n.entry().name < 0 {
		return name{}
	}
	return n.doc.tree.names[n.entry().name]
}

// Is says whether the node is an element of that name.
func (n Node) Is(space, local string) bool {
	m := n.name()
	return m.local == local && m.space == space && n.Kind() == Element
}

// Name is the expanded name of an element, or the target of an instruction.
func (n Node) Name() Name {
	m := n.name()
	return Name{Space: m.space, Local: m.local}
}

// Prefix is that of an element's name; "" for none.
func (n Node) Prefix() string { return n.name().prefix }

// Attr is the value of an element's attribute, normalized. Namespace declarations are none.
func (n Node) Attr(space, local string) (value string, ok bool) {
	for name, a := range n.attributes() {
		if name.local == local && name.space == space && name.kind != declarationName {
			return n.doc.value(a), true
		}
	}
	return "", false
}

// Attributes are all of an element's, in the order of the source.
func (n Node) Attributes() iter.Seq2[Name, string] {
	return func(yield func(Name, string) bool) {
		for name, a := range n.attributes() {
			if name.kind == declarationName {
				continue
			}
			if !yield(Name{Space: name.space, Local: name.local}, n.doc.value(a)) {
				return
			}
		}
	}
}

// attributes are an element's attributes and namespace declarations, as they stand in the tree.
func (n Node) attributes() iter.Seq2[*name, *attribute] {
	return func(yield func(*name, *attribute) bool) {
		if n.doc == nil {
			return
		}
		t := &n.doc.tree
		for i, end := t.attributesOf(n.index); i < end; i++ {
			a := t.attributes.at(i)
			if !yield(&t.names[a.name], a) {
				return
			}
		}
	}
}

// Namespace is what a prefix is bound to where an element stands; "" is the default namespace.
func (n Node) Namespace(prefix string) (uri string, bound bool) {
	switch prefix {
	case "xml":
		return xmlSpace, true
	case "xmlns":
		return xmlnsSpace, true
	}
	for ; n.doc != nil; n = n.Parent() {
		if uri, declared := n.Declares(prefix); declared {
			return uri, uri != ""
		}
	}
	return "", false
}

// Declares is what an element itself binds a prefix to; "" takes the default namespace back.
func (n Node) Declares(prefix string) (uri string, declared bool) {
	for name, a := range n.attributes() {
		if name.kind == declarationName && name.local == prefix {
			return n.doc.value(a), true
		}
	}
	return "", false
}

// Width is how many attributes and namespace declarations an element has: what looking for one takes.
func (n Node) Width() int {
	if n.doc == nil {
		return 0
	}
	first, end := n.doc.tree.attributesOf(n.index)
	return int(end - first)
}

// Text is all character data in a node, in document order, with comments and instructions left
// out.
func (n Node) Text() string {
	switch n.Kind() {
	case Text:
		return n.doc.run(n.index)
	case Element:
		return n.content()
	}
	return ""
}

// Pieces are what Text is of a run of character data, without a copy of it: each holds until the next one,
// and is not to change.
func (n Node) Pieces() iter.Seq[[]byte] {
	return func(yield func([]byte) bool) {
		if n.Kind() != Text {
			return
		}
		e := n.entry()
		c := characters{raw: n.doc.text[e.start:e.end]}
		for piece, ok := c.next(); ok && yield(piece); piece, ok = c.next() {
		}
	}
}

// content copies nothing twice: most elements have one run in them, or none.
func (n Node) content() string {
	var b strings.Builder
	for child := range only(n.inside(), Text) {
		if child.index == n.index+1 && child.index+1 == n.entry().next {
			return n.doc.run(child.index)
		}
		e := child.entry()
		c := characters{raw: n.doc.text[e.start:e.end]}
		c.writeTo(&b)
	}
	return b.String()
}
