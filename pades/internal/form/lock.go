package form

import (
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// Permission is what later revisions may do to a signed document: P of ISO 32000-2 tables 257 and
// 236.
type Permission int

// The permissions. Each of the first three includes those before it.
const (
	NoChanges   Permission = 1 // nothing
	FormFilling Permission = 2 // fill in forms and add signatures
	Annotations Permission = 3 // create, change and delete annotations
	Never       Permission = 4 // what a change needs that no value of P permits
)

// Lock is what a signature forbids later revisions to do: the parameters of a DocMDP or FieldMDP
// transform (ISO 32000-2 tables 257 and 259), or the lock dictionary of the signed field (table
// 236), which has the same entries.
type Lock struct {
	Permission Permission // P; 0: absent, -1: not a value of the standard
	Action     pdf.Name   // All, Include or Exclude; "": absent, and no field is locked
	Fields     []string   // fully qualified names
	named      map[string]bool
}

// ReadLock reads a lock. It ignores a field name that cannot be read. A permission or an action
// that cannot be read is an error, because it may forbid anything. ReadLock takes 1.0 for 1, as
// other readers do.
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

// Locks reports whether the field with a fully qualified name must not be changed any more. An
// action that ISO 32000-2 does not define locks all fields. A field whose name is replaced by its
// digest is locked by every lock that has an action.
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

// LocksNew reports whether the lock applies to fields that it does not name.
func (l Lock) LocksNew() bool { return l.Action != "" && l.Action != "Include" }

// lists reports whether the lock names a field or one of its ancestors.
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

// EachLock calls visit with each lock of a signature: that in the lock dictionary of its field, and
// those in its transforms. An error of visit ends the calls and is returned.
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

// EachCertificationLock calls visit with each lock of the certification signature that the catalog
// names (ISO 32000-2 12.8.6).
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

// eachTransform calls visit with the parameters of each transform of a signature (ISO 32000-2 table
// 256).
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
