package pdflint

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// A change returns what is wrong with the change of a value. A value that was null, or that was a
// reference to null, is nil.
type change func(l *linter, was, is pdf.Object) []string

// compare applies a change to two values that differ. If may is nil, they must not differ.
func (l *linter) compare(was, is pdf.Object, may change) []string {
	if reflect.DeepEqual(was, is) {
		return nil
	}
	if value, err := l.old.Resolve(was); value == nil && err == nil {
		was = nil
	}
	switch {
	case may != nil:
		return may(l, was, is)
	case was == nil:
		return []string{"was added"}
	}
	return []string{"was changed"}
}

// either permits what at least one of two changes permits.
func either(one, other change) change {
	return func(l *linter, was, is pdf.Object) []string {
		also := other(l, was, is)
		return slices.DeleteFunc(one(l, was, is), func(text string) bool { return !slices.Contains(also, text) })
	}
}

// inPlace is a change to a value that may be new. An indirect object has to stay the same indirect
// object, and a direct object has to stay direct.
func inPlace(may change) change {
	return func(l *linter, was, is pdf.Object) []string {
		_, before := was.(pdf.Ref)
		_, after := is.(pdf.Ref)
		switch {
		case was == nil:
			return nil
		case before:
			return []string{"was an object of its own"}
		case after:
			return []string{"was direct"}
		}
		return may(l, was, is)
	}
}

// entries permits changes to some entries of a dictionary. All others have to stay the same.
func entries(may map[pdf.Name]change) change {
	return inPlace(func(l *linter, was, is pdf.Object) (wrong []string) {
		before, ok1 := was.(pdf.Dict)
		after, ok2 := is.(pdf.Dict)
		if !ok1 || !ok2 {
			return []string{fmt.Sprintf("%T became %T", was, is)}
		}
		for key := range union(before, after) {
			for _, text := range l.compare(before[key], after[key], may[key]) {
				wrong = append(wrong, fmt.Sprintf("/%s: %s", key, text))
			}
		}
		return wrong
	})
}

// grown permits new elements at the end of an array.
var grown = inPlace(prefix)

func prefix(_ *linter, was, is pdf.Object) []string {
	before, ok1 := was.(pdf.Array)
	after, ok2 := is.(pdf.Array)
	if !ok1 || !ok2 || len(after) <= len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
		return []string{"did not only grow"}
	}
	return nil
}

// gained permits new entries in a dictionary.
var gained = inPlace(func(l *linter, was, is pdf.Object) (wrong []string) {
	before, ok1 := was.(pdf.Dict)
	after, ok2 := is.(pdf.Dict)
	if !ok1 || !ok2 {
		return []string{fmt.Sprintf("%T became %T", was, is)}
	}
	for key := range before {
		for _, text := range l.compare(before[key], after[key], nil) {
			wrong = append(wrong, fmt.Sprintf("/%s: %s", key, text))
		}
	}
	return wrong
})

// joined permits a new child in K of a structure element, which is an array of children or one
// child. One child becomes the first element of an array (14.7.2).
func joined(l *linter, was, is pdf.Object) []string {
	value, _ := l.old.Resolve(was)
	if _, ok := value.(pdf.Array); ok || was == nil {
		return grown(l, was, is)
	}
	return prefix(l, pdf.Array{was}, is)
}

// copied permits that an array which several pages share is copied to a new object, with new
// elements at the end of the copy.
func copied(l *linter, was, is pdf.Object) []string {
	if was == nil {
		return nil
	}
	ref, ok := is.(pdf.Ref)
	if !ok || !l.newObject(ref) {
		return []string{"is no array of its own"}
	}
	before, _ := l.old.Array(was)
	after, _ := l.new.Array(ref)
	return prefix(l, before, after)
}

// replaced permits every change.
func replaced(*linter, pdf.Object, pdf.Object) []string { return nil }

// added permits a new value, and no change to an existing one.
func added(_ *linter, was, _ pdf.Object) []string {
	if was != nil {
		return []string{"was changed"}
	}
	return nil
}

// Permitted changes of each object.
var (
	form = entries(map[pdf.Name]change{"Fields": grown, "SigFlags": replaced})

	permissions = entries(map[pdf.Name]change{"DocMDP": added})

	developerExtensions = entries(map[pdf.Name]change{"ESIC": replaced})

	etsiExtension = entries(map[pdf.Name]change{"ExtensionLevel": replaced})

	numberTree = entries(map[pdf.Name]change{"Nums": grown, "Kids": grown, "Limits": replaced})

	structureTree = entries(map[pdf.Name]change{"K": joined, "ParentTree": numberTree, "ParentTreeNextKey": replaced})

	structureElement = entries(map[pdf.Name]change{"K": joined})

	catalog = entries(map[pdf.Name]change{
		"AcroForm": form, "Perms": permissions, "Extensions": developerExtensions, "StructTreeRoot": structureTree,
	})

	page = entries(map[pdf.Name]change{"Annots": grown, "Tabs": added})

	pageWithCopy = entries(map[pdf.Name]change{"Annots": copied, "Tabs": added})

	field = entries(map[pdf.Name]change{"V": added, "F": replaced, "AP": replaced})

	widget = entries(map[pdf.Name]change{"F": replaced, "AP": replaced})
)

// checkChanges compares each rewritten object with the original object.
func (l *linter) checkChanges() {
	changes := l.permittedChanges()
	for _, o := range l.objects {
		if l.newObject(o.ref) {
			continue
		}
		may, ok := changes[o.ref]
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
		for _, text := range may(l, was, is) {
			l.fault(Kept, "%s: %s", o.ref, text)
		}
	}
}

// permitted has the objects that an increment may rewrite, with the changes that are permitted.
type permitted map[pdf.Ref]change

// add permits a change to an object. If the object has several parts, such as a page that is the
// form too, it may change as each of them.
func (p permitted) add(ref pdf.Ref, may change) {
	if other, ok := p[ref]; ok {
		p[ref] = either(other, may)
	} else {
		p[ref] = may
	}
}

// permittedChanges returns the objects that the increment may rewrite.
func (l *linter) permittedChanges() permitted {
	changes := make(permitted)
	root, dict, err := l.old.Catalog()
	if err != nil {
		return changes
	}
	if l.addsValidationData() {
		l.permitStore(changes, root, dict)
		return changes
	}
	changes.add(root, catalog)
	l.permit(changes, dict["Perms"], permissions)
	l.permitExtensions(changes, dict)
	if was, err := l.old.Dict(dict["AcroForm"]); err == nil {
		l.permit(changes, dict["AcroForm"], form)
		l.permit(changes, was["Fields"], grown)
	}
	l.permitField(changes)
	return changes
}

// permit permits a change to the object that a value refers to, also through references to
// references.
func (l *linter) permit(changes permitted, value pdf.Object, may change) {
	if ref, ok := target(l.old, value); ok {
		changes.add(ref, may)
	}
}

// permitExtensions permits changes to the developer extensions, and to ETSI's among them.
func (l *linter) permitExtensions(changes permitted, catalog pdf.Dict) {
	l.permit(changes, catalog["Extensions"], developerExtensions)
	if was, err := l.old.Dict(catalog["Extensions"]); err == nil {
		l.permit(changes, was["ESIC"], etsiExtension)
	}
}

// permitField permits changes to the signed field and its widgets and, if the field is new, to its
// page and to the structure tree.
func (l *linter) permitField(changes permitted) {
	signed, ok := l.signedField()
	if !ok {
		return
	}
	for _, w := range l.widgets(signed) {
		changes.add(w.ref, widget)
	}
	changes.add(signed.ref, field)
	if !l.newObject(signed.ref) {
		return
	}
	l.permitPage(changes)
	if root, state := l.structure(); state != malformed {
		l.permitStructure(changes, root)
	}
}

// permitPage permits changes to the page of a new field. If another page has the same array of
// annotations and the field is visible, this array must not change.
func (l *linter) permitPage(changes permitted) {
	its, err := l.old.Page(l.wanted.Page)
	switch {
	case err != nil: // checkPlace reports this
	case l.wanted.visible() && l.sharesAnnotations(its):
		changes.add(its.Ref, pageWithCopy)
	default:
		changes.add(its.Ref, page)
		l.permit(changes, its.Dict["Annots"], grown)
	}
}

// sharesAnnotations reports whether another page has the same array of annotations as a page.
func (l *linter) sharesAnnotations(page *pdf.Page) (shared bool) {
	ref, ok := target(l.old, page.Dict["Annots"])
	_, _ = l.old.FindPage(func(other pdf.Ref, dict pdf.Dict) bool {
		its, also := target(l.old, dict["Annots"])
		shared = ok && also && its == ref && other != page.Ref
		return shared
	})
	return shared
}

// maxNodes limits the number of nodes of a number tree.
const maxNodes = 10_000

// permitStructure permits changes to the root of the structure tree, the nodes of its ParentTree, and
// the structure elements directly below the root (14.7.2, 14.7.5.4).
func (l *linter) permitStructure(changes permitted, root pdf.Object) {
	tree, err := l.old.Dict(root)
	if err != nil || tree == nil {
		return
	}
	l.permit(changes, root, structureTree)
	kids, err := l.old.Array(tree["K"])
	if err == nil {
		l.permit(changes, tree["K"], grown)
	} else {
		kids = pdf.Array{tree["K"]}
	}
	for _, kid := range kids {
		l.permit(changes, kid, structureElement)
		if element, err := l.old.Dict(kid); err == nil {
			if _, err := l.old.Array(element["K"]); err == nil {
				l.permit(changes, element["K"], grown)
			}
		}
	}
	l.permitNodes(changes, tree["ParentTree"])
}

// permitNodes permits changes to the nodes of a number tree (7.9.7).
func (l *linter) permitNodes(changes permitted, node pdf.Object) {
	before := len(changes)
	l.permit(changes, node, numberTree)
	dict, err := l.old.Dict(node)
	if err != nil || len(changes) > maxNodes {
		return
	}
	l.permit(changes, dict["Nums"], grown)
	l.permit(changes, dict["Kids"], grown)
	if _, indirect := node.(pdf.Ref); indirect && len(changes) == before {
		return // visited before
	}
	kids, _ := l.old.Array(dict["Kids"])
	for _, kid := range kids {
		l.permitNodes(changes, kid)
	}
}
