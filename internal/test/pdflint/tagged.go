package pdflint

import (
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkTagged checks that the widget of the first signature in a tagged file is part of the
// structure, and that its page has a tab order (ISO 14289-1 7.18). In PDF 2.0, an invisible widget
// is an artifact. The structure of a signed file, and a malformed one, must not change.
func (l *linter) checkTagged(field formField) {
	page, err := l.new.Page(l.wanted.Page)
	if err != nil {
		return // checkPlace reports this
	}
	before, err := l.old.Page(l.wanted.Page)
	if err != nil {
		return
	}
	root, state := l.structure()
	number, numbered := field.dict["StructParent"].(pdf.Integer)
	tree := state == sound || state == doubtful && (numbered || before.Dict["Tabs"] == nil && page.Dict["Tabs"] != nil)
	if (tree || before.Dict["Tabs"] != nil) != (page.Dict["Tabs"] != nil) {
		l.fault(Tagged, "structure: %t, Tabs: %v", tree, page.Dict["Tabs"])
	}
	if wanted := tree && !l.artifact(); wanted != numbered {
		l.fault(Tagged, "to be tagged: %t, StructParent: %v", wanted, field.dict["StructParent"])
	} else if wanted {
		l.checkElement(field.ref, page.Ref, root, int64(number))
	}
}

// artifact reports whether the widget is an artifact (ISO 14289-2 8.9.2.4.13).
func (l *linter) artifact() bool {
	major, _ := l.old.Version()
	return major >= 2 && !l.wanted.visible()
}

// checkElement checks the structure element that the parent tree has for a number: it refers to the
// widget and to its parent element, which has it as a child (14.7.5.3, 14.7.5.4).
func (l *linter) checkElement(widget, page, root pdf.Ref, number int64) {
	tree, _ := l.new.Dict(root)
	found := l.numbered(tree["ParentTree"], number, 0)
	if next, _ := l.new.Int(tree["ParentTreeNextKey"]); len(found) != 1 || next <= number {
		l.fault(Tagged, "the parent tree has %v for %d, and the next key is %d", found, number, next)
		return
	}
	element, _ := l.new.Dict(found[0])
	content, _ := l.new.Dict(element["K"])
	if element["S"] != pdf.Name("Form") || content["Type"] != pdf.Name("OBJR") || content["Obj"] != widget || content["Pg"] != page {
		l.fault(Tagged, "the element of %s is %v", widget, element)
	}
	parent, _ := l.new.Dict(element["P"])
	kids, _ := l.new.Array(parent["K"])
	if len(kids) == 0 || kids[len(kids)-1] != found[0] {
		l.fault(Tagged, "%v has the kids %v", element["P"], kids)
	}
}

// numbered returns the values for a key in a number tree (7.9.7).
func (l *linter) numbered(node pdf.Object, key int64, depth int) (found pdf.Array) {
	dict, _ := l.new.Dict(node)
	pairs, _ := l.new.Array(dict["Nums"])
	for ; len(pairs) >= 2; pairs = pairs[2:] {
		if k, err := l.new.Int(pairs[0]); err == nil && k == key {
			found = append(found, pairs[1])
		}
	}
	if kids, _ := l.new.Array(dict["Kids"]); depth < maxTreeDepth {
		for _, kid := range kids {
			found = append(found, l.numbered(kid, key, depth+1)...)
		}
	}
	return found
}

const maxTreeDepth = 32

// A condition says whether a new element can be added to a structure tree.
type condition int

const (
	malformed condition = iota // also: there is none, or the file is signed
	doubtful                   // the increment may have all changes or none
	sound
)

// structure returns the root of the structure tree of a file that is not signed, and whether an
// element can be added: to the last leaf of the parent tree, and to the parent element. The root
// has to be an indirect object, because elements refer to it.
func (l *linter) structure() (root pdf.Ref, state condition) {
	_, catalog, err := l.old.Catalog()
	if err != nil || len(l.signatures()) > 0 {
		return root, malformed
	}
	root, ok := target(l.old, catalog["StructTreeRoot"])
	tree, err := l.old.Dict(root)
	if !ok || err != nil || tree == nil {
		return root, malformed
	}
	next, err1 := l.old.Int(tree["ParentTreeNextKey"])
	parents, err2 := l.old.Dict(tree["ParentTree"])
	if err1 != nil || err2 != nil || next >= math.MaxInt32 || !l.soundNode(parents, 0) {
		return root, malformed
	}
	if !l.haveSources(root, tree["ParentTree"], parents["Nums"], parents["Kids"], tree["K"]) {
		return root, doubtful
	}
	return root, l.kids(tree)
}

// haveSources reports whether the indirect objects among some values have a source text.
func (l *linter) haveSources(values ...pdf.Object) bool {
	for _, value := range values {
		if ref, ok := target(l.old, value); ok {
			if _, err := l.old.Source(ref); err != nil {
				return false
			}
		}
	}
	return true
}

// soundNode checks the last node on each level of a number tree.
func (l *linter) soundNode(node pdf.Dict, depth int) bool {
	kids, err := l.old.Array(node["Kids"])
	if err != nil || depth >= maxTreeDepth {
		return false
	}
	if len(kids) > 0 {
		last, err := l.old.Dict(kids[len(kids)-1])
		return err == nil && l.soundNode(last, depth+1)
	}
	pairs, err := l.old.Array(node["Nums"])
	if err != nil || len(pairs)%2 != 0 || len(pairs) == 0 && depth > 0 || pairs == nil && node["Nums"] != nil {
		return false
	}
	if len(pairs) == 0 {
		return true
	}
	last, err := l.old.Int(pairs[len(pairs)-2])
	return err == nil && last < math.MaxInt32
}

// kids checks the children of the root, and the single element below it, which is the parent of a
// new element if it is a Document. An artifact has no element.
func (l *linter) kids(tree pdf.Dict) condition {
	kids, err := l.old.Resolve(tree["K"])
	array, isArray := kids.(pdf.Array)
	switch {
	case err != nil:
		return malformed
	case l.artifact():
		return sound
	case !isArray && !isKid(kids):
		return malformed
	}
	only := tree["K"]
	if len(array) == 1 {
		only = array[0]
	}
	element, err := l.old.Dict(only)
	if err != nil {
		return sound // this element does not change
	}
	kids, err = l.old.Resolve(element["K"])
	if _, ok := kids.(pdf.Array); err != nil || !ok && !isKid(kids) || !l.haveSources(only, element["K"]) {
		return doubtful
	}
	return sound
}

// isKid reports whether an object can be a child: an element, a reference to content, or the number
// of marked content (Table 355).
func isKid(o pdf.Object) bool {
	switch o.(type) {
	case nil, pdf.Dict, pdf.Integer:
		return true
	}
	return false
}
