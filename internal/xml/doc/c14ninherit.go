package doc

// inherit gives the apex what elements around it say of what is in them. Exclusive leaves out all of
// it but the namespaces that it is told of.
func (c *canonicalizer) inherit(apex int32) {
	around := c.tree.nodes.at(apex).parent
	if around == none {
		return
	}
	if c.method != Exclusive || len(c.listed) > 0 {
		c.inheritNamespaces(apex)
	}
	if c.method == Exclusive {
		return
	}
	c.inheritAttributes(around)
	if c.method == C14N11 {
		c.inheritBase(apex)
	}
}

// inheritNamespaces has the apex declare what is in scope around it.
func (c *canonicalizer) inheritNamespaces(apex int32) {
	declared := make(map[string]bool)
	for i := apex; i != none; i = c.tree.nodes.at(i).parent {
		for j, end := c.tree.attributesOf(i); j < end; j++ {
			a := c.tree.attributes.at(j)
			name := &c.names[a.name]
			if name.kind != declarationName || declared[name.local] || !c.takes(name.local) {
				continue
			}
			declared[name.local] = true
			c.bind(name.local, c.namespace(a))
		}
	}
}

// inheritAttributes is of the nearest attributes in the namespace of xml that the apex does
// not have itself: in 1.0 of all (Canonical XML 1.0, 2.4), in 1.1 of those whose value does not
// depend on the place (1.1, 2.4).
func (c *canonicalizer) inheritAttributes(around int32) {
	has := make(map[string]bool)
	for _, a := range c.shown {
		if name := &c.names[a.name]; name.space == xmlSpace {
			has[name.local] = true
		}
	}
	for i := around; i != none; i = c.tree.nodes.at(i).parent {
		for j, end := c.tree.attributesOf(i); j < end; j++ {
			a := c.tree.attributes.at(j)
			name := &c.names[a.name]
			if name.space == xmlSpace && c.inherits(name.local) && !has[name.local] {
				has[name.local] = true
				c.shown = append(c.shown, a)
			}
		}
	}
}

func (c *canonicalizer) inherits(local string) bool {
	return c.method == C14N10 || local == "lang" || local == "space"
}
