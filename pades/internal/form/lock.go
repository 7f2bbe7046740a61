package form

import (
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Permission is what later revisions of a signed document may do: P of ISO 32000-2 tables 257 and 236.
type Permission int

// The permissions, each of which includes those before it.
const (
	NoChanges   Permission = 1 // nothing
	FormFilling Permission = 2 // forms are filled in and signatures added
	Annotations Permission = 3 // annotations are made, changed and deleted
	Never       Permission = 4 // what no value of P permits
)

// Lock is what a signature forbids later revisions: the parameters of a DocMDP or FieldMDP transform (ISO 32000-2
// tables 257 and 259), or the lock dictionary of the field that is signed (table 236), which have the same entries.
type Lock struct {
	Permission Permission // P; 0: it says nothing of the document, -1: a value that no reader knows
	Action     pdf.Name   // All, Include or Exclude; "": it says nothing of fields
	Fields     []string   // fully qualified names
	named      map[string]bool
}

// ReadLock reads a lock. A name that cannot be read says nothing; a permission or an action that cannot be read is an
// error, because it may forbid anything. Like other readers it takes 1.0 for 1.
func ReadLock(file *pdf.File, d pdf.Dict) (Lock, error) {
	l := Lock{named: make(map[string]bool)}
	p, err := file.Number(d["P"])
	if err != nil {
		return l, err
	}
	if l.Permission = Permission(max(-1, min(p, 127))); d["P"] != nil && (l.Permission < NoChanges || l.Permission > Annotations || float64(l.Permission) != p) {
		l.Permission = -1
	}
	if l.Action, err = file.Name(d["Action"]); err != nil {
		return l, err
	}
	names, err := file.Array(d["Fields"])
	if err != nil {
		return l, err
	}
	for _, o := range names {
		name, err := file.Bytes(o)
		if failed := pdf.IgnoreMalformed(err); failed != nil {
			return l, failed
		}
		if err == nil && name != nil {
			text := pdf.Text(pdf.String(name))
			l.Fields, l.named[text] = append(l.Fields, text), true
		}
	}
	return l, nil
}

// Locks reports whether a field of a fully qualified name must not be changed any more. An action that ISO 32000-2 does
// not know locks all fields, and each lock of fields locks a field whose name is replaced by its digest.
func (l Lock) Locks(field string) bool {
	switch {
	case l.Action == "":
		return false
	case strings.HasPrefix(field, digestPrefix):
		return true
	}
	switch l.Action {
	case "Include":
		return l.lists(field)
	case "Exclude":
		return !l.lists(field)
	}
	return true
}

// LocksNew reports whether fields are locked that the lock does not name.
func (l Lock) LocksNew() bool { return l.Action != "" && l.Action != "Include" }

// lists reports whether the lock names a field, or one that it is below.
func (l Lock) lists(field string) bool {
	for !l.named[field] {
		parent := strings.LastIndexByte(field, '.')
		if parent < 0 {
			return false
		}
		field = field[:parent]
	}
	return true
}

// EachLock calls visit with what a signature locks: by the lock dictionary of its field and by its own transforms.
func EachLock(file *pdf.File, f SignatureField, visit func(Lock) error) error {
	dict, err := file.Dict(f.Dict["Lock"])
	if err != nil {
		return err
	}
	l, err := ReadLock(file, dict)
	if err != nil {
		return err
	}
	if err := visit(l); err != nil {
		return err
	}
	return eachTransform(file, f.Signature, visit)
}

// EachCertificationLock calls visit with what the certification signature locks that the catalog names (ISO 32000-2
// 12.8.6).
func EachCertificationLock(file *pdf.File, visit func(Lock) error) error {
	permissions, err := Permissions(file)
	if err != nil {
		return err
	}
	certification, err := file.Dict(permissions["DocMDP"])
	if err != nil {
		return err
	}
	return eachTransform(file, certification, visit)
}

// eachTransform calls visit with the parameters of each of a signature's transforms (ISO 32000-2 table 256).
func eachTransform(file *pdf.File, signature pdf.Dict, visit func(Lock) error) error {
	references, err := file.Array(signature["Reference"])
	if err != nil {
		return err
	}
	for _, r := range references {
		reference, err := file.Dict(r)
		if err != nil {
			return err
		}
		parameters, err := file.Dict(reference["TransformParams"])
		if err != nil {
			return err
		}
		l, err := ReadLock(file, parameters)
		if err != nil {
			return err
		}
		method, err := file.Name(reference["TransformMethod"])
		if err != nil {
			return err
		}
		if method == "DocMDP" && l.Permission == 0 {
			l.Permission = FormFilling // by default (ISO 32000-2 table 257)
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}

// Permissions returns the permissions dictionary of the catalog (ISO 32000-2 table 263).
func Permissions(file *pdf.File) (pdf.Dict, error) {
	_, catalog, err := file.Catalog()
	if err != nil {
		return nil, err
	}
	return file.Dict(catalog["Perms"])
}
