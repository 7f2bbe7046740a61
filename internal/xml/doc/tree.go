package doc

import (
	"bytes"
	"slices"
	"sort"
	"strings"
	"sync"
)

// tree is a document in two tables. Nodes are in document order, an element before its content, so
// the content of an element is the part of the table up to the first node that begins behind its
// end. Text is in no table: it is what is between tags, comments and instructions. All values are
// read from the text of the document, and each name is stored once.
type tree struct {
	nodes      table[node]
	attributes table[uint16] // the names of attributes and declarations, in the order of the source
	names      []name
	root       int32
	bound      names // prefixes and namespaces

	texts       int32 // how many text nodes there are
	comments    int32 // how many comments there are
	identifiers int32 // how many attributes are identifiers
}

// node is an element, a comment or a processing instruction.
type node struct {
	start, end uint32 // offsets in the text, including tags or delimiters
	parent     int32  // the parent element; none for the root and outside of it
	attributes int32  // its first attribute; those of the node after it follow its last
	name       uint16 // of an element or an instruction
	kind       Kind
	is         traits
}

// traits are what the parser notes of a node for those who read it later. A tag or a text is plain
// if its canonical form is the same as the source.
type traits uint8

const (
	hasText   traits = 1 << iota // text follows the start tag
	roughText                    // and is not plain
	hasTail                      // text follows the node, in the same parent
	roughTail                    // and is not plain

	// simpleTag: the start tag is plain if no namespace has to be declared in it. It declares none
	// and its attributes have no prefix. Of an empty-element tag, this is about what is before "/>".
	simpleTag
	emptyTag // the element is an empty-element tag
	roughEnd // the end tag is not plain
)

// attribute is an attribute or a namespace declaration.
type attribute struct {
	name       int32
	start, end uint32 // its value in the text, without the quotes
}

// name is a name with its prefix and the namespace to which that is bound.
type name struct {
	prefix, local string
	space         string // of a declaration, the namespace of xmlns
	expanded      int32  // equal for names that differ only in their prefix
	kind          nameKind

	prefixNumber, spaceNumber int32 // in tree.bound
	binds                     int32 // the prefix that a declaration binds
}

// names are the numbers of prefixes and namespaces.
type names struct {
	prefixes    map[string]int32
	prefixTexts []string
	spaces      map[string]int32
	uris        []string // of spaces
}

// prefixSet returns a table that says of each prefix whether it is in a list.
func (n *names) prefixSet(list []string) []bool {
	set := make([]bool, len(n.prefixTexts))
	for _, prefix := range list {
		if number, known := n.prefixes[prefix]; known {
			set[number] = true
		}
	}
	return set
}

type nameKind uint8

const (
	plainName       nameKind = iota
	identifierName           // of an attribute that gives an element its identifier
	declarationName          // of a namespace declaration; local is the prefix that it binds, "" for the default
	instructionName
)

const none int32 = -1

// Namespaces that are bound to a prefix everywhere.
const (
	xmlSpace   = "http://www.w3.org/XML/1998/namespace"
	xmlnsSpace = "http://www.w3.org/2000/xmlns/"
)

// attributesOf returns the range of a node's attributes in the table. end is not included.
func (t *tree) attributesOf(n int32) (first, end int32) {
	first, end = t.nodes.at(n).attributes, t.attributes.length
	if n+1 < t.nodes.length {
		end = t.nodes.at(n + 1).attributes
	}
	return first, end
}

// after returns the first node that does not begin before an offset. It looks among the nodes from
// first on, and first near by.
func (t *tree) after(offset uint32, first int32) int32 {
	step := int32(1)
	for first < t.nodes.length && t.nodes.at(first).start < offset {
		if first+step >= t.nodes.length || t.nodes.at(first+step).start >= offset {
			count := int(min(step, t.nodes.length-first))
			return first + int32(sort.Search(count, func(i int) bool { return t.nodes.at(first+int32(i)).start >= offset }))
		}
		first, step = first+step, 2*step
	}
	return first
}

// next returns the node after the content of a node.
func (t *tree) next(n int32) int32 { return t.after(t.nodes.at(n).end, n+1) }

// tag is a start tag that is read anew. Its attributes are read in the order of the source.
type tag struct {
	*Document
	at   uint32 // end of what has been read
	next int32  // its next attribute, in tree.attributes
	end  int32
}

func (d *Document) tagOf(i int32) tag {
	n := d.tree.nodes.at(i)
	t := tag{Document: d, at: n.start}
	if n.kind == Element {
		t.at += uint32(len("<") + d.tree.names[n.name].length())
		t.next, t.end = d.tree.attributesOf(i)
	}
	return t
}

// attribute reads the next attribute.
func (t *tag) attribute() (a attribute, ok bool) {
	if t.next == t.end {
		return a, false
	}
	a.name = int32(*t.tree.attributes.at(t.next))
	t.next++
	for t.text[t.at] != '"' && t.text[t.at] != '\'' {
		t.at++
	}
	a.start = t.at + 1
	a.end = t.valueEnd(a.start)
	t.at = a.end + 1
	return a, true
}

// valueEnd returns the end of the value of an attribute that begins at an offset.
func (d *Document) valueEnd(start uint32) uint32 {
	return start + uint32(bytes.IndexByte(d.text[start:], d.text[start-1]))
}

// close reads the rest of the tag and returns where it ends.
func (t *tag) close() uint32 {
	for _, ok := t.attribute(); ok; _, ok = t.attribute() {
	}
	for t.text[t.at] != '>' {
		t.at++
	}
	return t.at + 1
}

// textOf returns the offsets of the text after the start tag of an element.
func (d *Document) textOf(i int32) (start, end uint32) {
	t := d.tagOf(i)
	start = t.close()
	n := d.tree.nodes.at(i)
	if i+1 < d.tree.nodes.length && d.tree.nodes.at(i+1).start < n.end {
		return start, d.tree.nodes.at(i + 1).start
	}
	return start, d.endTag(n)
}

// tailOf returns the offsets of the text behind a node. next is the node after its content.
func (d *Document) tailOf(i, next int32) (start, end uint32) {
	n := d.tree.nodes.at(i)
	parent := d.tree.nodes.at(n.parent)
	if next < d.tree.nodes.length && d.tree.nodes.at(next).start < parent.end {
		return n.end, d.tree.nodes.at(next).start
	}
	return n.end, d.endTag(parent)
}

// endTag returns the offset of the end tag of an element that has one.
func (d *Document) endTag(n *node) uint32 {
	return n.start + uint32(bytes.LastIndexByte(d.text[n.start:n.end], '<'))
}

// table is a list that never moves its elements. It grows in pieces, so a large document never
// needs the memory of its tree twice.
type table[T any] struct {
	pieces [][]T
	length int32
}

const (
	pieceBits = 10
	pieceSize = 1 << pieceBits
)

func (t *table[T]) at(i int32) *T { return &t.pieces[i>>pieceBits][i&(pieceSize-1)] }

func (t *table[T]) add(v T) int32 {
	i := t.length
	if i&(pieceSize-1) == 0 {
		t.pieces = append(t.pieces, make([]T, pieceSize))
	}
	*t.at(i) = v
	t.length++
	return i
}

// ranks are the positions of the names in the order of attributes: by namespace, with no namespace
// first, then by local name (Canonical XML 1.1, 2.2). They are computed once, because an element
// can have ten thousand attributes and be canonicalized many times.
type ranks struct {
	once sync.Once
	of   []int32 // tree.names
}

func (d *Document) ranks() []int32 {
	d.order.once.Do(func() {
		names := d.tree.names
		sorted := make([]int32, len(names))
		for i := range sorted {
			sorted[i] = int32(i)
		}
		slices.SortFunc(sorted, func(a, b int32) int { return names[a].compare(&names[b]) })
		d.order.of = make([]int32, len(names))
		for rank, i := range sorted {
			d.order.of[i] = int32(rank)
		}
	})
	return d.order.of
}

func (n *name) compare(other *name) int {
	if order := strings.Compare(n.space, other.space); order != 0 {
		return order
	}
	return strings.Compare(n.local, other.local)
}

// length returns the length of the qualified name.
func (n *name) length() int {
	if n.prefix == "" {
		return len(n.local)
	}
	return len(n.prefix) + len(":") + len(n.local)
}
