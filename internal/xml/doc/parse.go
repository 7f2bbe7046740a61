package doc

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// maxSource makes offsets in the text fit into 32 bits: a byte of the source becomes at most
	// three bytes of text.
	maxSource = 1 << 30

	// maxDepth bounds the nesting of elements. It is the limit of libxml2, and so of xmlsec1, which
	// could not verify deeper documents.
	maxDepth = 256

	// maxAttributes bounds the attributes and namespace declarations of one element. It is the
	// limit of Java's parsers.
	maxAttributes = 10_000

	// maxAllAttributes bounds the attributes and namespace declarations of a document, so they take
	// at most 50 MB.
	maxAllAttributes = 1 << 22

	// maxNames bounds the different names, and the different namespaces. Vocabularies have
	// hundreds.
	maxNames = 1 << 16

	// maxNodes bounds the tree of a document that consists of tags to 100 MB. Typical documents of
	// 30 MB have a node for every twenty bytes.
	maxNodes = 1 << 22
)

// Parse parses a document. It keeps the source, which must not be modified afterwards. The error is
// [ErrMalformed], [ErrDoctype], [ErrEncoding] or [ErrLimit].
func Parse(source []byte) (*Document, error) {
	if len(source) > maxSource {
		return nil, fmt.Errorf("%w: the document is larger than 1 GiB", ErrLimit)
	}
	d := &Document{source: source}
	if err := d.decode(); err != nil {
		return nil, err
	}
	p := parser{doc: d, text: d.text, scope: newScope(&d.tree)}
	if err := p.document(); err != nil {
		return nil, err
	}
	d.spaces = len(p.scope.uris)
	return d, nil
}

// parser parses the text in one pass.
type parser struct {
	doc     *Document
	text    []byte
	at      int
	open    []openElement
	pending []pendingAttribute
	scope   *scope
}

// openElement is an element whose end tag has not been parsed.
type openElement struct {
	node  int32
	name  int // the length of its name in the source
	scope int // length of shadowedBindings before its declarations
}

func (p *parser) document() error {
	if at := indexForbidden(p.text); at >= 0 {
		return p.malformed(at, "a character that XML does not allow")
	}
	_, length, _ := parseDeclaration(p.text)
	p.doc.declaration, p.doc.tree.root, p.at = uint32(length), none, length
	for p.at < len(p.text) {
		if err := p.next(); err != nil {
			return err
		}
		if p.doc.tree.nodes.length > maxNodes {
			return p.tooMany("nodes")
		}
	}
	if p.doc.tree.root == none || len(p.open) > 0 {
		return p.malformed(p.at, "the document ends inside its root element")
	}
	return nil
}

// next parses one piece of markup or one text node.
func (p *parser) next() error {
	switch {
	case p.text[p.at] != '<' || p.has(cdataStart):
		return p.characterData()
	case p.has("</"):
		return p.endTag()
	case p.has("<?"):
		return p.instruction()
	case p.has("<!--"):
		return p.comment()
	case p.has("<!DOCTYPE"):
		return fmt.Errorf("%w at byte %d", ErrDoctype, p.doc.position(uint32(p.at)))
	}
	return p.startTag()
}

func (p *parser) has(prefix string) bool {
	return len(p.text)-p.at >= len(prefix) && string(p.text[p.at:p.at+len(prefix)]) == prefix
}

// add adds a node that begins at start and ends at the parser's position.
func (p *parser) add(name int32, start int) int32 {
	parent := none
	if len(p.open) > 0 {
		parent = p.open[len(p.open)-1].node
	}
	t := &p.doc.tree
	return t.nodes.add(node{
		start: uint32(start), end: uint32(p.at), parent: parent, next: t.nodes.length + 1,
		name: name, attributes: t.attributes.length,
	})
}

// skipPast moves behind the next occurrence of a delimiter.
func (p *parser) skipPast(delimiter string) error {
	i := bytes.Index(p.text[p.at:], []byte(delimiter))
	if i < 0 {
		return p.malformed(p.at, "no "+delimiter+" after it")
	}
	p.at += i + len(delimiter)
	return nil
}

func (p *parser) malformed(at int, what string) error {
	return fmt.Errorf("%w: byte %d: %s", ErrMalformed, p.doc.position(uint32(at)), what)
}

func (p *parser) tooMany(what string) error {
	return fmt.Errorf("%w: byte %d: too many %s", ErrLimit, p.doc.position(uint32(p.at)), what)
}

// nameError distinguishes exceeded limits from malformed names.
func (p *parser) nameError(at int, err error) error {
	kind := ErrMalformed
	if errors.Is(err, errTooMany) {
		kind = ErrLimit
	}
	return fmt.Errorf("%w: byte %d: %w", kind, p.doc.position(uint32(at)), err)
}

// startTag parses a start tag or an empty-element tag ([40], [44]).
func (p *parser) startTag() error {
	start := p.at
	p.at++
	tag, err := p.qname()
	if err != nil {
		return err
	}
	length := p.at - start - 1
	switch {
	case len(p.open) == 0 && p.doc.tree.root != none:
		return p.malformed(start, "a second root element")
	case len(p.open) > maxDepth:
		return p.tooMany("elements in each other")
	}
	if err := p.attributes(); err != nil {
		return err
	}
	empty := p.has("/>")
	if p.at++; empty {
		p.at++
	}
	return p.element(start, tag, length, empty)
}

// element adds the element whose tag has been parsed.
func (p *parser) element(start int, tag int32, length int, empty bool) error {
	mark := len(p.scope.shadowedBindings)
	if err := p.declare(); err != nil {
		return err
	}
	name, err := p.scope.element(tag)
	if err != nil {
		return p.nameError(start, err)
	}
	n := p.add(name, start)
	if len(p.open) == 0 {
		p.doc.tree.root = n
	}
	if err := p.addAttributes(n); err != nil {
		return err
	}
	if empty {
		p.scope.restore(mark)
		return nil
	}
	p.open = append(p.open, openElement{n, length, mark})
	return nil
}

// qname parses a name with at most one colon (Namespaces in XML 1.0 [7]).
func (p *parser) qname() (written int32, err error) {
	start := p.at
	prefix := ncName(p.text[p.at:])
	p.at += prefix
	local := prefix
	if prefix > 0 && p.has(":") {
		p.at++
		local = ncName(p.text[p.at:])
		p.at += local
	} else {
		prefix = 0
	}
	if local == 0 || p.has(":") {
		return 0, p.malformed(start, "not a name of an element or an attribute")
	}
	if written, err = p.scope.internName(p.text[start:p.at], prefix); err != nil {
		return 0, p.nameError(start, err)
	}
	return written, nil
}

// endTag parses the end tag of the innermost open element ([42]).
func (p *parser) endTag() error {
	start := p.at
	p.at += len("</")
	if len(p.open) == 0 {
		return p.malformed(start, "an end tag without a start tag")
	}
	last := p.open[len(p.open)-1]
	opened := int(p.doc.tree.nodes.at(last.node).start) + 1
	rest := p.text[p.at:]
	if !bytes.HasPrefix(rest, p.text[opened:opened+last.name]) {
		return p.malformed(start, "an end tag of another element")
	}
	p.at += last.name
	if p.skipSpace(); !p.has(">") {
		return p.malformed(p.at, "an end tag of another element, or without >")
	}
	p.at++
	p.close(last)
	return nil
}

func (p *parser) close(last openElement) {
	n := p.doc.tree.nodes.at(last.node)
	n.end, n.next = uint32(p.at), p.doc.tree.nodes.length
	p.open = p.open[:len(p.open)-1]
	p.scope.restore(last.scope)
}

// pendingAttribute is an attribute of a start tag that has not been parsed to its end, so the
// namespace of its prefix is not known yet.
type pendingAttribute struct {
	name       int32 // in scope.written
	start, end int   // its value
}

// attributes parses the attributes of a tag, up to the end of the tag.
func (p *parser) attributes() error {
	p.pending = p.pending[:0]
	for {
		spaced := p.skipSpace()
		switch {
		case p.has(">"), p.has("/>"):
			return nil
		case !spaced:
			return p.malformed(p.at, "no white space before an attribute, or no end of the tag")
		case len(p.pending) == maxAttributes:
			return p.tooMany("attributes")
		}
		if err := p.attribute(); err != nil {
			return err
		}
	}
}

func (p *parser) skipSpace() bool {
	start := p.at
	for p.at < len(p.text) && class[p.text[p.at]]&isSpace != 0 {
		p.at++
	}
	return p.at > start
}

// attribute parses one attribute ([41], [10]).
func (p *parser) attribute() error {
	name, err := p.qname()
	if err != nil {
		return err
	}
	p.skipSpace()
	if !p.has("=") {
		return p.malformed(p.at, "an attribute without a value")
	}
	p.at++
	p.skipSpace()
	start, end, err := p.quoted()
	if err != nil {
		return err
	}
	p.pending = append(p.pending, pendingAttribute{name, start, end})
	return p.references(start, end)
}

// quoted skips a quoted value and returns its offsets.
func (p *parser) quoted() (start, end int, err error) {
	if !p.has(`"`) && !p.has("'") {
		return 0, 0, p.malformed(p.at, "an attribute value without quotes")
	}
	start = p.at + 1
	length := bytes.IndexByte(p.text[start:], p.text[p.at])
	if length < 0 {
		return 0, 0, p.malformed(p.at, "an attribute value without a closing quote")
	}
	end = start + length
	p.at = end + 1
	if i := bytes.IndexByte(p.text[start:end], '<'); i >= 0 {
		return 0, 0, p.malformed(start+i, "\"<\" in an attribute's value")
	}
	return start, end, nil
}

// declare binds the prefixes that the pending attributes declare.
func (p *parser) declare() error {
	for _, a := range p.pending {
		if p.scope.written[a.name].binds == none {
			continue
		}
		c := characters{raw: p.text[a.start:a.end], attribute: true}
		if err := p.scope.declare(a.name, c.value()); err != nil {
			return p.nameError(a.start, err)
		}
	}
	return nil
}

// addAttributes adds the pending attributes to an element. Each expanded name may occur once
// (Namespaces in XML 1.0 6.3).
func (p *parser) addAttributes(n int32) error {
	if int(p.doc.tree.attributes.length)+len(p.pending) > maxAllAttributes {
		return p.tooMany("attributes")
	}
	for _, a := range p.pending {
		name, err := p.scope.attribute(a.name)
		if err != nil {
			return p.nameError(a.start, err)
		}
		if p.scope.markSeen(name, n) {
			return p.malformed(a.start, "an attribute twice")
		}
		if p.doc.tree.names[name].kind == identifierName {
			p.doc.tree.identifiers++
		}
		p.doc.tree.attributes.add(attribute{name, uint32(a.start), uint32(a.end)})
	}
	return nil
}
