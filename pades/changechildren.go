package pades

import (
	"slices"
	"strconv"

	"github.com/innsigli/innsigli/internal/pdf"
)

// item is the role of what is in an array of a role.
func (g *graph) item(r role, o pdf.Object) role {
	switch r {
	case formFields:
		return aField
	case pageAnnotations:
		return anAnnotation
	case pageKids:
		if node, err := g.file.Dict(o); err == nil && node["Kids"] != nil && node["Type"] != pdf.Name("Page") {
			return thePages
		}
		return aPage
	}
	return r
}

// children notes what is in an object.
func (g *graph) children(p *position, o pdf.Object) {
	switch o := o.(type) {
	case pdf.Ref: // an object that is a reference
		g.lead(p.child("", p.role), o)
	case pdf.Array:
		for i, item := range o {
			if !compound(item) {
				continue
			}
			g.lead(p.child(strconv.Itoa(i), g.item(p.role, item)), item)
		}
	case *pdf.Stream:
		g.children(p, o.Dict)
	case pdf.Dict:
		g.describe(p, o)
		for _, key := range leading(o) {
			g.under(p.child(string(key), g.as(p, key, o)), o[key])
		}
	}
}

// leading are the keys under which a dictionary leads to other objects, in their order.
func leading(d pdf.Dict) []pdf.Name {
	keys := make([]pdf.Name, 0, len(d))
	for key, o := range d {
		if compound(o) {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}

// compound says whether an object can lead to others.
func compound(o pdf.Object) bool {
	switch o.(type) {
	case pdf.Ref, pdf.Array, pdf.Dict, *pdf.Stream:
		return true
	}
	return false
}

func (p *position) child(step string, r role) *position {
	return &position{ref: p.ref, role: r, from: p, step: step, page: p.page, field: p.field}
}

// under notes what is under a key of a dictionary.
func (g *graph) under(p *position, o pdf.Object) {
	if p.role != pointer {
		g.lead(p, o)
	} else if ref, ok := o.(pdf.Ref); ok {
		g.points[ref.Num] = true
	}
}

// as is the role of what is under a key of a dictionary. The value of a signature field is a
// signature.
func (g *graph) as(p *position, key pdf.Name, d pdf.Dict) role {
	switch {
	case p.role == aField && key == "V" && fieldType(g.file, d) == "Sig":
		return aSignature
	case key == "Parent" && p.role.inherits() && d[key] != p.above():
		return anAncestor
	}
	return p.role.of(key)
}

// inherits says whether readers take what an object does not have from what it has as its Parent
// (ISO 32000-2 7.7.3.4, 12.7.4.1).
func (r role) inherits() bool { return r == aField || r == thePages || r == aPage }

// above is the node of the tree of fields or pages that a node is below.
func (p *position) above() pdf.Object {
	for at := p.from; at != nil; at = at.from {
		if at.role == thePages || at.role == aField {
			return at.ref
		}
	}
	return nil
}

// describe notes which page a dictionary is, or which field.
func (g *graph) describe(p *position, d pdf.Dict) {
	switch p.role {
	case aPage:
		p.page = g.pages[p.ref]
	case aField:
		name, named := fieldName(g.file, d, p.from.field)
		if p.field = name; named {
			g.names[name] = p.ref
		}
	}
}
