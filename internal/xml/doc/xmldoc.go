// Package doc reads XML documents strictly, keeps where everything stands in their bytes, and
// writes canonical forms of them (Canonical XML 1.0 and 1.1, Exclusive XML Canonicalization
// 1.0). It changes nothing: who signs a document puts bytes between bytes.
//
// A document is well-formed (XML 1.0, fifth edition), and so are its namespaces (Namespaces in XML
// 1.0, third edition), and it has no document type declaration: entities that somebody else defines,
// attributes that are not written down and addresses that have to be asked do not go with signatures.
// It is in UTF-8, in UTF-16, or in a charset of single bytes that contains ASCII and in which Java and
// libxml2 read the same characters, and says so itself; positions are of the bytes as they came.
//
// What is read has at most 1 GiB, 4 million nodes, elements with 256 others around them, 10,000
// attributes of an element, 4 million attributes, and 65,536 different names. A tree takes about as much memory as the
// document, and at most some 150 MB.
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
	// ErrEncoding: the source is in an encoding that is not read, or not in the one it says.
	ErrEncoding = errors.New("xmldoc: encoding")
	// ErrLimit: the document is deeper, or has more of something, than is read.
	ErrLimit = errors.New("xmldoc: limit exceeded")
)

// Name is the expanded name of an element or an attribute.
type Name struct{ Space, Local string }

// Kind says what a node is.
type Kind uint8

const (
	Element Kind = iota + 1
	Text         // one run of character data, CDATA sections among it
	Comment
	Instruction
)

// Node is a node of a document, comparable with ==. The zero value is none.
type Node struct {
	doc   *Document
	index int32
}

// Subset is what is written in canonical form: the element Apex with all that is in it, or the whole
// document where Apex is zero, but for the elements of which Without (if not nil) says so, with all
// that is in them.
type Subset struct {
	Apex    Node
	Without func(element Node) bool
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
	Comments bool     // comments stay
	Prefixes []string // of Exclusive: InclusiveNamespaces PrefixList, "" for #default
}

// HasComments reports whether there are comments in a part of the document.
func (d *Document) HasComments(s Subset) bool {
	first, end := int32(0), d.tree.nodes.length
	if s.Apex != (Node{}) {
		first, end = s.Apex.index, s.Apex.entry().next
	}
	for i := first; i < end; {
		switch n := d.tree.nodes.at(i); {
		case n.name == commentName:
			return true
		case n.name >= 0 && s.Without != nil && s.Without(Node{d, i}):
			i = n.next
		default:
			i++
		}
	}
	return false
}

// Document is a document that was read. It does not change, and several goroutines may use it.
type Document struct {
	source      []byte
	text        []byte // the document in UTF-8, without a byte order mark; of the source where that is so
	coding      coding
	declaration uint32 // where the XML declaration ends in the text; 0 without one
	tree        tree
	spaces      int // how many namespaces it names
	ids         identifiers
	order       ranks
}

// Root is the document element.
func (d *Document) Root() Node { return Node{d, d.tree.root} }

// value is what the value of an attribute is, normalized.
func (d *Document) value(a *attribute) string {
	c := characters{raw: d.text[a.start:a.end], attribute: true}
	return c.value()
}

// run is what a run of character data stands for.
func (d *Document) run(n int32) string {
	e := d.tree.nodes.at(n)
	c := characters{raw: d.text[e.start:e.end]}
	return c.value()
}

// maxCommonName is how many characters Java's parsers let a name have, without its prefix.
const maxCommonName = 1000

// CommonNames says whether other parsers read the names of a document. Those of Java and of Go know
// the names of the fourth edition of XML 1.0 (appendix B there) alone, which are some of the fifth's.
func (d *Document) CommonNames() bool {
	for _, n := range d.tree.names {
		if !isCommon(n.local) || !isCommon(n.prefix) {
			return false
		}
	}
	return true
}

// isCommon asks the parser of Go, which is asked for no more than the beginning of one tag.
func isCommon(name string) bool {
	if utf8.RuneCountInString(name) > maxCommonName {
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

// Prefixes are those that a document declares, in the order in which they first occur: "" is the default
// namespace.
func (d *Document) Prefixes() []string {
	var all []string
	for i := range d.tree.names {
		if n := &d.tree.names[i]; n.kind == declarationName {
			all = append(all, n.local)
		}
	}
	return all
}

// RemainingLimits is how many nodes, how many attributes, and how many different names or namespaces, a document may
// still get before [Parse] refuses it.
func (d *Document) RemainingLimits() (nodes, attributes, names int) {
	t := &d.tree
	return maxNodes - int(t.nodes.length), maxAllAttributes - int(t.attributes.length), maxNames - max(len(t.names), d.spaces)
}
