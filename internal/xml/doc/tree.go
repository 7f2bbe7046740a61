package doc

import (
	"slices"
	"strings"
	"sync"
)

// tree is a document in three tables. Nodes are in document order, an element before its content,
// so the content of a node is the part of the table between the node and its next. Attributes are
// in the order of the source, so those of an element are consecutive. Nodes and attributes have
// offsets into the text of the document, and values are read from there. Each name is stored once.
type tree struct {
	nodes      table[node]
	attributes table[attribute]
	names      []name
	root       int32

	identifiers int32 // how many attributes are identifiers
}

// node is an element, a text node, a comment or a processing instruction. A text node includes
// references and CDATA sections, so two text nodes are never adjacent.
type node struct {
	start, end uint32 // offsets in the text, including tags or delimiters
	parent     int32  // the parent element; none for the root and outside of it
	next       int32  // the node after the content of this one
	name       int32  // of an element or an instruction; else runName or commentName
	attributes int32  // its first attribute; those of the node after it follow its last
}

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
}

type nameKind uint8

const (
	plainName       nameKind = iota
	identifierName           // of an attribute that gives an element its identifier
	declarationName          // of a namespace declaration; local is the prefix that it binds, "" for the default
	instructionName
)

const (
	none        int32 = -1
	runName     int32 = -2
	commentName int32 = -3
)

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
