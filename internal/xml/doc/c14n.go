package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNamespace: what is to be written in canonical form has a namespace whose name is a relative
// reference, which has none (Canonical XML 1.1, 1.3).
var ErrNamespace = errors.New("xmldoc: relative namespace name")

var (
	errMethod    = errors.New("xmldoc: no canonicalization method")
	errElsewhere = errors.New("xmldoc: the apex is no element of the document")
)

// Canonicalize writes a part of the document in canonical form, which is UTF-8, in pieces of some
// kilobytes. [ErrNamespace], [ErrLimit] and the errors of w.
func (d *Document) Canonicalize(w io.Writer, c Canonicalization, s Subset) error {
	writing := &canonicalizer{
		Document: d, names: d.tree.names, method: c.Method, comments: c.Comments,
		without: s.Without, apex: d.tree.root, out: newOutput(w, len(d.text)),
		rendered: rendered{of: make(map[string]string)}, listed: make(map[string]bool),
	}
	if c.Method < C14N10 || c.Method > Exclusive {
		return errMethod
	}
	for _, prefix := range c.Prefixes {
		writing.listed[prefix] = true
	}
	first, end := int32(0), d.tree.nodes.length
	if s.Apex != (Node{}) {
		if s.Apex.doc != d || s.Apex.Kind() != Element {
			return errElsewhere
		}
		writing.apex = s.Apex.index
		first, end = s.Apex.index, s.Apex.entry().next
	}
	if err := writing.nodes(first, end); err != nil {
		return fmt.Errorf("canonical form: %w", err)
	}
	return nil
}

// canonicalizer writes a part of a document. What it learns of an element goes to lists that
// the next one has again.
type canonicalizer struct {
	*Document
	names    []name
	method   Method
	comments bool
	listed   map[string]bool // prefixes that Exclusive treats as Canonical XML does
	without  func(Node) bool
	apex     int32 // the outermost element that is written

	out      output
	open     []endTag
	rendered rendered
	fresh    []namespaceNode // the namespace declarations of the element at hand
	shown    []*attribute    // its attributes
	unsorted []*attribute    // the same, and
	order    []uint64        // how to sort them
	joined   joinedBase      // among them
	reading  characters
	scratch  []byte
	err      error
}

// nodes writes those from first up to end, which is where an element that is first ends, or the
// document.
func (c *canonicalizer) nodes(first, end int32) error {
	for i := first; i < end && c.err == nil && c.out.err == nil; {
		c.close(i)
		i = c.node(i)
	}
	c.close(end)
	c.out.flush()
	return errors.Join(c.err, c.out.err)
}

// node writes a node, of an element its start tag, and says which is to be next.
func (c *canonicalizer) node(i int32) (next int32) {
	n := c.tree.nodes.at(i)
	switch {
	case n.name == runName:
		c.characters(c.text[n.start:n.end], false)
	case n.name == commentName:
		if c.comments {
			c.standing(i, n, func() { c.out.lines(c.text[n.start:n.end]) })
		}
	case c.names[n.name].kind == instructionName:
		c.standing(i, n, func() { c.instruction(n) })
	case c.without != nil && c.without(Node{c.Document, i}):
		return n.next
	default:
		c.start(i, n)
	}
	return i + 1
}

// characters writes what stands for characters in the source.
func (c *canonicalizer) characters(raw []byte, attribute bool) {
	special := &escapedInText
	if attribute {
		special = &escapedInValue
	}
	if plain(raw, special) == len(raw) { // and so refers to nothing
		c.out.bytes(raw)
		return
	}
	c.reading = characters{raw: raw, attribute: attribute}
	for piece, ok := c.reading.next(); ok; piece, ok = c.reading.next() {
		c.out.escaped(piece, special)
	}
}

// standing writes a comment or an instruction. Outside of the root it has a line of its own.
func (c *canonicalizer) standing(i int32, n *node, write func()) {
	outside := n.parent == none
	if outside && i > c.tree.root {
		c.out.string("\n")
	}
	write()
	if outside && i < c.tree.root {
		c.out.string("\n")
	}
}

func (c *canonicalizer) instruction(n *node) {
	target := c.names[n.name].local
	content := c.text[int(n.start)+len("<?")+len(target) : int(n.end)-len("?>")]
	for len(content) > 0 && class[content[0]]&isSpace != 0 {
		content = content[1:]
	}
	c.out.string("<?")
	c.out.string(target)
	if len(content) > 0 {
		c.out.string(" ")
		c.out.lines(content)
	}
	c.out.string("?>")
}

// endTag is that of an element that has begun.
type endTag struct {
	name     []byte
	next     int32 // the node after all that is in it
	bindings int   // how many were rendered before it
}

// start writes a start tag.
func (c *canonicalizer) start(i int32, n *node) {
	name := &c.names[n.name]
	tag := c.text[n.start:][:len("<")+name.length()]
	c.open = append(c.open, endTag{name: tag[len("<"):], next: n.next, bindings: len(c.rendered.earlier)})
	c.axes(i, name)
	c.out.bytes(tag)
	for _, b := range c.fresh {
		c.declaration(b)
	}
	for _, a := range c.shown {
		c.attribute(a)
	}
	c.out.string(">")
}

// length is that of the name as it is written.
func (n *name) length() int {
	if n.prefix == "" {
		return len(n.local)
	}
	return len(n.prefix) + len(":") + len(n.local)
}

// axes finds what is in the start tag of an element.
func (c *canonicalizer) axes(i int32, name *name) {
	c.fresh, c.shown = c.fresh[:0], c.shown[:0]
	if c.method == Exclusive {
		c.bind(name.prefix, name.space)
	}
	for j, end := c.tree.attributesOf(i); j < end; j++ {
		c.axis(c.tree.attributes.at(j))
	}
	if i == c.apex {
		c.inherit(i)
	}
	if len(c.fresh) > 1 {
		slices.SortFunc(c.fresh, namespaceNode.compare)
	}
	c.sortShown()
}

// sortShown compares numbers, each of a rank and a place, instead of looking at the attributes again and again.
func (c *canonicalizer) sortShown() {
	if len(c.shown) < 2 {
		return
	}
	ranks := c.ranks()
	c.order, c.unsorted = c.order[:0], append(c.unsorted[:0], c.shown...)
	for i, a := range c.shown {
		c.order = append(c.order, uint64(ranks[a.name])<<32|uint64(i))
	}
	slices.Sort(c.order)
	for i, place := range c.order {
		c.shown[i] = c.unsorted[uint32(place)]
	}
}

// axis sorts out what a start tag in the source has.
func (c *canonicalizer) axis(a *attribute) {
	name := &c.names[a.name]
	switch {
	case name.kind != declarationName:
		c.shown = append(c.shown, a)
		if c.method == Exclusive && name.prefix != "" {
			c.bind(name.prefix, name.space)
		}
	case c.takes(name.local):
		c.bind(name.local, c.namespace(a))
	}
}

// close writes the end tags of elements that have nothing from a node on.
func (c *canonicalizer) close(at int32) {
	for last := len(c.open) - 1; last >= 0 && c.open[last].next <= at; last-- {
		element := c.open[last]
		c.open = c.open[:last]
		c.rendered.back(element.bindings)
		c.out.string("</")
		c.out.bytes(element.name)
		c.out.string(">")
	}
}

func (c *canonicalizer) attribute(a *attribute) {
	c.out.string(" ")
	if name := &c.names[a.name]; name.prefix != "" {
		c.out.string(name.prefix)
		c.out.string(":")
	}
	c.out.string(c.names[a.name].local)
	c.out.string(`="`)
	if a == &c.joined.attribute {
		c.out.escaped([]byte(c.joined.value), &escapedInValue)
	} else {
		c.characters(c.text[a.start:a.end], true)
	}
	c.out.string(`"`)
}

func (c *canonicalizer) declaration(n namespaceNode) {
	c.out.string(" xmlns")
	if n.prefix != "" {
		c.out.string(":")
		c.out.string(n.prefix)
	}
	c.out.string(`="`)
	c.scratch = append(c.scratch[:0], n.space...)
	c.out.escaped(c.scratch, &escapedInValue)
	c.out.string(`"`)
}

const (
	outputSize = 16 << 10

	// maxGrowth is how many times longer than its document a canonical form may be. Escapes and end
	// tags make six of it at most, but Exclusive says a long name of a namespace again for each short
	// element that uses it.
	maxGrowth   = 16
	alwaysGrown = 1 << 20
)

// output gathers what is short. After an error it writes nothing any more.
type output struct {
	w      io.Writer
	buffer []byte
	left   int // bytes that may still be written
	err    error
}

func newOutput(w io.Writer, document int) output {
	return output{w: w, buffer: make([]byte, 0, outputSize+outputSize/4), left: maxGrowth*document + alwaysGrown}
}

func (o *output) flush() {
	o.write(o.buffer)
	o.buffer = o.buffer[:0]
}

func (o *output) write(p []byte) {
	if o.left -= len(p); o.left < 0 && o.err == nil {
		o.err = fmt.Errorf("%w: length of a canonical form", ErrLimit)
	}
	if len(p) > 0 && o.err == nil {
		_, o.err = o.w.Write(p)
	}
}

func (o *output) bytes(p []byte) {
	if len(o.buffer)+len(p) > outputSize {
		o.flush()
	}
	if len(p) <= outputSize {
		o.buffer = append(o.buffer, p...)
	} else {
		o.write(p)
	}
}

// string is for what is short, and comes with something that goes through bytes.
func (o *output) string(s string) { o.buffer = append(o.buffer, s...) }

// lines writes what has no references, with its line ends as "\n" (XML 1.0, 2.11).
func (o *output) lines(p []byte) {
	for {
		i := bytes.IndexByte(p, '\r')
		if i < 0 {
			break
		}
		o.bytes(p[:i])
		o.string("\n")
		p = bytes.TrimPrefix(p[i+1:], []byte("\n"))
	}
	o.bytes(p)
}

// escapes are the characters that have another form, each with it.
type escapes [256]string

// Of Canonical XML 1.0, 2.3: text nodes and attribute nodes.
var (
	escapedInText  = escapes{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#xD;"}
	escapedInValue = escapes{'&': "&amp;", '<': "&lt;", '"': "&quot;", '\t': "&#x9;", '\n': "&#xA;", '\r': "&#xD;"}
)

// plain is how many bytes have no other form.
func plain(p []byte, special *escapes) int {
	for i, b := range p {
		if special[b] != "" {
			return i
		}
	}
	return len(p)
}

func (o *output) escaped(p []byte, special *escapes) {
	for len(p) > 0 {
		n := plain(p, special)
		o.bytes(p[:n])
		if n == len(p) {
			return
		}
		o.string(special[p[n]])
		p = p[n+1:]
	}
}
