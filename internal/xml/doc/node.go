package doc

import (
	"bytes"
	"iter"
	"sort"
	"strings"
)

// Kind returns the kind of the node; 0 for no node.
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

// name returns the name of the node, or a zero name if it has none.
func (n Node) name() name {
	if n.doc == nil || n.entry().name < 0 {
		return name{}
	}
	return n.doc.tree.names[n.entry().name]
}

// Is reports whether the node is an element with that name.
func (n Node) Is(space, local string) bool {
	m := n.name()
	return m.local == local && m.space == space && n.Kind() == Element
}

// Name returns the expanded name of an element, or the target of a processing instruction.
func (n Node) Name() Name {
	m := n.name()
	return Name{Space: m.space, Local: m.local}
}

// Prefix returns the prefix of an element's name; "" for none.
func (n Node) Prefix() string { return n.name().prefix }

// Attr returns the normalized value of an element's attribute. Namespace declarations are not
// attributes.
func (n Node) Attr(space, local string) (value string, ok bool) {
	for name, a := range n.attributes() {
		if name.local == local && name.space == space && name.kind != declarationName {
			return n.doc.value(a), true
		}
	}
	return "", false
}

// Attributes returns all attributes of an element in the order of the source.
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

// attributes returns an element's attributes and namespace declarations as they are in the tree.
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

// Namespace returns the namespace to which a prefix is bound at an element. The prefix "" stands
// for the default namespace.
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

// Declares returns the namespace to which an element itself binds a prefix. The namespace ""
// undeclares the default namespace.
func (n Node) Declares(prefix string) (uri string, declared bool) {
	for name, a := range n.attributes() {
		if name.kind == declarationName && name.local == prefix {
			return n.doc.value(a), true
		}
	}
	return "", false
}

// AttributeCount returns how many attributes and namespace declarations an element has, which is the work of
// searching one of them.
func (n Node) AttributeCount() int {
	if n.doc == nil {
		return 0
	}
	first, end := n.doc.tree.attributesOf(n.index)
	return int(end - first)
}

// Text returns all character data in a node in document order, without comments and processing
// instructions.
func (n Node) Text() string {
	switch n.Kind() {
	case Text:
		return n.doc.run(n.index)
	case Element:
		return n.content()
	}
	return ""
}

// Pieces returns the Text of a text node in pieces, without copying it. A piece is valid until the
// next one, and must not be modified.
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

// content copies the text only once: most elements contain one text node, or none.
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

// Parent returns the parent element of a node; zero for the root and for nodes outside of it.
func (n Node) Parent() Node {
	if n.doc == nil || n.entry().parent == none {
		return Node{}
	}
	return Node{n.doc, n.entry().parent}
}

// Children returns the child nodes of an element.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.doc == nil {
			return
		}
		for i := n.index + 1; i < n.entry().next; i = n.doc.tree.nodes.at(i).next {
			if !yield(Node{n.doc, i}) {
				return
			}
		}
	}
}

// Elements returns the child elements of an element.
func (n Node) Elements() iter.Seq[Node] { return only(n.Children(), Element) }

// Descendants returns the descendant elements of an element in document order.
func (n Node) Descendants() iter.Seq[Node] { return only(n.inside(), Element) }

// inside returns all descendant nodes of an element in document order.
func (n Node) inside() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.doc == nil {
			return
		}
		for i := n.index + 1; i < n.entry().next; i++ {
			if !yield(Node{n.doc, i}) {
				return
			}
		}
	}
}

func only(nodes iter.Seq[Node], kind Kind) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for n := range nodes {
			if n.Kind() == kind && !yield(n) {
				return
			}
		}
	}
}

// Inherits reports whether an element or its content uses a prefix that is bound outside the
// element.
func (n Node) Inherits(prefix string) bool {
	if n.doc == nil {
		return false
	}
	for i, end := n.index, n.entry().next; i < end; {
		at := Node{n.doc, i}
		uses, binds := at.has(prefix)
		switch {
		case binds:
			i = at.entry().next
		case uses:
			return true
		default:
			i++
		}
	}
	return false
}

// has reports whether a tag has names with a prefix, and whether it binds the prefix.
func (n Node) has(prefix string) (uses, binds bool) {
	uses = n.entry().name >= 0 && n.name().prefix == prefix
	t := &n.doc.tree
	for i, end := t.attributesOf(n.index); i < end; i++ {
		switch name := &t.names[t.attributes.at(i).name]; {
		case name.kind == declarationName:
			binds = binds || name.local == prefix
		case name.prefix == prefix:
			uses = true
		}
	}
	return uses, binds
}

// Precedes reports whether the node is before another one in document order.
func (n Node) Precedes(other Node) bool { return n.index < other.index }

// Contains reports whether other is the node itself or a descendant of it.
func (n Node) Contains(other Node) bool {
	return n.doc != nil && n.doc == other.doc && n.index <= other.index && other.index < n.entry().next
}

// Span returns the byte offsets of the node in the parsed source, including its tags.
func (n Node) Span() (start, end int64) {
	if n.doc == nil {
		return 0, 0
	}
	e := n.entry()
	return n.doc.position(e.start), n.doc.position(e.end)
}

// ContentRange returns the byte offsets of an element's content in the source, between its tags. For an
// empty-element tag ok is false, and start is the offset of its "/>".
func (n Node) ContentRange() (start, end int64, ok bool) {
	if n.Kind() != Element {
		return 0, 0, false
	}
	e := n.entry()
	closing := e.start + uint32(bytes.LastIndexByte(n.doc.text[e.start:e.end], '<'))
	if closing == e.start {
		at := n.doc.position(e.end - uint32(len("/>")))
		return at, at, false
	}
	opened := closing
	if n.index+1 < e.next {
		opened = n.doc.tree.nodes.at(n.index + 1).start
	}
	return n.doc.position(opened), n.doc.position(closing), true
}

// Declaration returns the byte offset of the end of the XML declaration in the source. Without a
// declaration it is the end of the byte order mark, and without that 0.
func (d *Document) Declaration() int64 { return d.position(d.declaration) }

// position converts an offset in the text, at the beginning or end of a character, to one in the
// source.
func (d *Document) position(offset uint32) int64 {
	if d.coding.decoder == nil {
		return int64(d.coding.mark) + int64(offset)
	}
	marks, text := d.coding.marks, int(offset)
	i := sort.Search(len(marks), func(i int) bool { return marks[i].text > text }) - 1
	if i < 0 {
		return int64(d.coding.mark)
	}
	piece := make([]byte, text-marks[i].text)
	_, read, _ := d.coding.decoder().Transform(piece, d.source[marks[i].source:], true)
	return int64(marks[i].source + read)
}
