package pdflint

import (
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
)

// checkLocks: no earlier signature forbids this one: by permitting no changes at all, or
// by locking the field (12.8.2.2.2, 12.8.2.4). A new field is none that a lock of all, or
// of all but some, left out.
func (l *linter) checkLocks(field formField) {
	if signature, err := l.new.Dict(field.dict["V"]); err == nil && isTimestamp(signature) {
		return // which is no change (table 257)
	}
	for _, lock := range l.locks() {
		action, err := l.old.Name(lock["Action"])
		if err != nil {
			l.fault(Locks, "an earlier lock cannot be read: %v", err)
		}
		if p, err := l.old.Int(lock["P"]); err == nil && p == 1 {
			l.fault(Locks, "an earlier signature permits no changes")
		}
		listed := l.lists(lock, field.name)
		switch {
		case action == "", action == "Include" && !listed:
		case action == "Exclude" && listed && !l.newObject(field.ref):
		default:
			l.fault(Locks, "an earlier signature locks %q: %v", field.name, lock)
		}
	}
}

// locks are the parameters of every earlier signature's transforms, those of the
// certification that the catalog names, and the locks of the fields (tables 236, 257, 259).
func (l *linter) locks() (locks []pdf.Dict) {
	certifying, _ := l.old.Dict(certification(l.old))
	signatures := []pdf.Dict{certifying}
	for _, f := range l.signatures() {
		if filter, _ := l.old.Name(f.signature["SubFilter"]); filter == "ETSI.RFC3161" {
			continue // a timestamp is nobody's word
		}
		signatures = append(signatures, f.signature)
		if lock, err := l.old.Dict(f.dict["Lock"]); err == nil && lock != nil {
			locks = append(locks, lock)
		}
	}
	for _, signature := range signatures {
		references, _ := l.old.Array(signature["Reference"])
		for _, r := range references {
			reference, _ := l.old.Dict(r)
			if parameters, err := l.old.Dict(reference["TransformParams"]); err == nil && parameters != nil {
				locks = append(locks, parameters)
			}
		}
	}
	return locks
}

// lists says whether a lock names a field, or one that it is below.
func (l *linter) lists(lock pdf.Dict, field string) bool {
	names, _ := l.old.Array(lock["Fields"])
	for _, o := range names {
		b, err := l.old.Bytes(o)
		if name := pdf.Text(pdf.String(b)); err == nil && b != nil && (field == name || strings.HasPrefix(field, name+".")) {
			return true
		}
	}
	return false
}
