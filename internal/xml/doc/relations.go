package doc

import "iter"

// Parent is the element around a node; zero for what stands outside of the root, and for the root.
func (n Node) Parent() Node {
	if n.doc == nil || n.entry().parent == none {
		return Node{}
	}
	return Node{n.doc, n.entry().parent}
}

// Children are the nodes in an element.
func (n Node) Children() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.doc == nil {
			return
		}
		for i := n.index + 1; i < n.entry().next; i = n.doc.tree.nodes.at(i).next {
			if !yield(Node{n.doc, i}) {
				return
			}
		}
	}
}

// Elements are the elements among Children.
func (n Node) Elements() iter.Seq[Node] { return only(n.Children(), Element) }

// Descendants are the elements in an element, at any depth, in document order.
func (n Node) Descendants() iter.Seq[Node] { return only(n.inside(), Element) }

// inside are all nodes in an element, at any depth, in document order.
func (n Node) inside() iter.Seq[Node] {
	return func(yield func(Node) bool) {
		if n.doc == nil {
			return
		}
		for i := n.index + 1; i < n.entry().next; i++ {
			if !yield(Node{n.doc, i}) {
				return
			}
		}
	}
}

func only(nodes iter.Seq[Node], kind Kind) iter.Seq[Node] {
	return func(yield func(Node) bool) {
		for n := range nodes {
			if n.Kind() == kind && !yield(n) {
				return
			}
		}
	}
}

// Inherits says whether an element, or something in it, has a prefix that is bound around the element.
func (n Node) Inherits(prefix string) bool {
	if n.doc == nil {
		return false
	}
	for i, end := n.index, n.entry().next; i < end; {
		at := Node{n.doc, i}
		uses, binds := at.has(prefix)
		switch {
		case binds:
			i = at.entry().next
		case uses:
			return true
		default:
			i++
		}
	}
	return false
}

// has says whether a tag has names with a prefix, and whether it binds it.
func (n Node) has(prefix string) (uses, binds bool) {
	uses = n.entry().name >= 0 && n.name().prefix == prefix
	t := &n.doc.tree
	for i, end := t.attributesOf(n.index); i < end; i++ {
		switch name := &t.names[t.attributes.at(i).name]; {
		case name.kind == declarationName:
			binds = binds || name.local == prefix
		case name.prefix == prefix:
			uses = true
		}
	}
	return uses, binds
}

// Precedes says whether the node comes before another one, in document order.
func (n Node) Precedes(other Node) bool { return n.index < other.index }

// Contains says whether other is the node itself or in it.
func (n Node) Contains(other Node) bool {
	return n.doc != nil && n.doc == other.doc && n.index <= other.index && other.index < n.entry().next
}
