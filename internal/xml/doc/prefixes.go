package doc

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
