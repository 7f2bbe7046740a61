package doc

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
