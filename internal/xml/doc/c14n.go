package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
)

// ErrNamespace: the data has a namespace name that is a relative reference, for which there is no
// canonical form (Canonical XML 1.1, 1.3).
var ErrNamespace = errors.New("xmldoc: relative namespace name")

var (
	errMethod    = errors.New("xmldoc: unknown canonicalization method")
	errElsewhere = errors.New("xmldoc: the apex is not an element of the document")
)

// Canonicalize writes the canonical form of a part of the document, in UTF-8, in pieces of some
// kilobytes. Errors are [ErrNamespace], [ErrLimit] and those of w.
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

// canonicalizer writes a part of a document. It reuses its lists for each element.
type canonicalizer struct {
	*Document
	names    []name
	method   Method
	comments bool
	listed   map[string]bool // prefixes that Exclusive treats as Canonical XML does
	without  func(Node) bool
	apex     int32 // the outermost element that is written

	out           output
	open          []endTag
	rendered      rendered
	newNamespaces []namespaceNode // the namespace declarations of the current element
	attributesOut []*attribute    // its attributes
	unsorted      []*attribute    // the same before sorting
	order         []uint64        // their sort keys
	joined        joinedXMLBase   // one of attributesOut, if xml:base was joined
	reading       characters
	scratch       []byte
	err           error
}

// nodes writes the nodes from first up to end, which is the end of an element that begins at first,
// or of the document.
func (c *canonicalizer) nodes(first, end int32) error {
	for i := first; i < end && c.err == nil && c.out.err == nil; {
		c.close(i)
		i = c.node(i)
	}
	c.close(end)
	c.out.flush()
	return errors.Join(c.err, c.out.err)
}

// node writes a node, or the start tag of an element, and returns the next node.
func (c *canonicalizer) node(i int32) (next int32) {
	n := c.tree.nodes.at(i)
	switch {
	case n.name == runName:
		c.characters(c.text[n.start:n.end], false)
	case n.name == commentName:
		if c.comments {
			c.writeOutsideRoot(i, n, func() { c.out.lines(c.text[n.start:n.end]) })
		}
	case c.names[n.name].kind == instructionName:
		c.writeOutsideRoot(i, n, func() { c.instruction(n) })
	case c.without != nil && c.without(Node{c.Document, i}):
		return n.next
	default:
		c.start(i, n)
	}
	return i + 1
}

// characters writes a text node or an attribute's value.
func (c *canonicalizer) characters(raw []byte, attribute bool) {
	special := &escapedInText
	if attribute {
		special = &escapedInValue
	}
	if plain(raw, special) == len(raw) { // which then contains no reference
		c.out.bytes(raw)
		return
	}
	c.reading = characters{raw: raw, attribute: attribute}
	for piece, ok := c.reading.next(); ok; piece, ok = c.reading.next() {
		c.out.escaped(piece, special)
	}
}

// writeOutsideRoot writes a comment or a processing instruction. Outside of the root it adds a line
// end.
func (c *canonicalizer) writeOutsideRoot(i int32, n *node, write func()) {
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

// endTag is the end tag of an open element.
type endTag struct {
	name     []byte
	next     int32 // the node after its content
	bindings int   // length of rendered.earlier before the element
}

// start writes a start tag.
func (c *canonicalizer) start(i int32, n *node) {
	name := &c.names[n.name]
	tag := c.text[n.start:][:len("<")+name.length()]
	c.open = append(c.open, endTag{name: tag[len("<"):], next: n.next, bindings: len(c.rendered.earlier)})
	c.collectAxes(i, name)
	c.out.bytes(tag)
	for _, b := range c.newNamespaces {
		c.declaration(b)
	}
	for _, a := range c.attributesOut {
		c.attribute(a)
	}
	c.out.string(">")
}

// length returns the length of the qualified name.
func (n *name) length() int {
	if n.prefix == "" {
		return len(n.local)
	}
	return len(n.prefix) + len(":") + len(n.local)
}

// collectAxes collects the namespaces and attributes for the start tag of an element.
func (c *canonicalizer) collectAxes(i int32, name *name) {
	c.newNamespaces, c.attributesOut = c.newNamespaces[:0], c.attributesOut[:0]
	if c.method == Exclusive {
		c.bind(name.prefix, name.space)
	}
	for j, end := c.tree.attributesOf(i); j < end; j++ {
		c.addToAxes(c.tree.attributes.at(j))
	}
	if i == c.apex {
		c.inherit(i)
	}
	if len(c.newNamespaces) > 1 {
		slices.SortFunc(c.newNamespaces, namespaceNode.compare)
	}
	c.sortShown()
}

// sortShown sorts the attributes by numbers that combine rank and position, which is faster than
// comparing the attributes.
func (c *canonicalizer) sortShown() {
	if len(c.attributesOut) < 2 {
		return
	}
	ranks := c.ranks()
	c.order, c.unsorted = c.order[:0], append(c.unsorted[:0], c.attributesOut...)
	for i, a := range c.attributesOut {
		c.order = append(c.order, uint64(ranks[a.name])<<32|uint64(i))
	}
	slices.Sort(c.order)
	for i, place := range c.order {
		c.attributesOut[i] = c.unsorted[uint32(place)]
	}
}

// addToAxes adds an attribute or a namespace declaration of the source.
func (c *canonicalizer) addToAxes(a *attribute) {
	name := &c.names[a.name]
	switch {
	case name.kind != declarationName:
		c.attributesOut = append(c.attributesOut, a)
		if c.method == Exclusive && name.prefix != "" {
			c.bind(name.prefix, name.space)
		}
	case c.rendersDeclaration(name.local):
		c.bind(name.local, c.namespace(a))
	}
}

// close writes the end tags of elements that end before a node.
func (c *canonicalizer) close(at int32) {
	for last := len(c.open) - 1; last >= 0 && c.open[last].next <= at; last-- {
		element := c.open[last]
		c.open = c.open[:last]
		c.rendered.restoreTo(element.bindings)
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

	// maxGrowthFactor bounds the length of a canonical form relative to its document. Escapes and
	// end tags make it at most six times longer, but Exclusive repeats a long namespace name for
	// each short element that uses it. minOutput is allowed in any case.
	maxGrowthFactor = 16
	minOutput       = 1 << 20
)

// output collects short writes. After an error it writes nothing.
type output struct {
	w      io.Writer
	buffer []byte
	left   int // bytes that may still be written
	err    error
}

func newOutput(w io.Writer, document int) output {
	return output{w: w, buffer: make([]byte, 0, outputSize+outputSize/4), left: maxGrowthFactor*document + minOutput}
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

// string writes a short string. It must be followed by bytes, which flushes the buffer.
func (o *output) string(s string) { o.buffer = append(o.buffer, s...) }

// lines writes text without references, with line ends as "\n" (XML 1.0, 2.11).
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

// escapes are the characters that have to be escaped, with their escapes.
type escapes [256]string

// Escapes of Canonical XML 1.0, 2.3, in text nodes and attribute nodes.
var (
	escapedInText  = escapes{'&': "&amp;", '<': "&lt;", '>': "&gt;", '\r': "&#xD;"}
	escapedInValue = escapes{'&': "&amp;", '<': "&lt;", '"': "&quot;", '\t': "&#x9;", '\n': "&#xA;", '\r': "&#xD;"}
)

// plain returns how many of the first bytes need no escape.
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
