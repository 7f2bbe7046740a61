// Package form reads the interactive form of a PDF (ISO 32000-2 12.7): the signature fields with
// their signatures, and the locks that signatures and fields set.
//
// Reading is bounded by the depth of the field tree, the number of fields, and the number of
// signatures. A form beyond these bounds is [pdf.ErrLimit]. A form that cannot be read is
// [pdf.ErrDamaged], because the part that cannot be read may be a signature.
package form

import (
	"crypto/sha256"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// MaxDepth bounds the depth of the field tree.
const MaxDepth = 32

const (
	maxFields     = 100_000
	maxName       = 4 << 10 // bytes of a fully qualified name
	maxSignatures = 256
)

// SignatureField is a form field with a signature.
type SignatureField struct {
	Name      string // fully qualified
	Dict      pdf.Dict
	Signature pdf.Dict // its value
	// Holder is the indirect object whose text contains the signature dictionary: in general the
	// dictionary itself, else the field. Its number is 0 if there is none.
	Holder pdf.Ref
}

// Fields is what a form contains.
type Fields struct {
	Signatures []SignatureField
	Timestamps []SignatureField // document timestamps
	TopNames   map[string]bool  // partial names of the fields at the top of the form
	Named      []Node           // the field that ReadNamed looked for, and its widgets
}

// Node is a dictionary in the field tree: a field, a widget of one, or both (ISO 32000-2
// 12.5.6.19).
type Node struct {
	Dict    pdf.Dict
	Name    string     // fully qualified name of the field that it is or belongs to
	IsField bool       // it has a partial name of its own
	Type    pdf.Name   // FT, its own or inherited (ISO 32000-2 12.7.4.1)
	Value   pdf.Object // V, its own or inherited
	Object  pdf.Ref    // the indirect object that it is or is in
	Direct  bool       // it is in Object, and is not Object itself
}

// Read reads the form of a file.
func Read(file *pdf.File) (Fields, error) { return ReadNamed(file, "") }

// ReadNamed reads the form of a file. It also returns, as Named, the field with the fully qualified
// name wanted and the widgets below that field, which have no name of their own.
func ReadNamed(file *pdf.File, wanted string) (Fields, error) {
	w := walk{file: file, seen: make(map[pdf.Ref]bool), wanted: wanted, found: Fields{TopNames: make(map[string]bool)}}
	_, catalog, err := file.Catalog()
	if err != nil {
		return w.found, err
	}
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return w.found, err
	}
	if err := w.children(form["Fields"], Node{}, 0); err != nil {
		return w.found, err
	}
	return w.found, file.CheckBudget()
}

// IsTimestamp reports whether a signature dictionary is a document timestamp (ISO 32000-2 12.8.5).
func IsTimestamp(file *pdf.File, signature pdf.Dict) bool {
	filter, err := file.Name(signature["SubFilter"])
	return err == nil && filter == "ETSI.RFC3161"
}

// Signed reports whether the form has a signature or a document timestamp.
func (f Fields) Signed() bool { return len(f.Signatures)+len(f.Timestamps) > 0 }

// FreeName returns a name that no field at the top of the form has: word and a number. Partial
// names are unique among siblings (ISO 32000-2 12.7.4.2).
func (f Fields) FreeName(word string) string {
	for i := 1; ; i++ {
		if name := fmt.Sprintf("%s%d", word, i); !f.TopNames[name] {
			return name
		}
	}
}

// Reserve makes FreeName avoid the given names, which a lock lists.
func (f Fields) Reserve(names []string) {
	for _, name := range names {
		f.TopNames[name] = true
	}
}

// digestPrefix begins the digest that replaces a fully qualified name that is too long.
const digestPrefix = "SHA-256 "

// QualifiedName returns the fully qualified name of a field, given that of its parent, and whether
// the field has a partial name of its own (ISO 32000-2 12.7.4.2). It replaces a name of more than
// 4096 bytes by its digest, because the name is a part of all names below it.
func QualifiedName(file *pdf.File, field pdf.Dict, parent string) (name string, own bool) {
	t, err := file.Bytes(field["T"])
	if err != nil || t == nil {
		return parent, false
	}
	name = string(t)
	if len(t) <= 4*maxName { // a longer one is too long in every encoding
		name = pdf.Text(pdf.String(t))
	}
	if parent != "" {
		name = parent + "." + name
	}
	if len(name) > maxName {
		name = fmt.Sprintf("%s%x", digestPrefix, sha256.Sum256([]byte(name)))
	}
	return name, true
}

// walk is one pass through the field tree.
type walk struct {
	file   *pdf.File
	seen   map[pdf.Ref]bool
	wanted string
	count  int
	found  Fields
}

// children visits the fields and widgets below a parent.
func (w *walk) children(kids pdf.Object, parent Node, depth int) error {
	array, err := w.file.Array(kids)
	if err != nil {
		return err
	}
	for _, kid := range array {
		here := parent
		here.Direct = true
		if ref, ok := kid.(pdf.Ref); ok {
			if w.seen[ref] {
				continue
			}
			w.seen[ref] = true
			here.Object, here.Direct = ref, false
		}
		if w.count++; depth > MaxDepth || w.count > maxFields {
			return fmt.Errorf("%w: form fields", pdf.ErrLimit)
		}
		if err := w.file.CheckBudget(); err != nil {
			return err
		}
		// Only a dictionary is a field. An object that cannot be read may be a signature.
		field, err := w.file.Resolve(kid)
		if err != nil {
			return fmt.Errorf("form field: %w", err)
		}
		if field, ok := field.(pdf.Dict); ok {
			if err := w.visit(field, here, depth); err != nil {
				return err
			}
		}
	}
	return nil
}

// visit adds a dictionary of the tree to the result. at is its parent, with what it inherits.
func (w *walk) visit(field pdf.Dict, at Node, depth int) error {
	at.Dict = field
	if t, err := w.file.Name(field["FT"]); err == nil && t != "" {
		at.Type = t
	}
	if value, ok := field["V"]; ok {
		at.Value = value
	}
	if at.Name, at.IsField = QualifiedName(w.file, field, at.Name); at.IsField && !strings.Contains(at.Name, ".") {
		w.found.TopNames[at.Name] = true
	}
	if w.wanted != "" && at.Name == w.wanted {
		w.found.Named = append(w.found.Named, at)
	}
	if err := w.signature(at); err != nil {
		return err
	}
	return w.children(field["Kids"], at, depth+1)
}

// signature adds the signature that is the value of a signature field. An inherited value is the
// signature of the parent.
func (w *walk) signature(n Node) error {
	if n.Type != "Sig" {
		return nil
	}
	value, err := w.file.Resolve(n.Dict["V"])
	if err != nil {
		return fmt.Errorf("value of the signature field %q: %w", n.Name, err)
	}
	signature, ok := value.(pdf.Dict)
	if !ok {
		return nil // no reader takes another object than a dictionary for a signature
	}
	found := SignatureField{n.Name, n.Dict, signature, n.Object}
	if ref, ok := w.file.LastReference(n.Dict["V"]); ok {
		found.Holder = ref
	}
	kind := &w.found.Signatures
	if IsTimestamp(w.file, signature) {
		kind = &w.found.Timestamps
	}
	if len(*kind) == maxSignatures {
		return fmt.Errorf("%w: more than %d signatures", pdf.ErrLimit, maxSignatures)
	}
	*kind = append(*kind, found)
	return nil
}
