package pdflint

import (
	"math"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkTagged: the widget of the first signature of a tagged file is part of the structure,
// and its page has an order of tabs (ISO 14289-1 7.18). An invisible one is an artifact in PDF
// 2.0. The structure of a signed file, and one that is malformed, stays as it is.
func (l *linter) checkTagged(field formField) {
	page, err := l.new.Page(l.asked.Page)
	if err != nil {
		return // judged by checkPlace
	}
	before, err := l.old.Page(l.asked.Page)
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

// artifact: ISO 14289-2 8.9.2.4.13.
func (l *linter) artifact() bool {
	major, _ := l.old.Version()
	return major >= 2 && !l.asked.shown()
}

// checkElement follows the number through the parent tree to the element, which refers
// back to the widget, and to its parent, which has it (14.7.5.3, 14.7.5.4).
func (l *linter) checkElement(widget, page, root pdf.Ref, number int64) {
	tree, _ := l.new.Dict(root)
	found := l.numbered(tree["ParentTree"], number, 0)
	if next, _ := l.new.Int(tree["ParentTreeNextKey"]); len(found) != 1 || next <= number {
		l.fault(Tagged, "the parent tree has %v for %d, and goes on with %d", found, number, next)
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

// numbered is what a number tree has under a key (7.9.7).
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

// condition is how well a structure tree can be added to.
type condition int

const (
	malformed condition = iota // or none, or of a signed file
	doubtful                   // what is hard to say without doing it: all of it is done, or nothing
	sound
)

// structure finds the structure tree of a file that is not signed, and says whether it can
// be added to: at its last leaf, and at the element that is to be the parent. Elements
// refer to their parents, so it is an object of its own.
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
	if !l.canBeWritten(root, tree["ParentTree"], parents["Nums"], parents["Kids"], tree["K"]) {
		return root, doubtful
	}
	return root, l.kids(tree)
}

// canBeWritten says whether values that are objects of their own can be written again.
func (l *linter) canBeWritten(values ...pdf.Object) bool {
	for _, value := range values {
		if ref, ok := target(l.old, value); ok {
			if _, err := l.old.Source(ref); err != nil {
				return false
			}
		}
	}
	return true
}

// soundNode looks at the last of the nodes on each level.
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

// kids looks at what the root has, and at a single element below it, which gets the new
// one if it is a Document. An artifact gets nowhere.
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
		return sound // it is not this one that changes
	}
	kids, err = l.old.Resolve(element["K"])
	if _, ok := kids.(pdf.Array); err != nil || !ok && !isKid(kids) || !l.canBeWritten(only, element["K"]) {
		return doubtful
	}
	return sound
}

// isKid: an element, a reference to content, or content marked with a number (table 355).
func isKid(o pdf.Object) bool {
	switch o.(type) {
	case nil, pdf.Dict, pdf.Integer:
		return true
	}
	return false
}
