package doc

// Room is how many nodes, how many attributes, and how many different names or namespaces, a document may
// still get before [Parse] refuses it.
func (d *Document) Room() (nodes, attributes, names int) {
	t := &d.tree
	return maxNodes - int(t.nodes.length), maxAllAttributes - int(t.attributes.length), maxNames - max(len(t.names), d.spaces)
}
