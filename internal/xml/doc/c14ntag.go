package doc

import "slices"

// endTag is that of an element that has begun.
type endTag struct {
	name     []byte
	next     int32 // the node after all that is in it
	bindings int   // how many were rendered before it
}

// start writes a start tag.
func (c *canonicalizer) start(i int32, n *node) {
	name := &c.names[n.name]
	tag := c.text[n.start:][:len("<")+name.length()]
	c.open = append(c.open, endTag{name: tag[len("<"):], next: n.next, bindings: len(c.rendered.earlier)})
	c.axes(i, name)
	c.out.bytes(tag)
	for _, b := range c.fresh {
		c.declaration(b)
	}
	for _, a := range c.shown {
		c.attribute(a)
	}
	c.out.string(">")
}

// length is that of the name as it is written.
func (n *name) length() int {
	if n.prefix == "" {
		return len(n.local)
	}
	return len(n.prefix) + len(":") + len(n.local)
}

// axes finds what is in the start tag of an element.
func (c *canonicalizer) axes(i int32, name *name) {
	c.fresh, c.shown = c.fresh[:0], c.shown[:0]
	if c.method == Exclusive {
		c.bind(name.prefix, name.space)
	}
	for j, end := c.tree.attributesOf(i); j < end; j++ {
		c.axis(c.tree.attributes.at(j))
	}
	if i == c.apex {
		c.inherit(i)
	}
	if len(c.fresh) > 1 {
		slices.SortFunc(c.fresh, namespaceNode.compare)
	}
	c.sortShown()
}

// sortShown compares numbers, each of a rank and a place, instead of looking at the attributes again and again.
func (c *canonicalizer) sortShown() {
	if len(c.shown) < 2 {
		return
	}
	ranks := c.ranks()
	c.order, c.unsorted = c.order[:0], append(c.unsorted[:0], c.shown...)
	for i, a := range c.shown {
		c.order = append(c.order, uint64(ranks[a.name])<<32|uint64(i))
	}
	slices.Sort(c.order)
	for i, place := range c.order {
		c.shown[i] = c.unsorted[uint32(place)]
	}
}

// axis sorts out what a start tag in the source has.
func (c *canonicalizer) axis(a *attribute) {
	name := &c.names[a.name]
	switch {
	case name.kind != declarationName:
		c.shown = append(c.shown, a)
		if c.method == Exclusive && name.prefix != "" {
			c.bind(name.prefix, name.space)
		}
	case c.takes(name.local):
		c.bind(name.local, c.namespace(a))
	}
}

// close writes the end tags of elements that have nothing from a node on.
func (c *canonicalizer) close(at int32) {
	for last := len(c.open) - 1; last >= 0 && c.open[last].next <= at; last-- {
		element := c.open[last]
		c.open = c.open[:last]
		c.rendered.back(element.bindings)
		c.out.string("</")
		c.out.bytes(element.name)
		c.out.string(">")
	}
}

func (c *canonicalizer) attribute(a *attribute) {
	c.out.string(" ")
	if name := &c.names[a.name]; name.prefix != "" {
		c.out.string(name.prefix)
		c.out.string(":")
	}
	c.out.string(c.names[a.name].local)
	c.out.string(`="`)
	if a == &c.joined.attribute {
		c.out.escaped([]byte(c.joined.value), &escapedInValue)
	} else {
		c.characters(c.text[a.start:a.end], true)
	}
	c.out.string(`"`)
}

func (c *canonicalizer) declaration(n namespaceNode) {
	c.out.string(" xmlns")
	if n.prefix != "" {
		c.out.string(":")
		c.out.string(n.prefix)
	}
	c.out.string(`="`)
	c.scratch = append(c.scratch[:0], n.space...)
	c.out.escaped(c.scratch, &escapedInValue)
	c.out.string(`"`)
}
