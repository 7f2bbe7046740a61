package doc

import (
	"iter"
	"sort"
	"strings"
)

// Kind returns the kind of the node; 0 for no node.
func (n Node) Kind() Kind {
	switch {
	case n.doc == nil:
		return 0
	case n.part != wholeNode:
		return Text
	}
	return n.entry().kind
}

func (n Node) entry() *node { return n.doc.tree.nodes.at(n.index) }

// noName is the name of nodes without one.
var noName name

// name returns the name of the node, or a zero name if it has none.
func (n Node) name() *name {
	if kind := n.Kind(); kind != Element && kind != Instruction {
		return &noName
	}
	return &n.doc.tree.names[n.entry().name]
}

// offsets returns where the node is in the text of the document.
func (n Node) offsets() (start, end uint32) {
	switch n.part {
	case textInside:
		return n.doc.textOf(n.index)
	case textBehind:
		return n.doc.tailOf(n.index, n.doc.tree.next(n.index))
	}
	e := n.entry()
	return e.start, e.end
}

// characters returns a reader of a text node.
func (n Node) characters() characters {
	start, end := n.offsets()
	return characters{raw: n.doc.text[start:end]}
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

// attributes returns an element's attributes and namespace declarations.
func (n Node) attributes() iter.Seq2[*name, attribute] {
	return func(yield func(*name, attribute) bool) {
		if n.AttributeCount() == 0 {
			return
		}
		t := n.doc.tagOf(n.index)
		for a, ok := t.attribute(); ok; a, ok = t.attribute() {
			if !yield(&n.doc.tree.names[a.name], a) {
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

// AttributeCount returns how many attributes and namespace declarations an element has.
func (n Node) AttributeCount() int {
	if n.doc == nil || n.part != wholeNode {
		return 0
	}
	first, end := n.doc.tree.attributesOf(n.index)
	return int(end - first)
}

// TagLength returns the length of the start tag of an element in UTF-8. A search for an attribute reads
// up to so many bytes, and so does TagLength.
func (n Node) TagLength() int64 {
	if n.Kind() != Element {
		return 0
	}
	t := n.doc.tagOf(n.index)
	return int64(t.close() - n.entry().start)
}

// Text returns all character data in a node in document order, without comments and processing
// instructions.
func (n Node) Text() string {
	switch n.Kind() {
	case Text:
		c := n.characters()
		return c.value()
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
		c := n.characters()
		for piece, ok := c.next(); ok && yield(piece); piece, ok = c.next() {
		}
	}
}

// content copies the text only once: most elements contain one text node, or none.
func (n Node) content() string {
	if n.doc.tree.next(n.index) == n.index+1 {
		if n.entry().is&hasText == 0 {
			return ""
		}
		return Node{n.doc, n.index, textInside}.Text()
	}
	var b strings.Builder
	n.writeText(&b)
	return b.String()
}

func (n Node) writeText(b *strings.Builder) {
	for child := range n.Children() {
		switch child.Kind() {
		case Text:
			c := child.characters()
			c.writeTo(b)
		case Element:
			child.writeText(b)
		}
	}
}

// Parent returns the parent element of a node; zero for the root and for nodes outside of it.
func (n Node) Parent() Node {
	switch {
	case n.part == textInside:
		return Node{doc: n.doc, index: n.index}
	case n.doc == nil || n.entry().parent == none:
		return Node{}
	}
	return Node{doc: n.doc, index: n.entry().parent}
}

// Children returns the child nodes of an element.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Element {
			return
		}
		t := &n.doc.tree
		if n.entry().is&hasText != 0 && !yield(Node{n.doc, n.index, textInside}) {
			return
		}
		for i, end := n.index+1, t.next(n.index); i < end; i = t.next(i) {
			if !yield(Node{doc: n.doc, index: i}) {
				return
			}
			if t.nodes.at(i).is&hasTail != 0 && !yield(Node{n.doc, i, textBehind}) {
				return
			}
		}
	}
}

// Elements returns the child elements of an element.
func (n Node) Elements() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Element {
			return
		}
		t := &n.doc.tree
		for i, end := n.index+1, t.next(n.index); i < end; i = t.next(i) {
			if t.nodes.at(i).kind == Element && !yield(Node{doc: n.doc, index: i}) {
				return
			}
		}
	}
}

// Descendants returns the descendant elements of an element in document order.
func (n Node) Descendants() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.Kind() != Element {
			return
		}
		t := &n.doc.tree
		for i, end := n.index+1, t.next(n.index); i < end; i++ {
			if t.nodes.at(i).kind == Element && !yield(Node{doc: n.doc, index: i}) {
				return
			}
		}
	}
}

// Named returns the elements of a document whose names match, in document order. It asks once for
// each name.
func (d *Document) Named(match func(Name) bool) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		matching, some := d.tree.matching(match)
		for i := int32(0); some && i < d.tree.nodes.length; i++ {
			n := d.tree.nodes.at(i)
			if n.kind == Element && matching[n.name] && !yield(Node{doc: d, index: i}) {
				return
			}
		}
	}
}

// matching reports for each name of the tree whether elements of that name match.
func (t *tree) matching(match func(Name) bool) (matching []bool, some bool) {
	matching = make([]bool, len(t.names))
	for i := range t.names {
		n := &t.names[i]
		matching[i] = n.kind != declarationName && n.kind != instructionName && match(Name{Space: n.space, Local: n.local})
		some = some || matching[i]
	}
	return matching, some
}

// Inherits reports whether an element or its content uses a prefix that is bound outside the
// element.
func (n Node) Inherits(prefix string) bool {
	if n.Kind() != Element {
		return false
	}
	number, known := n.doc.tree.bound.prefixes[prefix]
	if !known {
		return false
	}
	t := &n.doc.tree
	for i, end := n.index, t.next(n.index); i < end; {
		uses, binds := t.has(i, number)
		switch {
		case binds:
			i = t.next(i)
		case uses:
			return true
		default:
			i++
		}
	}
	return false
}

// has reports whether a tag has names with a prefix, and whether it binds the prefix.
func (t *tree) has(i, prefix int32) (uses, binds bool) {
	n := t.nodes.at(i)
	if n.kind != Element {
		return false, false
	}
	uses = t.names[n.name].prefixNumber == prefix
	if n.is&simpleTag != 0 {
		return uses, false
	}
	for j, end := t.attributesOf(i); j < end; j++ {
		switch name := &t.names[*t.attributes.at(j)]; {
		case name.kind == declarationName:
			binds = binds || name.binds == prefix
		case name.prefixNumber == prefix:
			uses = true
		}
	}
	return uses, binds
}

// Precedes reports whether the node is before another one in document order.
func (n Node) Precedes(other Node) bool {
	if n.part == wholeNode && other.part == wholeNode || n.doc == nil || other.doc == nil {
		return n.index < other.index
	}
	start, _ := n.offsets()
	behind, _ := other.offsets()
	return start < behind
}

// Contains reports whether other is the node itself or a descendant of it.
func (n Node) Contains(other Node) bool {
	switch {
	case n.doc == nil || n.doc != other.doc:
		return false
	case n.part != wholeNode || n.index > other.index:
		return n == other
	case other.part == textBehind:
		return n.Contains(other.Parent())
	}
	return n.doc.tree.nodes.at(other.index).start < n.entry().end
}

// Span returns the byte offsets of the node in the parsed source, including its tags.
func (n Node) Span() (start, end int64) {
	if n.doc == nil {
		return 0, 0
	}
	from, to := n.offsets()
	return n.doc.position(from), n.doc.position(to)
}

// ContentRange returns the byte offsets of an element's content in the source, between its tags. For an
// empty-element tag ok is false, and start is the offset of its "/>".
func (n Node) ContentRange() (start, end int64, ok bool) {
	if n.Kind() != Element {
		return 0, 0, false
	}
	e := n.entry()
	if e.is&emptyTag != 0 {
		at := n.doc.position(e.end - uint32(len("/>")))
		return at, at, false
	}
	tag := n.doc.tagOf(n.index)
	return n.doc.position(tag.close()), n.doc.position(n.doc.endTag(e)), true
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
