// Package doc parses XML documents strictly, keeps the byte offsets of all nodes, and writes
// canonical forms (Canonical XML 1.0 and 1.1, Exclusive XML Canonicalization 1.0). It does not
// change documents: a signer inserts bytes into the source.
//
// A document has to be well-formed (XML 1.0, fifth edition; Namespaces in XML 1.0, third edition)
// and must not have a document type declaration, because entities defined elsewhere, default
// attributes and external addresses make signatures ambiguous. It has to declare its encoding as
// XML requires: UTF-8, UTF-16, or a single-byte charset that contains ASCII and that Java and
// libxml2 decode in the same way. Offsets refer to the original bytes.
//
// A document has at most 1 GiB, 4 million nodes, a depth of 256 elements, 10,000 attributes of one
// element, 4 million attributes, and 65,536 different names. A tree takes about 0.4 of the memory
// of the document, and at most about 110 MB. The table of identifiers, which is made when one is looked
// up, takes up to 67 MB more.
package doc

import (
	"encoding/xml"
	"errors"
	"strings"
	"unicode/utf8"
)

var (
	// ErrMalformed: the source is not a well-formed XML document with namespaces.
	ErrMalformed = errors.New("xmldoc: not well-formed")
	// ErrDoctype: the document has a document type declaration.
	ErrDoctype = errors.New("xmldoc: document type declaration")
	// ErrEncoding: the encoding of the source is not supported, or not the declared one.
	ErrEncoding = errors.New("xmldoc: encoding")
	// ErrLimit: the document exceeds a limit of the package comment.
	ErrLimit = errors.New("xmldoc: limit exceeded")
)

// Name is the expanded name of an element or an attribute.
type Name struct{ Space, Local string }

// Kind is the kind of a node.
type Kind uint8

const (
	Element Kind = iota + 1
	Text         // character data, with the CDATA sections in it
	Comment
	Instruction
)

// Node is a node of a document, comparable with ==. The zero value is no node.
type Node struct {
	doc   *Document
	index int32
	part  part
}

// part is what a Node is of the node in the tree that it names.
type part uint8

const (
	wholeNode  part = iota
	textInside      // the text that follows its start tag
	textBehind      // the text that follows it
)

// Subset is the part of a document that a canonical form contains: the element Apex with its
// content, or the whole document if Apex is zero. Elements for which Without (if not nil) returns
// true are left out, with their content.
type Subset struct {
	Apex    Node
	Without func(element Node) bool
	Named   Name // the name of all elements for which Without can return true; zero: any
}

// Method is a canonicalization method.
type Method uint8

const (
	C14N10    Method = iota + 1 // Canonical XML 1.0
	C14N11                      // Canonical XML 1.1
	Exclusive                   // Exclusive XML Canonicalization 1.0
)

// Canonicalization is a method with its parameters.
type Canonicalization struct {
	Method   Method
	Comments bool     // keep comments
	Prefixes []string // for Exclusive: InclusiveNamespaces PrefixList, with "" for #default
}

// HasComments reports whether a part of the document has comments.
func (d *Document) HasComments(s Subset) bool {
	if d.tree.comments == 0 {
		return false
	}
	first, end := d.nodesOf(s)
	out := d.exclusionOf(s)
	for i := first; i < end; {
		switch n := d.tree.nodes.at(i); {
		case n.kind == Comment:
			return true
		case n.kind == Element && out.excludes(i, n):
			i = d.tree.next(i)
		default:
			i++
		}
	}
	return false
}

// nodesOf returns the nodes of the apex of a subset, or of the document.
func (d *Document) nodesOf(s Subset) (first, end int32) {
	if s.Apex == (Node{}) {
		return 0, d.tree.nodes.length
	}
	return s.Apex.index, d.tree.next(s.Apex.index)
}

// exclusion is what a subset leaves out.
type exclusion struct {
	doc     *Document
	without func(Node) bool
	named   []bool // the names of elements that can be left out; nil: all
}

func (d *Document) exclusionOf(s Subset) exclusion {
	e := exclusion{doc: d, without: s.Without}
	if s.Without != nil && s.Named != (Name{}) {
		var some bool
		if e.named, some = d.tree.matching(func(n Name) bool { return n == s.Named }); !some {
			e.without = nil
		}
	}
	return e
}

// excludes reports whether an element is left out.
func (e *exclusion) excludes(i int32, n *node) bool {
	return e.without != nil && (e.named == nil || e.named[n.name]) && e.without(Node{doc: e.doc, index: i})
}

// Document is a parsed document. It is immutable, and several goroutines may use it at once.
type Document struct {
	source      []byte
	text        []byte // in UTF-8 without a byte order mark; a part of source if that is UTF-8
	coding      coding
	declaration uint32 // where the XML declaration ends in the text; 0 without one
	tree        tree
	ids         identifiers
	order       ranks
}

// Root returns the document element.
func (d *Document) Root() Node { return Node{doc: d, index: d.tree.root} }

// value returns the normalized value of an attribute.
func (d *Document) value(a attribute) string {
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	return c.value()
}

// maxPortableName is the longest name, in characters without its prefix, that Java's parsers accept.
const maxPortableName = 1000

// HasPortableNames reports whether other parsers accept all names of the document. The parsers of Java
// and of Go accept only the names of the fourth edition of XML 1.0 (appendix B), a subset of those
// of the fifth edition.
func (d *Document) HasPortableNames() bool {
	for _, n := range d.tree.names {
		if !isCommon(n.local) || !isCommon(n.prefix) {
			return false
		}
	}
	return true
}

// isCommon asks Go's parser, which gets only the beginning of a tag.
func isCommon(name string) bool {
	if utf8.RuneCountInString(name) > maxPortableName {
		return false
	}
	if isASCII(name) {
		return true
	}
	_, err := xml.NewDecoder(strings.NewReader("<" + name + ">")).RawToken()
	return err == nil
}

func isASCII(s string) bool {
	for i := range len(s) {
		if s[i] >= utf8.RuneSelf {
			return false
		}
	}
	return true
}

// Prefixes returns the prefixes that a document declares, in the order of their first declarations.
// "" is the default namespace.
func (d *Document) Prefixes() []string {
	var all []string
	for i := range d.tree.names {
		if n := &d.tree.names[i]; n.kind == declarationName {
			all = append(all, n.local)
		}
	}
	return all
}

// RemainingLimits returns how many nodes, attributes, and different names or namespaces can be
// added to the document before [Parse] refuses it.
func (d *Document) RemainingLimits() (nodes, attributes, names int) {
	t := &d.tree
	return maxNodes - int(t.nodes.length+t.texts), maxAllAttributes - int(t.attributes.length), maxNames - max(len(t.names), len(t.bound.uris))
}
