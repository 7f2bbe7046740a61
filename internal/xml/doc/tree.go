package doc

import (
	"slices"
	"strings"
	"sync"
)

// The tree is three tables. Nodes stand in document order, an element before all that is in it, so
// that the inside of a node is the stretch of the table between it and its next; attributes stand
// in the order of the source, those of an element together. Whatever a document says is not copied:
// nodes and attributes know where they stand in its text, and values are read there. Names alone are
// kept, each once.
type tree struct {
	nodes      table[node]
	attributes table[attribute]
	names      []name
	root       int32

	identifiers int32 // attributes that are
}

// node is an element, a run of character data, a comment or an instruction. References, CDATA
// sections and what is around them are one run; no run stands beside another.
type node struct {
	start, end uint32 // where it stands in the text, with its tags or delimiters
	parent     int32  // the element around it; none outside of the root and for the root
	next       int32  // the node after the last one that is in it
	name       int32  // of an element, or of an instruction; else runName or commentName
	attributes int32  // its first attribute; those of the node after it follow its last
}

// attribute is an attribute or a namespace declaration.
type attribute struct {
	name       int32
	start, end uint32 // its value in the text, without the quotes
}

// name is a name as it is written, where a prefix means what it means there.
type name struct {
	prefix, local string
	space         string // of a declaration, that of xmlns
	expanded      int32  // the same for names that differ in their prefix only
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

// attributesOf is where the attributes of a node stand in the table: from first up to, and not with,
// end.
func (t *tree) attributesOf(n int32) (first, end int32) {
	first, end = t.nodes.at(n).attributes, t.attributes.length
	if n+1 < t.nodes.length {
		end = t.nodes.at(n + 1).attributes
	}
	return first, end
}

// table is a list that never moves what is in it: it grows by pieces, and a large document does
// not need the room for its tree twice.
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

// ranks are the places of the names in the order of attributes: by namespace, none first, then by local
// name (Canonical XML 1.1, 2.2). An element can have ten thousand attributes, and be written many times.
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
