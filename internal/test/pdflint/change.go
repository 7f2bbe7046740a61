package pdflint

import (
	"fmt"
	"reflect"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// change says what is wrong with how a value was changed, or nothing. What was null, or
// references that end in nothing, is nil.
type change func(l *linter, was, is pdf.Object) []string

// compare applies a change to what differs. may is nil where nothing may.
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

// either finds wrong what two changes both do.
func either(one, other change) change {
	return func(l *linter, was, is pdf.Object) []string {
		also := other(l, was, is)
		return slices.DeleteFunc(one(l, was, is), func(text string) bool { return !slices.Contains(also, text) })
	}
}

// inPlace is a change to a value that may not have been there. What was an object of its
// own stays one, and the same; what was direct stays direct.
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

// entries allows changes to some entries of a dictionary. All others stay as they were.
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

// grown: what an array had it still has, in the same place.
var grown = inPlace(prefix)

func prefix(_ *linter, was, is pdf.Object) []string {
	before, ok1 := was.(pdf.Array)
	after, ok2 := is.(pdf.Array)
	if !ok1 || !ok2 || len(after) <= len(before) || !reflect.DeepEqual(before, after[:len(before)]) {
		return []string{"did not only grow"}
	}
	return nil
}

// gained: what a dictionary had it still has.
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

// joined: K of the structure tree is an array of children, or a child, which may be a
// reference and becomes the first of an array (14.7.2).
func joined(l *linter, was, is pdf.Object) []string {
	value, _ := l.old.Resolve(was)
	if _, ok := value.(pdf.Array); ok || was == nil {
		return grown(l, was, is)
	}
	return prefix(l, pdf.Array{was}, is)
}

// apart: an array that somebody else has too was copied to a new object, and grew there.
func apart(l *linter, was, is pdf.Object) []string {
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

// replaced: whatever it was, it is what we say.
func replaced(*linter, pdf.Object, pdf.Object) []string { return nil }

// added: it was not there. A value that was there does not change.
func added(_ *linter, was, _ pdf.Object) []string {
	if was != nil {
		return []string{"was changed"}
	}
	return nil
}

// What may change where.
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

	pageApart = entries(map[pdf.Name]change{"Annots": apart, "Tabs": added})

	field = entries(map[pdf.Name]change{"V": added, "F": replaced, "AP": replaced})

	widget = entries(map[pdf.Name]change{"F": replaced, "AP": replaced})
)
