package xmldoc

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

// Contains says whether other is the node itself or in it.
func (n Node) Contains(other Node) bool {
	return n.doc != nil && n.doc == other.doc && n.index <= other.index && other.index < n.entry().next
}
