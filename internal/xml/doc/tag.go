package doc

import "bytes"

// startTag reads a start tag or an empty-element tag ([40], [44]).
func (p *parser) startTag() error {
	start := p.at
	p.at++
	tag, err := p.qname()
	if err != nil {
		return err
	}
	length := p.at - start - 1
	switch {
	case len(p.open) == 0 && p.doc.tree.root != none:
		return p.malformed(start, "a second root")
	case len(p.open) > maxDepth:
		return p.beyond("elements in each other")
	}
	if err := p.attributes(); err != nil {
		return err
	}
	empty := p.has("/>")
	if p.at++; empty {
		p.at++
	}
	return p.element(start, tag, length, empty)
}

// element adds the element whose tag was read.
func (p *parser) element(start int, tag int32, length int, empty bool) error {
	mark := len(p.scope.undo)
	if err := p.declare(); err != nil {
		return err
	}
	name, err := p.scope.element(tag)
	if err != nil {
		return p.refuse(start, err)
	}
	n := p.add(name, start)
	if len(p.open) == 0 {
		p.doc.tree.root = n
	}
	if err := p.addAttributes(n); err != nil {
		return err
	}
	if empty {
		p.scope.leave(mark)
		return nil
	}
	p.open = append(p.open, unclosed{n, length, mark})
	return nil
}

// qname reads a name with at most one colon (Namespaces in XML 1.0 [7]).
func (p *parser) qname() (written int32, err error) {
	start := p.at
	prefix := ncName(p.text[p.at:])
	p.at += prefix
	local := prefix
	if prefix > 0 && p.has(":") {
		p.at++
		local = ncName(p.text[p.at:])
		p.at += local
	} else {
		prefix = 0
	}
	if local == 0 || p.has(":") {
		return 0, p.malformed(start, "no name of an element or an attribute")
	}
	if written, err = p.scope.intern(p.text[start:p.at], prefix); err != nil {
		return 0, p.refuse(start, err)
	}
	return written, nil
}

// endTag closes the element that is open ([42]).
func (p *parser) endTag() error {
	start := p.at
	p.at += len("</")
	if len(p.open) == 0 {
		return p.malformed(start, "an end tag without a start tag")
	}
	last := p.open[len(p.open)-1]
	opened := int(p.doc.tree.nodes.at(last.node).start) + 1
	rest := p.text[p.at:]
	if !bytes.HasPrefix(rest, p.text[opened:opened+last.name]) {
		return p.malformed(start, "an end tag of another element")
	}
	p.at += last.name
	if p.skipSpace(); !p.has(">") {
		return p.malformed(p.at, "an end tag of another element, or without an end")
	}
	p.at++
	p.close(last)
	return nil
}

func (p *parser) close(last unclosed) {
	n := p.doc.tree.nodes.at(last.node)
	n.end, n.next = uint32(p.at), p.doc.tree.nodes.length
	p.open = p.open[:len(p.open)-1]
	p.scope.leave(last.scope)
}
