package pdflint

import (
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

// parts are what objects are for a signature, each with what may change.
type parts map[pdf.Ref]change

// add gives an object a part. One that has several may change as all of them: a file's page
// may be its form as well.
func (p parts) add(ref pdf.Ref, part change) {
	if other, ok := p[ref]; ok {
		p[ref] = either(other, part)
	} else {
		p[ref] = part
	}
}

// roles are the objects that a signature may have to change.
func (l *linter) roles() parts {
	roles := make(parts)
	root, dict, err := l.old.Catalog()
	if err != nil {
		return roles
	}
	if l.embeds() {
		l.playStore(roles, root, dict)
		return roles
	}
	roles.add(root, catalog)
	l.play(roles, dict["Perms"], permissions)
	l.playExtensions(roles, dict)
	if was, err := l.old.Dict(dict["AcroForm"]); err == nil {
		l.play(roles, dict["AcroForm"], form)
		l.play(roles, was["Fields"], grown)
	}
	l.playField(roles)
	return roles
}

// play gives a role to the object that a value refers to, through references to references.
func (l *linter) play(roles parts, value pdf.Object, role change) {
	if ref, ok := target(l.old, value); ok {
		roles.add(ref, role)
	}
}

// playExtensions: the developer extensions, and ETSI's among them.
func (l *linter) playExtensions(roles parts, catalog pdf.Dict) {
	l.play(roles, catalog["Extensions"], developerExtensions)
	if was, err := l.old.Dict(catalog["Extensions"]); err == nil {
		l.play(roles, was["ESIC"], etsiExtension)
	}
}

// playField: the field that the signature is the value of, and its widgets. A new one goes
// to its page, and to the structure.
func (l *linter) playField(roles parts) {
	signed, ok := l.signedField()
	if !ok {
		return
	}
	for _, w := range l.widgets(signed) {
		roles.add(w.ref, widget)
	}
	roles.add(signed.ref, field)
	if !l.newObject(signed.ref) {
		return
	}
	l.playPage(roles)
	if root, state := l.structure(); state != malformed {
		l.playStructure(roles, root)
	}
}

// playPage: the page of a new field. Annotations that another page has too are left alone
// if the field is to be seen.
func (l *linter) playPage(roles parts) {
	its, err := l.old.Page(l.asked.Page)
	switch {
	case err != nil: // judged by checkPlace
	case l.asked.shown() && l.sharesAnnotations(its):
		roles.add(its.Ref, pageApart)
	default:
		roles.add(its.Ref, page)
		l.play(roles, its.Dict["Annots"], grown)
	}
}

// sharesAnnotations says whether one array is the annotations of the page and of another.
func (l *linter) sharesAnnotations(page *pdf.Page) (shared bool) {
	ref, ok := target(l.old, page.Dict["Annots"])
	_, _ = l.old.FindPage(func(other pdf.Ref, dict pdf.Dict) bool {
		its, also := target(l.old, dict["Annots"])
		shared = ok && also && its == ref && other != page.Ref
		return shared
	})
	return shared
}

// maxNodes bounds the walk of a structure tree.
const maxNodes = 10_000

// playStructure: the structure tree's root, the nodes of its ParentTree and the
// elements directly below it (14.7.2, 14.7.5.4).
func (l *linter) playStructure(roles parts, root pdf.Object) {
	tree, err := l.old.Dict(root)
	if err != nil || tree == nil {
		return
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
}

// playNodes goes through a number tree (7.9.7).
func (l *linter) playNodes(roles parts, node pdf.Object) {
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
