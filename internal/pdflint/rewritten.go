package pdflint

import (
	"maps"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkChanges compares each object that was rewritten with what it was.
func (l *linter) checkChanges() {
	roles := l.roles()
	for _, o := range l.objects {
		if l.newObject(o.ref) {
			continue
		}
		role, ok := roles[o.ref]
		if !ok {
			l.fault(Rewritten, "%s: %.80q", o.ref, o.body)
			continue
		}
		was, err1 := l.old.Object(o.ref)
		is, err2 := l.new.Object(o.ref)
		if err1 != nil || err2 != nil {
			l.fault(Kept, "%s cannot be read: %v, %v", o.ref, err1, err2)
			continue
		}
		for _, text := range role(l, was, is) {
			l.fault(Kept, "%s: %s", o.ref, text)
		}
	}
}

// roles are the objects that a signature may have to change, each with what may change.
func (l *linter) roles() map[pdf.Ref]change {
	roles := make(map[pdf.Ref]change)
	root, dict, err := l.old.Catalog()
	if err != nil {
		return roles
	}
	roles[root] = catalog
	l.play(roles, dict["Perms"], permissions)
	l.play(roles, dict["Extensions"], developerExtensions)
	if was, err := l.old.Dict(dict["Extensions"]); err == nil {
		l.play(roles, was["ESIC"], etsiExtension)
	}
	if was, err := l.old.Dict(dict["AcroForm"]); err == nil {
		l.play(roles, dict["AcroForm"], form)
		l.play(roles, was["Fields"], grown)
	}
	l.playPages(roles)
	l.playField(roles)
	maps.Copy(roles, l.structureRoles(dict["StructTreeRoot"]))
	return roles
}

// play gives a role to the object that a value refers to, through references to references.
func (l *linter) play(roles map[pdf.Ref]change, value pdf.Object, role change) {
	for range 16 {
		ref, ok := value.(pdf.Ref)
		if !ok {
			return
		}
		next, err := l.old.Object(ref)
		if err != nil {
			return
		}
		if _, further := next.(pdf.Ref); !further {
			roles[ref] = role
			return
		}
		value = next
	}
}

// playPages: a new invisible field goes to the first page, and a widget names its own.
func (l *linter) playPages(roles map[pdf.Ref]change) {
	if first, err := l.old.Page(1); err == nil {
		roles[first.Ref] = page
		l.play(roles, first.Dict["Annots"], grown)
	}
}

// playField: the field that the signature is the value of, and its widgets.
func (l *linter) playField(roles map[pdf.Ref]change) {
	ref, dict, ok := l.signedField()
	if !ok {
		return
	}
	roles[ref] = field
	kids, _ := l.new.Array(dict["Kids"])
	for _, kid := range kids {
		l.play(roles, kid, widget)
	}
}

// signedField is the field whose value is the increment's signature.
func (l *linter) signedField() (pdf.Ref, pdf.Dict, bool) {
	signature, _, ok := l.signature()
	if !ok {
		return pdf.Ref{}, nil, false
	}
	for _, o := range l.objects {
		value, err := l.new.Object(o.ref)
		if dict, ok := value.(pdf.Dict); err == nil && ok && dict["V"] == signature.ref {
			return o.ref, dict, true
		}
	}
	return pdf.Ref{}, nil, false
}

// maxNodes bounds the walk of a structure tree.
const maxNodes = 10_000

// structureRoles are the structure tree's root, the nodes of its ParentTree and the
// elements directly below it (14.7.2, 14.7.5.4).
func (l *linter) structureRoles(root pdf.Object) map[pdf.Ref]change {
	roles := make(map[pdf.Ref]change)
	tree, err := l.old.Dict(root)
	if err != nil || tree == nil {
		return roles
	}
	l.play(roles, root, structureTree)
	kids, err := l.old.Array(tree["K"])
	if err == nil {
		l.play(roles, tree["K"], grown)
	} else {
		kids = pdf.Array{tree["K"]}
	}
	for _, kid := range kids {
		l.play(roles, kid, structureElement)
		if element, err := l.old.Dict(kid); err == nil {
			if _, err := l.old.Array(element["K"]); err == nil {
				l.play(roles, element["K"], grown)
			}
		}
	}
	l.playNodes(roles, tree["ParentTree"])
	return roles
}

// playNodes goes through a number tree (7.9.7).
func (l *linter) playNodes(roles map[pdf.Ref]change, node pdf.Object) {
	before := len(roles)
	l.play(roles, node, numberTree)
	dict, err := l.old.Dict(node)
	if err != nil || len(roles) > maxNodes {
		return
	}
	l.play(roles, dict["Nums"], grown)
	l.play(roles, dict["Kids"], grown)
	if _, indirect := node.(pdf.Ref); indirect && len(roles) == before {
		return // seen already
	}
	kids, _ := l.old.Array(dict["Kids"])
	for _, kid := range kids {
		l.playNodes(roles, kid)
	}
}
