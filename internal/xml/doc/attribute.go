package doc

import "bytes"

// pendingAttribute is one of a start tag whose end, and with it what its prefix means, is not reached.
type pendingAttribute struct {
	name       int32 // in scope.written
	start, end int   // its value
}

// attributes reads those of a tag, up to what closes it.
func (p *parser) attributes() error {
	p.pending = p.pending[:0]
	for {
		spaced := p.skipSpace()
		switch {
		case p.has(">"), p.has("/>"):
			return nil
		case !spaced:
			return p.malformed(p.at, "no white space before an attribute, or no end of the tag")
		case len(p.pending) == maxAttributes:
			return p.beyond("attributes")
		}
		if err := p.attribute(); err != nil {
			return err
		}
	}
}

func (p *parser) skipSpace() bool {
	start := p.at
	for p.at < len(p.text) && class[p.text[p.at]]&isSpace != 0 {
		p.at++
	}
	return p.at > start
}

// attribute reads one ([41], [10]).
func (p *parser) attribute() error {
	name, err := p.qname()
	if err != nil {
		return err
	}
	p.skipSpace()
	if !p.has("=") {
		return p.malformed(p.at, "an attribute without a value")
	}
	p.at++
	p.skipSpace()
	start, end, err := p.quoted()
	if err != nil {
		return err
	}
	p.pending = append(p.pending, pendingAttribute{name, start, end})
	return p.references(start, end)
}

// quoted goes past a value in quotes, and returns where that is.
func (p *parser) quoted() (start, end int, err error) {
	if !p.has(`"`) && !p.has("'") {
		return 0, 0, p.malformed(p.at, "an attribute's value without quotes")
	}
	start = p.at + 1
	length := bytes.IndexByte(p.text[start:], p.text[p.at])
	if length < 0 {
		return 0, 0, p.malformed(p.at, "an attribute's value without an end")
	}
	end = start + length
	p.at = end + 1
	if i := bytes.IndexByte(p.text[start:end], '<'); i >= 0 {
		return 0, 0, p.malformed(start+i, "\"<\" in an attribute's value")
	}
	return start, end, nil
}

// declare binds the prefixes that the pending attributes declare.
func (p *parser) declare() error {
	for _, a := range p.pending {
		if p.scope.written[a.name].binds == none {
			continue
		}
		c := characters{raw: p.text[a.start:a.end], attribute: true}
		if err := p.scope.declare(a.name, c.value()); err != nil {
			return p.refuse(a.start, err)
		}
	}
	return nil
}

// addAttributes adds the pending ones to an element, each name once (Namespaces in XML 1.0 6.3).
func (p *parser) addAttributes(n int32) error {
	if int(p.doc.tree.attributes.length)+len(p.pending) > maxAllAttributes {
		return p.beyond("attributes")
	}
	for _, a := range p.pending {
		name, err := p.scope.attribute(a.name)
		if err != nil {
			return p.refuse(a.start, err)
		}
		if p.scope.seenIn(name, n) {
			return p.malformed(a.start, "an attribute that the element has already")
		}
		if p.doc.tree.names[name].kind == identifierName {
			p.doc.tree.identifiers++
		}
		p.doc.tree.attributes.add(attribute{name, uint32(a.start), uint32(a.end)})
	}
	return nil
}
