package pdflint

import (
	"cmp"

	"github.com/innsigli/innsigli/internal/pdf"
)

// formField is a dictionary in the tree of the form: a field, a widget of one, or both
// (12.7.4.1).
type formField struct {
	ref   pdf.Ref // the object that it is; Num is 0 when it is direct
	dict  pdf.Dict
	name  string   // fully qualified
	named bool     // by a T of its own, so that it is a field and no mere widget
	kind  pdf.Name // FT, which may be inherited
	depth int
}

// Bounds of the walk: those of what is signed at all are narrower.
const (
	maxFieldDepth = 64
	maxFields     = 200_000
)

// formFields goes through the form of a file. What is damaged in it is left out: the first such error is told.
func formFields(file *pdf.File) (found []formField, damaged error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	form, _ := file.Dict(catalog["AcroForm"])
	seen := make(map[pdf.Ref]bool)
	var visit func(kids pdf.Object, parent formField)
	visit = func(kids pdf.Object, parent formField) {
		array, err := file.Array(kids)
		damaged = cmp.Or(damaged, err)
		if err != nil || parent.depth > maxFieldDepth {
			return
		}
		for _, kid := range array {
			if ref, ok := kid.(pdf.Ref); ok && seen[ref] || len(found) > maxFields {
				continue
			} else if ok {
				seen[ref] = true
			}
			_, err := file.Dict(kid)
			damaged = cmp.Or(damaged, err)
			if f, ok := parent.child(file, kid); ok {
				found = append(found, f)
				visit(f.dict["Kids"], f)
			}
		}
	}
	visit(form["Fields"], formField{})
	return found, damaged
}

// child is what a parent has below it, with what it inherits.
func (parent formField) child(file *pdf.File, kid pdf.Object) (formField, bool) {
	dict, err := file.Dict(kid)
	if err != nil || dict == nil {
		return formField{}, false
	}
	f := formField{dict: dict, name: parent.name, kind: parent.kind, depth: parent.depth + 1}
	f.ref, _ = target(file, kid)
	if kind, err := file.Name(dict["FT"]); err == nil && kind != "" {
		f.kind = kind
	}
	if b, err := file.Bytes(dict["T"]); err == nil && b != nil {
		f.named, f.name = true, pdf.Text(pdf.String(b))
		if parent.name != "" {
			f.name = parent.name + "." + f.name
		}
	}
	return f, true
}

// target follows references to references to the object that a value is.
func target(file *pdf.File, value pdf.Object) (pdf.Ref, bool) {
	for range 16 {
		ref, ok := value.(pdf.Ref)
		if !ok {
			return pdf.Ref{}, false
		}
		next, err := file.Object(ref)
		if err != nil {
			return pdf.Ref{}, false
		}
		if _, further := next.(pdf.Ref); !further {
			return ref, true
		}
		value = next
	}
	return pdf.Ref{}, false
}

// isWidget: an annotation that says so, or one that has a place on a page.
func (f formField) isWidget(file *pdf.File) bool {
	subtype, err := file.Name(f.dict["Subtype"])
	return err == nil && subtype == "Widget" || f.dict["Rect"] != nil
}

// signatures are the fields of the file as it was that are signed, document timestamps
// among them, each with its signature dictionary.
func (l *linter) signatures() (found []signedField) {
	for _, f := range l.was {
		if signature, err := l.old.Dict(f.dict["V"]); f.kind == "Sig" && err == nil && signature != nil {
			found = append(found, signedField{f, signature})
		}
	}
	return found
}

type signedField struct {
	formField
	signature pdf.Dict
}
