package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// signatureField is a form field with a signature in it.
type signatureField struct {
	name      string // fully qualified
	field     pdf.Dict
	signature pdf.Dict
	// holder is the indirect object in whose text the signature dictionary stands:
	// itself as a rule, else the field. Num is 0 when there is none.
	holder pdf.Ref
}

// Bounds on what a form can make this package do.
const (
	maxFieldDepth = 32
	maxFields     = 100_000
	maxSignatures = 256
)

// fields is what a walk of the form finds. Document timestamps are no signatures of a
// person and are left out.
type fields struct {
	signatures []signatureField
	names      map[string]bool // first parts of all fields' names
}

func readFields(file *pdf.File) (fields, error) {
	w := fieldWalk{file: file, seen: make(map[pdf.Ref]bool), found: fields{names: make(map[string]bool)}}
	_, catalog, err := file.Catalog()
	if err != nil {
		return w.found, err
	}
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return w.found, err
	}
	if err := w.children(form["Fields"], place{}); err != nil {
		return w.found, err
	}
	return w.found, file.Spent()
}

// freeName returns a name that no other field has at the top of the form, where
// ours goes: partial names are unique among siblings (ISO 32000-2 12.7.4.2).
func (f fields) freeName() string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("Signature%d", i); !f.names[name] {
			return name
		}
	}
}

// fieldWalk goes down the field tree.
type fieldWalk struct {
	file  *pdf.File
	seen  map[pdf.Ref]bool
	count int
	found fields
}

// place is where in the tree a field is, with what it inherits there
// (ISO 32000-2 12.7.4.1).
type place struct {
	parent string // fully qualified name
	kind   pdf.Name
	depth  int
	object pdf.Ref // that the field is in
}

func (w *fieldWalk) children(kids pdf.Object, at place) error {
	array, err := w.file.Array(kids)
	if err != nil {
		return err
	}
	for _, kid := range array {
		here := at
		if ref, ok := kid.(pdf.Ref); ok {
			if w.seen[ref] {
				continue
			}
			w.seen[ref] = true
			here.object = ref
		}
		if w.count++; at.depth > maxFieldDepth || w.count > maxFields {
			return fmt.Errorf("%w: form fields", pdf.ErrLimit)
		}
		if err := w.file.Spent(); err != nil {
			return err
		}
		// What is no dictionary is no field; the others are still looked at.
		if field, err := w.file.Dict(kid); err == nil && field != nil {
			if err := w.visit(field, here); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *fieldWalk) visit(field pdf.Dict, at place) error {
	if t, err := w.file.Name(field["FT"]); err == nil && t != "" {
		at.kind = t
	}
	if t, err := w.file.Bytes(field["T"]); err == nil && t != nil {
		name := pdf.Text(pdf.String(t))
		if at.parent == "" {
			w.found.names[name] = true
		} else {
			name = at.parent + "." + name
		}
		at.parent = name
	}
	if at.kind == "Sig" {
		if signature, err := w.file.Dict(field["V"]); err == nil && signature != nil && !isTimestamp(w.file, signature) {
			found := signatureField{at.parent, field, signature, at.object}
			if ref, ok := lastReference(w.file, field["V"]); ok {
				found.holder = ref
			}
			if len(w.found.signatures) == maxSignatures {
				return fmt.Errorf("%w: more than %d signatures", pdf.ErrLimit, maxSignatures)
			}
			w.found.signatures = append(w.found.signatures, found)
		}
	}
	at.depth++
	return w.children(field["Kids"], at)
}

func isTimestamp(file *pdf.File, signature pdf.Dict) bool {
	filter, err := file.Name(signature["SubFilter"])
	return err == nil && filter == "ETSI.RFC3161"
}

// lastReference follows references to references to the one that names the object
// itself.
func lastReference(file *pdf.File, o pdf.Object) (pdf.Ref, bool) {
	ref, ok := o.(pdf.Ref)
	for range 16 {
		if !ok {
			break
		}
		next, err := file.Object(ref)
		if err != nil {
			return ref, true
		}
		further, more := next.(pdf.Ref)
		if !more {
			return ref, true
		}
		ref = further
	}
	return pdf.Ref{}, false
}
