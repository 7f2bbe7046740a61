package doc

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unsafe"
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
		excluded: d.exclusionOf(s), apex: d.tree.root,
		rendered: rendered{of: make([]int32, len(d.tree.bound.prefixTexts))},
	}
	if c.Method < C14N10 || c.Method > Exclusive {
		return errMethod
	}
	if len(c.Prefixes) > 0 {
		writing.listed = d.tree.bound.prefixSet(c.Prefixes)
	}
	if s.Apex != (Node{}) {
		if s.Apex.doc != d || s.Apex.Kind() != Element {
			return errElsewhere
		}
		apex := s.Apex.entry()
		writing.apex, writing.out = s.Apex.index, newOutput(w, len(d.text), int(apex.end-apex.start))
		writing.element()
	} else {
		writing.out = newOutput(w, len(d.text), len(d.text))
		writing.document()
	}
	writing.out.flush()
	if err := errors.Join(writing.err, writing.out.err); err != nil {
		return fmt.Errorf("canonical form: %w", err)
	}
	return nil
}

// TableSize returns the size of the tables that [Document.Canonicalize], [Document.HasComments] and
// [Document.ValuePrefix] make in each call, however small the part is: of names, prefixes and namespaces.
func (d *Document) TableSize() int64 {
	prefix, namespace := int64(unsafe.Sizeof(int32(0))), int64(unsafe.Sizeof(declaration{}))
	bound := &d.tree.bound
	return int64(len(d.tree.names)) + prefix*int64(len(bound.prefixTexts)) + namespace*int64(len(bound.uris))
}

// canonicalizer writes a part of a document. Most of it is the same in canonical form: what differs
// is written anew, and the source between is written as it is. It reuses its lists for each element.
type canonicalizer struct {
	*Document
	names    []name
	method   Method
	comments bool
	listed   []bool // by prefix, whether Exclusive treats it as Canonical XML does; nil: none
	excluded exclusion
	apex     int32 // the outermost element that is written

	out           output
	from          uint32 // the text up to here has been written
	open          []openTag
	rendered      rendered
	newNamespaces []namespaceNode // the namespace declarations of the current element
	attributesOut []attribute     // its attributes
	unsorted      []attribute     // the same before sorting
	order         []uint64        // their sort keys
	joined        joinedXMLBase   // one of attributesOut, if xml:base was joined
	reading       characters
	scratch       []byte
	declarations  []declaration // by namespace, the last declaration of it; nil: not made yet
	err           error
}

// openTag is an element whose end is not reached, and at whose end there is something to do.
type openTag struct {
	node     int32
	end      uint32
	bindings int // length of rendered.earlier before the element
}

// document writes the root, and the comments and instructions beside it.
func (c *canonicalizer) document() {
	end := c.tree.nodes.length
	for i := int32(0); i < end && !c.failed(); {
		n := c.tree.nodes.at(i)
		next := i + 1
		switch n.kind {
		case Element:
			c.element()
			next = c.tree.next(i)
		case Comment:
			if c.comments {
				c.writeOutsideRoot(i, func() { c.out.lines(c.text[n.start:n.end]) })
			}
		case Instruction:
			c.writeOutsideRoot(i, func() { c.instruction(n) })
		}
		i = next
	}
}

// writeOutsideRoot writes a comment or a processing instruction with a line end between it and the
// root.
func (c *canonicalizer) writeOutsideRoot(i int32, write func()) {
	if i > c.tree.root {
		c.out.string("\n")
	}
	write()
	if i < c.tree.root {
		c.out.string("\n")
	}
}

func (c *canonicalizer) failed() bool { return c.err != nil || c.out.err != nil }

// element writes the apex with its content.
func (c *canonicalizer) element() {
	apex := c.tree.nodes.at(c.apex)
	if c.excluded.excludes(c.apex, apex) {
		return
	}
	c.from = apex.start
	c.start(c.apex, apex)
	for i, end := c.apex+1, c.tree.next(c.apex); i < end && !c.failed(); {
		n := c.tree.nodes.at(i)
		if len(c.open) > 0 && c.open[len(c.open)-1].end <= n.start {
			c.close(n.start, i)
		}
		i = c.node(i, n)
	}
	if !c.failed() {
		c.close(apex.end, c.tree.next(c.apex))
		c.writeUpTo(apex.end)
	}
}

// writeUpTo writes the text up to an offset as it is.
func (c *canonicalizer) writeUpTo(at uint32) {
	if at > c.from {
		c.out.bytes(c.text[c.from:at])
		c.from = at
	}
}

// node writes a node in the apex, or the start tag of an element, and returns the next node.
func (c *canonicalizer) node(i int32, n *node) (next int32) {
	next = i + 1
	switch {
	case n.kind == Comment && c.comments:
		if raw := c.text[n.start:n.end]; bytes.IndexByte(raw, '\r') >= 0 {
			c.writeUpTo(n.start)
			c.out.lines(raw)
			c.from = n.end
		}
	case n.kind == Comment:
		c.writeUpTo(n.start)
		c.from = n.end
	case n.kind == Instruction:
		c.writeUpTo(n.start)
		c.instruction(n)
		c.from = n.end
	case c.excluded.excludes(i, n):
		c.writeUpTo(n.start)
		c.from, next = n.end, c.tree.next(i)
	default:
		c.start(i, n)
		return next
	}
	if n.is&roughTail != 0 {
		c.roughText(c.tailOf(i, next))
	}
	return next
}

// roughText writes text that is not the same in canonical form.
func (c *canonicalizer) roughText(start, end uint32) {
	c.writeUpTo(start)
	c.characters(c.text[start:end], false)
	c.from = end
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

// start writes the start tag of an element. If it and all that belongs to the element itself are the
// same in canonical form, it does nothing.
func (c *canonicalizer) start(i int32, n *node) {
	name := &c.names[n.name]
	bindings := len(c.rendered.earlier)
	switch {
	case n.is&simpleTag == 0 || i == c.apex:
		c.rewrite(i, n, name)
	case c.method == Exclusive && c.rendered.of[name.prefixNumber] != name.spaceNumber && name.prefixNumber != prefixXML:
		c.writeUpTo(n.start + uint32(len("<")+name.length()))
		c.declare(name)
	}
	if n.is&emptyTag != 0 {
		if c.from < n.end {
			c.writeUpTo(n.end - uint32(len("/>")))
			c.out.string(">")
		}
		c.endTag(n)
		c.from = n.end
	} else if n.is&roughText != 0 {
		c.roughText(c.textOf(i))
	}
	if n.is&(roughEnd|roughTail) != 0 || len(c.rendered.earlier) > bindings {
		c.open = append(c.open, openTag{node: i, end: n.end, bindings: bindings})
	}
}

// rewrite writes a start tag anew.
func (c *canonicalizer) rewrite(i int32, n *node, name *name) {
	c.writeUpTo(n.start)
	end := c.collectAxes(i, name)
	c.out.bytes(c.text[n.start:][:len("<")+name.length()])
	for _, b := range c.newNamespaces {
		c.writeDeclaration(b)
	}
	for _, a := range c.attributesOut {
		c.attribute(a)
	}
	c.out.string(">")
	c.from = end
}

// declaration is the markup of a namespace declaration.
type declaration struct {
	prefix int32
	markup []byte
}

// declare declares the namespace of an element's name in its tag. It keeps the markup, because many
// elements have the same prefix. All that it keeps is in the document too.
func (c *canonicalizer) declare(name *name) {
	c.newNamespaces = c.newNamespaces[:0]
	c.bind(name.prefixNumber, name.spaceNumber)
	if c.declarations == nil {
		c.declarations = make([]declaration, len(c.tree.bound.uris))
	}
	kept := &c.declarations[name.spaceNumber]
	if len(kept.markup) == 0 || kept.prefix != name.prefixNumber {
		*kept = declaration{name.prefixNumber, appendDeclaration(kept.markup[:0], name.prefix, name.space)}
	}
	c.out.bytes(kept.markup)
}

// endTag writes the end tag of an element.
func (c *canonicalizer) endTag(n *node) {
	c.out.string("</")
	c.out.bytes(c.text[n.start+uint32(len("<")):][:c.names[n.name].length()])
	c.out.string(">")
}

// collectAxes collects the namespaces and attributes for the start tag of an element, and returns
// where it ends in the text.
func (c *canonicalizer) collectAxes(i int32, name *name) (end uint32) {
	c.newNamespaces, c.attributesOut = c.newNamespaces[:0], c.attributesOut[:0]
	if c.method == Exclusive {
		c.bind(name.prefixNumber, name.spaceNumber)
	}
	t := c.tagOf(i)
	for a, ok := t.attribute(); ok; a, ok = t.attribute() {
		c.addToAxes(a)
	}
	if i == c.apex {
		c.inherit(i)
	}
	if len(c.newNamespaces) > 1 {
		texts := c.tree.bound.prefixTexts
		slices.SortFunc(c.newNamespaces, func(a, b namespaceNode) int { return strings.Compare(texts[a.prefix], texts[b.prefix]) })
	}
	c.sortShown()
	return t.close()
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
func (c *canonicalizer) addToAxes(a attribute) {
	name := &c.names[a.name]
	switch {
	case name.kind != declarationName:
		c.attributesOut = append(c.attributesOut, a)
		if c.method == Exclusive && name.prefixNumber != noPrefix {
			c.bind(name.prefixNumber, name.spaceNumber)
		}
	case c.rendersDeclaration(name.binds):
		c.bind(name.binds, c.namespace(a))
	}
}

// close ends the open elements that end up to an offset, which is that of the node next, or the end
// of the apex. Behind an element with a rough tail, that tail is written.
func (c *canonicalizer) close(at uint32, next int32) {
	for last := len(c.open) - 1; last >= 0 && c.open[last].end <= at; last-- {
		element := c.open[last]
		c.open = c.open[:last]
		c.rendered.restoreTo(element.bindings)
		n := c.tree.nodes.at(element.node)
		if n.is&roughEnd != 0 {
			c.writeUpTo(c.Document.endTag(n))
			c.endTag(n)
			c.from = n.end
		}
		if n.is&roughTail != 0 && element.node != c.apex {
			c.roughText(c.tailOf(element.node, next))
		}
	}
}

func (c *canonicalizer) attribute(a attribute) {
	c.out.string(" ")
	if name := &c.names[a.name]; name.prefix != "" {
		c.out.string(name.prefix)
		c.out.string(":")
	}
	c.out.string(c.names[a.name].local)
	c.out.string(`="`)
	if c.joined.start > 0 && a == c.joined.attribute {
		c.out.escaped([]byte(c.joined.value), &escapedInValue)
	} else {
		c.characters(c.text[a.start:a.end], true)
	}
	c.out.string(`"`)
}

func (c *canonicalizer) writeDeclaration(n namespaceNode) {
	c.scratch = appendDeclaration(c.scratch[:0], c.tree.bound.prefixTexts[n.prefix], c.tree.bound.uris[n.space])
	c.out.bytes(c.scratch)
}

func appendDeclaration(to []byte, prefix, uri string) []byte {
	to = append(to, " xmlns"...)
	if prefix != "" {
		to = append(append(to, ':'), prefix...)
	}
	to = append(to, `="`...)
	for _, b := range []byte(uri) {
		if escape := escapedInValue[b]; escape != "" {
			to = append(to, escape...)
		} else {
			to = append(to, b)
		}
	}
	return append(to, '"')
}

const (
	outputSize = 16 << 10
	maxWrite   = 64 << 10

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

// newOutput returns an output for a part of a document, with a buffer that is small for a small part.
func newOutput(w io.Writer, document, part int) output {
	return output{w: w, buffer: make([]byte, 0, min(part, outputSize)+outputSize/16), left: maxGrowthFactor*document + minOutput}
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
	for len(p) > outputSize {
		n := min(len(p), maxWrite)
		o.write(p[:n])
		p = p[n:]
	}
	o.buffer = append(o.buffer, p...)
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
