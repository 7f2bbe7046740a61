package pades

import (
	"maps"
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
		for _, key := range slices.Sorted(maps.Keys(o)) {
			if as := g.under(p.role, key, o); as != pointer && compound(o[key]) {
				g.lead(p.child(string(key), as), o[key])
			}
		}
	}
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

// under is the role of what is under a key of a dictionary. The value of a signature field is a
// signature.
func (g *graph) under(r role, key pdf.Name, d pdf.Dict) role {
	if r == aField && key == "V" && fieldType(g.file, d) == "Sig" {
		return aSignature
	}
	return r.of(key)
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
