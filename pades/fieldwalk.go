package pades

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// fieldWalk goes down the field tree.
type fieldWalk struct {
	file   *pdf.File
	seen   map[pdf.Ref]bool
	wanted string
	count  int
	found  fields
}

// node is a dictionary in the field tree, which is a field, a widget of one, or both.
type node struct {
	place
	dict  pdf.Dict
	named bool // by an entry T of its own, so that it is a field
}

// place is where in the tree a field is, with what it inherits there
// (ISO 32000-2 12.7.4.1).
type place struct {
	parent string // fully qualified name
	kind   pdf.Name
	value  pdf.Object
	depth  int
	object pdf.Ref // that the field is in
	direct bool    // within that object, instead of being it
}

func (w *fieldWalk) children(kids pdf.Object, at place) error {
	array, err := w.file.Array(kids)
	if err != nil {
		return err
	}
	for _, kid := range array {
		here := at
		here.direct = true
		if ref, ok := kid.(pdf.Ref); ok {
			if w.seen[ref] {
				continue
			}
			w.seen[ref] = true
			here.object, here.direct = ref, false
		}
		if w.count++; at.depth > maxFieldDepth || w.count > maxFields {
			return fmt.Errorf("%w: form fields", pdf.ErrLimit)
		}
		if err := w.file.Spent(); err != nil {
			return err
		}
		// What is no dictionary is no field; what cannot be read may be a signature.
		field, err := w.file.Resolve(kid)
		if err != nil {
			return fmt.Errorf("form field: %w", err)
		}
		if field, ok := field.(pdf.Dict); ok {
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
	if value, ok := field["V"]; ok {
		at.value = value
	}
	var named bool
	if at.parent, named = fieldName(w.file, field, at.parent); named && !strings.Contains(at.parent, ".") {
		w.found.names[at.parent] = true
	}
	if w.wanted != "" && at.parent == w.wanted {
		w.found.wanted = append(w.found.wanted, node{at, field, named})
	}
	if err := w.noteSignature(field, at); err != nil {
		return err
	}
	at.depth++
	return w.children(field["Kids"], at)
}

// nameDigest is what a name begins with that stands as its digest.
const nameDigest = "SHA-256 "

// fieldName returns the fully qualified name of a field below a parent, and whether it has a
// part in it of its own (ISO 32000-2 12.7.4.2). One that nobody would read stands as its digest:
// it is a part of all names below it.
func fieldName(file *pdf.File, field pdf.Dict, parent string) (name string, named bool) {
	t, err := file.Bytes(field["T"])
	if err != nil || t == nil {
		return parent, false
	}
	name = string(t)
	if len(t) <= 4*maxFieldName { // beyond, nobody would read it however it is decoded
		name = pdf.Text(pdf.String(t))
	}
	if parent != "" {
		name = parent + "." + name
	}
	if len(name) > maxFieldName {
		name = fmt.Sprintf("%s%x", nameDigest, sha256.Sum256([]byte(name)))
	}
	return name, true
}

// noteSignature notes the signature that is the value of a signature field.
func (w *fieldWalk) noteSignature(field pdf.Dict, at place) error {
	if at.kind != "Sig" {
		return nil
	}
	value, err := w.file.Resolve(field["V"])
	if err != nil {
		return fmt.Errorf("value of the signature field %q: %w", at.parent, err)
	}
	signature, ok := value.(pdf.Dict)
	if !ok {
		return nil // no signature that anybody sees
	}
	found := signatureField{at.parent, field, signature, at.object}
	if ref, ok := lastReference(w.file, field["V"]); ok {
		found.holder = ref
	}
	kind := &w.found.signatures
	if isTimestamp(w.file, signature) {
		kind = &w.found.timestamps
	}
	if len(*kind) == maxSignatures {
		return fmt.Errorf("%w: more than %d signatures", pdf.ErrLimit, maxSignatures)
	}
	*kind = append(*kind, found)
	return nil
}
