package doc

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
