package doc

import (
	"errors"
	"fmt"
	"io"
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
