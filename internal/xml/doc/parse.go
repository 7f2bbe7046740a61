package doc

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"unicode/utf8"
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
	// at most 8 MB.
	maxAllAttributes = 1 << 22

	// maxNames bounds the different names, and the different namespaces. Vocabularies have
	// hundreds.
	maxNames = 1 << 16

	// maxNodes bounds the tree of a document that consists of tags to 85 MB. Typical documents of
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
	checked := make(chan error, 1)
	if len(d.text) < checkedBeside {
		checked <- d.checkText()
	} else {
		go func() { checked <- d.checkText() }()
	}
	p := parser{doc: d, text: d.text, scope: newScope(&d.tree)}
	err := p.document()
	if err := cmp.Or(<-checked, err); err != nil {
		return nil, err
	}
	return d, nil
}

// checkedBeside is the length of the text from which on its characters are checked beside parsing. The
// parser reads any bytes.
const checkedBeside = 64 << 10

// checkText returns an error if the text is not UTF-8, or has a character that XML does not allow.
func (d *Document) checkText() error {
	if !utf8.Valid(d.text) {
		return fmt.Errorf("%w: not UTF-8", ErrEncoding)
	}
	if at := indexForbidden(d.text); at >= 0 {
		return d.malformed(at, "a character that XML does not allow")
	}
	return nil
}

// parser parses the text in one pass.
type parser struct {
	doc     *Document
	text    []byte
	at      int
	open    []openElement
	pending []pendingAttribute
	scope   *scope

	tag        traits // of the start tag that is parsed
	last       *node  // the node after whose start tag or end the parser is
	insideLast bool   // it is after the start tag
}

// openElement is an element whose end tag has not been parsed.
type openElement struct {
	node  int32
	entry *node
	name  int // the length of its name in the source
	scope int // length of shadowedBindings before its declarations
}

func (p *parser) document() error {
	_, length, _ := parseDeclaration(p.text)
	p.doc.declaration, p.doc.tree.root, p.at = uint32(length), none, length
	for p.at < len(p.text) {
		if err := p.next(); err != nil {
			return err
		}
		if p.doc.tree.nodes.length+p.doc.tree.texts > maxNodes {
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
	if p.text[p.at] != '<' {
		return p.characterData()
	}
	switch rest := p.text[p.at+1:]; {
	case len(rest) == 0:
	case rest[0] == '/':
		return p.endTag()
	case rest[0] == '?':
		return p.instruction()
	case rest[0] == '!':
		return p.declaration()
	}
	return p.startTag()
}

// declaration parses what begins with "<!".
func (p *parser) declaration() error {
	switch {
	case p.has(cdataStart):
		return p.characterData()
	case p.has("<!--"):
		return p.comment()
	case p.has("<!DOCTYPE"):
		return fmt.Errorf("%w at byte %d", ErrDoctype, p.doc.position(uint32(p.at)))
	}
	return p.startTag() // which refuses it
}

func (p *parser) has(prefix string) bool {
	return len(p.text)-p.at >= len(prefix) && string(p.text[p.at:p.at+len(prefix)]) == prefix
}

// sees reports whether b is the next byte.
func (p *parser) sees(b byte) bool { return p.at < len(p.text) && p.text[p.at] == b }

// add adds a node that begins at start and ends at the parser's position.
func (p *parser) add(kind Kind, name int32, start int, is traits) int32 {
	parent := none
	if len(p.open) > 0 {
		parent = p.open[len(p.open)-1].node
	}
	t := &p.doc.tree
	n := t.nodes.add(node{
		start: uint32(start), end: uint32(p.at), parent: parent, attributes: t.attributes.length,
		name: uint16(name), kind: kind, is: is,
	})
	p.last, p.insideLast = t.nodes.at(n), false
	return n
}

// addText adds the text node that follows the last tag, comment or instruction.
func (p *parser) addText(plain bool) {
	has, rough := hasTail, roughTail
	if p.insideLast {
		has, rough = hasText, roughText
	}
	if !plain {
		has |= rough
	}
	p.last.is |= has
	p.doc.tree.texts++
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

func (p *parser) malformed(at int, what string) error { return p.doc.malformed(at, what) }

func (d *Document) malformed(at int, what string) error {
	return fmt.Errorf("%w: byte %d: %s", ErrMalformed, d.position(uint32(at)), what)
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
	empty := p.text[p.at] == '/'
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
	if empty {
		p.tag |= emptyTag
	}
	n := p.add(Element, name, start, p.tag)
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
	p.insideLast = true
	p.open = append(p.open, openElement{n, p.last, length, mark})
	return nil
}

// qname parses a name with at most one colon (Namespaces in XML 1.0 [7]).
func (p *parser) qname() (written int32, err error) {
	start := p.at
	prefix := ncName(p.text[p.at:])
	p.at += prefix
	local := prefix
	if prefix > 0 && p.sees(':') {
		p.at++
		local = ncName(p.text[p.at:])
		p.at += local
	} else {
		prefix = 0
	}
	if local == 0 || p.sees(':') {
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
	last := &p.open[len(p.open)-1]
	opened := int(last.entry.start) + len("<")
	rest := p.text[p.at:]
	if !bytes.HasPrefix(rest, p.text[opened:opened+last.name]) {
		return p.malformed(start, "an end tag of another element")
	}
	p.at += last.name
	spaced := !p.sees('>') && p.skipSpace()
	if !p.sees('>') {
		return p.malformed(p.at, "an end tag of another element, or without >")
	}
	p.at++
	p.close(last, spaced)
	return nil
}

func (p *parser) close(last *openElement, spaced bool) {
	if last.entry.end = uint32(p.at); spaced {
		last.entry.is |= roughEnd
	}
	p.last, p.insideLast = last.entry, false
	p.open = p.open[:len(p.open)-1]
	p.scope.restore(last.scope)
}

// pendingAttribute is an attribute of a start tag that has not been parsed to its end, so the
// namespace of its prefix is not known yet.
type pendingAttribute struct {
	name       int32 // in scope.written
	written    int   // where it begins
	start, end int   // its value
}

// attributes parses the attributes of a tag, up to the end of the tag.
func (p *parser) attributes() error {
	p.pending, p.tag = p.pending[:0], simpleTag
	for {
		before := p.at
		spaced := p.skipSpace()
		switch {
		case p.sees('>'), p.sees('/') && p.has("/>"):
			if spaced {
				p.tag = 0
			}
			return nil
		case !spaced:
			return p.malformed(p.at, "no white space before an attribute, or no end of the tag")
		case len(p.pending) == maxAttributes:
			return p.tooMany("attributes")
		}
		plain, err := p.attribute()
		if err != nil {
			return err
		}
		if !plain || p.text[before] != ' ' || p.pending[len(p.pending)-1].written != before+1 || !p.inOrder() {
			p.tag = 0
		}
	}
}

// inOrder reports whether the last pending attribute comes after the one before in a canonical form
// too. Both have no prefix.
func (p *parser) inOrder() bool {
	last := len(p.pending) - 1
	return last == 0 || p.scope.written[p.pending[last-1].name].text < p.scope.written[p.pending[last].name].text
}

func (p *parser) skipSpace() bool {
	start := p.at
	for p.at < len(p.text) && class[p.text[p.at]]&isSpace != 0 {
		p.at++
	}
	return p.at > start
}

// attribute parses one attribute ([41], [10]). plain reports whether it is the same in canonical form:
// it has no prefix and declares no namespace, and no other white space or quotes would be written.
func (p *parser) attribute() (plain bool, err error) {
	at := p.at
	name, err := p.qname()
	if err != nil {
		return false, err
	}
	spaced := p.skipSpace()
	if !p.sees('=') {
		return false, p.malformed(p.at, "an attribute without a value")
	}
	p.at++
	spaced = p.skipSpace() || spaced
	start, end, plain, err := p.quoted()
	if err != nil {
		return false, err
	}
	p.pending = append(p.pending, pendingAttribute{name, at, start, end})
	w := &p.scope.written[name]
	return plain && !spaced && w.prefix == noPrefix && w.binds == none, nil
}

// quoted parses a quoted value and returns its offsets. plain reports whether it is the same in
// canonical form.
func (p *parser) quoted() (start, end int, plain bool, err error) {
	if !p.sees('"') && !p.sees('\'') {
		return 0, 0, false, p.malformed(p.at, "an attribute value without quotes")
	}
	quote := p.text[p.at]
	start, plain = p.at+1, quote == '"'
	for end = start; end < len(p.text); end++ {
		switch b := p.text[end]; {
		case class[b]&endsPlainValue == 0:
		case b == quote:
			p.at = end + 1
			return start, end, plain, nil
		case b == '<':
			return 0, 0, false, p.malformed(end, "\"<\" in an attribute's value")
		case b == '&':
			n, canonical := p.reference(end, canonicalInValue)
			if n == 0 {
				return 0, 0, false, p.malformed(end, noReference)
			}
			plain = plain && canonical
			end += n - 1
		case b != '"' && b != '\'':
			plain = false
		}
	}
	return 0, 0, false, p.malformed(p.at, "an attribute value without a closing quote")
}

// declare binds the prefixes that the pending attributes declare.
func (p *parser) declare() error {
	if p.tag&simpleTag != 0 { // it declares nothing
		return nil
	}
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
		p.doc.tree.attributes.add(uint16(name))
	}
	return nil
}
