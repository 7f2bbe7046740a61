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
	maxFieldName  = 4 << 10 // bytes of a fully qualified name
	maxSignatures = 256
	maxWidgets    = 32 // of the field that is signed
)

// fields is what a walk of the form finds.
type fields struct {
	signatures []signatureField
	timestamps []signatureField // of the document; they are no signatures of a person
	names      map[string]bool  // first parts of all fields' names
	wanted     []node           // that have the name asked for
}

func readFields(file *pdf.File) (fields, error) { return readFieldsNamed(file, "") }

// readFieldsNamed finds beside the signatures what has the fully qualified name wanted:
// a field, and the widgets below it, which have no name of their own.
func readFieldsNamed(file *pdf.File, wanted string) (fields, error) {
	w := fieldWalk{file: file, seen: make(map[pdf.Ref]bool), wanted: wanted, found: fields{names: make(map[string]bool)}}
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

// signed says whether the document has a signature, be it a document timestamp.
func (f fields) signed() bool { return len(f.signatures)+len(f.timestamps) > 0 }

// freeName returns a name, made of a word and a number, that no other field has at the
// top of the form, where ours goes: partial names are unique among siblings
// (ISO 32000-2 12.7.4.2).
func (f fields) freeName(word string) string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s%d", word, i); !f.names[name] {
			return name
		}
	}
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
