package doc

import (
	"bytes"
	"errors"
	"fmt"
)

const (
	// maxSource keeps offsets in the text, which has at most three bytes for one of the source, in 32
	// bits.
	maxSource = 1 << 30

	// maxDepth is how many elements can be around another. It is that of libxml2, and so of xmlsec1:
	// they could not verify a deeper document.
	maxDepth = 256

	// maxAttributes of one element, namespace declarations among them, is that of Java's parsers.
	maxAttributes = 10_000

	// maxAllAttributes, namespace declarations among them, keeps those of a document within 50 MB.
	maxAllAttributes = 1 << 22

	// maxNames is for names that are different, in different namespaces. Vocabularies have hundreds.
	maxNames = 1 << 16

	// maxNodes keeps the tree of a document that is all tags within 100 MB. Where a document of 30 MB
	// says something, it has a node for every twenty bytes.
	maxNodes = 1 << 22
)

// Parse reads a document. It keeps the source, which is not to change any more. [ErrMalformed],
// [ErrDoctype], [ErrEncoding] and [ErrLimit].
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

// parser goes through the text once.
type parser struct {
	doc     *Document
	text    []byte
	at      int
	open    []unclosed
	pending []pendingAttribute
	scope   *scope
}

// unclosed is an element whose end tag is to come.
type unclosed struct {
	node  int32
	name  int // the length of its name in the source
	scope int // to go back to at its end
}

func (p *parser) document() error {
	if at := forbidden(p.text); at >= 0 {
		return p.malformed(at, "no character of XML")
	}
	_, length, _ := parseDeclaration(p.text)
	p.doc.declaration, p.doc.tree.root, p.at = uint32(length), none, length
	for p.at < len(p.text) {
		if err := p.next(); err != nil {
			return err
		}
		if p.doc.tree.nodes.length > maxNodes {
			return p.beyond("nodes")
		}
	}
	if p.doc.tree.root == none || len(p.open) > 0 {
		return p.malformed(p.at, "the document ends before its root does")
	}
	return nil
}

// next reads one piece of markup, or one run of character data.
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

// add adds a node that begins at start and ends where the parser is.
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

// skipPast goes past the next occurrence of a delimiter.
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

func (p *parser) beyond(what string) error {
	return fmt.Errorf("%w: byte %d: too many %s", ErrLimit, p.doc.position(uint32(p.at)), what)
}

// refuse tells limits from what is not well-formed.
func (p *parser) refuse(at int, err error) error {
	kind := ErrMalformed
	if errors.Is(err, errTooMany) {
		kind = ErrLimit
	}
	return fmt.Errorf("%w: byte %d: %w", kind, p.doc.position(uint32(at)), err)
}
