package pades

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// checkPermitted refuses a document that must not be signed: one whose author or an
// earlier signer permits it no more ([ErrForbidden]), and one whose last signature is
// broken ([ErrBroken]). field is the field to sign; "" is a new one.
func checkPermitted(doc Document, file *pdf.File, found fields, field string) error {
	if err := checkPermissions(file, field == ""); err != nil {
		return err
	}
	if err := checkCertification(file, found, field); err != nil {
		return err
	}
	for _, f := range found.signatures {
		if err := checkSignature(file, f, found, field); err != nil {
			return err
		}
	}
	c, err := newCoverage(doc, file)
	if err != nil {
		return err
	}
	return c.checkLastSignature(slices.Concat(found.signatures, found.timestamps))
}

// checkCertification looks at the certification signature that the catalog names
// (ISO 32000-2 12.8.6).
func checkCertification(file *pdf.File, found fields, field string) error {
	permissions, err := catalogPermissions(file)
	if err != nil {
		return err
	}
	certification, err := file.Dict(permissions["DocMDP"])
	if err != nil {
		return err
	}
	return eachTransform(file, certification, func(l lock) error {
		return found.obey(l, "its certification", field)
	})
}

// checkSignature looks at what a signature locks.
func checkSignature(file *pdf.File, f signatureField, found fields, field string) error {
	by := fmt.Sprintf("the signature %q", f.name)
	return eachLock(file, f, func(l lock) error { return found.obey(l, by, field) })
}

// eachLock reads what a signature locks: by the lock dictionary of its field and by its own
// transforms.
func eachLock(file *pdf.File, f signatureField, visit func(lock) error) error {
	dict, err := file.Dict(f.field["Lock"])
	if err != nil {
		return err
	}
	l, err := readLock(file, dict)
	if err != nil {
		return err
	}
	if err := visit(l); err != nil {
		return err
	}
	return eachTransform(file, f.signature, visit)
}

// eachTransform reads the parameters of a signature's transforms (ISO 32000-2 table 256).
func eachTransform(file *pdf.File, signature pdf.Dict, visit func(lock) error) error {
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
		l, err := readLock(file, parameters)
		if err != nil {
			return err
		}
		if err := visit(l); err != nil {
			return err
		}
	}
	return nil
}

// obey refuses what an earlier lock forbids. P of 2 and 3 permits to sign.
func (f fields) obey(l lock, by, field string) error {
	switch {
	case l.permission == NoChanges:
		return fmt.Errorf("%w: %s permits no changes", ErrForbidden, by)
	case field == "" && l.locksNew():
		return fmt.Errorf("%w: %s locks new fields too", ErrForbidden, by)
	case field != "" && l.locks(field):
		return fmt.Errorf("%w: %s locks the field %q", ErrForbidden, by, field)
	}
	f.reserve(l.fields)
	return nil
}

// reserve keeps a new field from getting a name that is locked.
func (f fields) reserve(names []string) {
	for _, name := range names {
		f.names[name] = true
	}
}

// checkLastSignature refuses a document whose last signature is not the one that its
// ByteRange says, or does not cover its revision.
func (c coverage) checkLastSignature(signatures []signatureField) error {
	if len(signatures) == 0 {
		return nil
	}
	last := slices.MaxFunc(signatures, func(a, b signatureField) int {
		x, _ := c.readRange(a.signature)
		y, _ := c.readRange(b.signature)
		return cmp.Compare(x.end, y.end)
	})
	r, _, problem := c.read(last)
	if problem == "" && c.of(r) == ades.Partial {
		problem = "it does not cover its revision."
	}
	if problem != "" {
		return fmt.Errorf("%w: %q: %s", ErrBroken, last.name, problem)
	}
	return nil
}
