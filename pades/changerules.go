package pades

import (
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// rules are what a signature and those before it, the certification of the document among them,
// let later revisions do.
type rules struct {
	permission Permission
	locks      []lock
}

// rulesOf reads the rules of the revision that a signature was made in: later ones could lift
// them. What cannot be read may forbid anything. Without a rule it is as if a certification let
// forms be filled in (ISO 32000-2 table 257).
func rulesOf(file *pdf.File) (rules, error) {
	r := rules{permission: never}
	found, err := readFields(file)
	if err == nil {
		err = r.certification(file)
	}
	for _, f := range found.signatures {
		if err != nil {
			break
		}
		err = eachLock(file, f, r.add)
	}
	if err != nil {
		return rules{permission: NoChanges}, notMalformed(err)
	}
	if r.permission == never {
		r.permission = FormFilling
	}
	return r, nil
}

func (r *rules) certification(file *pdf.File) error {
	permissions, err := catalogPermissions(file)
	if err != nil {
		return err
	}
	signature, err := file.Dict(permissions["DocMDP"])
	if err != nil {
		return err
	}
	return eachTransform(file, signature, r.add)
}

// add adds a rule. The strictest holds, and a permission that is not known permits nothing.
func (r *rules) add(l lock) error {
	if l.permission < 0 || l.permission > Annotations {
		l.permission = NoChanges
	}
	if l.permission != 0 {
		r.permission = min(r.permission, l.permission)
	}
	r.locks = append(r.locks, l)
	return nil
}

// permits says whether a change may be: validation data and document timestamps whatever the rules
// are, and fields unless they are locked (ISO 32000-2 12.8.2.2.2, 12.8.2.4).
func (r rules) permits(c change) bool {
	if c.needs > r.permission {
		return false
	}
	field := c.Kind == ades.ChangeForm || c.Kind == ades.ChangeSignature
	return !field || !slices.ContainsFunc(r.locks, c.isLocked)
}

// isLocked says whether a lock is about what was changed. What belongs to several fields may be of one
// that is; what is of the form as a whole is of none.
func (c change) isLocked(l lock) bool {
	if c.Field != "" {
		return l.locks(c.Field)
	}
	return l.action != "" && c.at != nil && c.at.role.ofField()
}
