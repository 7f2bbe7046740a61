package pades

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
)

// checkPermitted refuses a document that must not be signed: one whose author or an
// earlier signer permits no changes any more ([ErrForbidden]), and one whose last
// signature is broken ([ErrBroken]).
func checkPermitted(doc Document, file *pdf.File, signatures []signatureField) error {
	if err := checkCertification(file); err != nil {
		return err
	}
	for _, f := range signatures {
		if err := checkLock(file, f); err != nil {
			return err
		}
	}
	return checkLastSignature(doc, file, signatures)
}

// checkCertification looks at the certification signature that the catalog names
// (ISO 32000-2 12.8.4).
func checkCertification(file *pdf.File) error {
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	permissions, err := file.Dict(catalog["Perms"])
	if err != nil {
		return err
	}
	certification, err := file.Dict(permissions["DocMDP"])
	if err != nil {
		return err
	}
	return checkReferences(file, certification)
}

// checkLock looks at what an approval signature locks: the lock dictionary of its
// field (ISO 32000-2 table 236) and the transforms of the signature itself.
func checkLock(file *pdf.File, f signatureField) error {
	lock, err := file.Dict(f.field["Lock"])
	if err != nil {
		return err
	}
	if noChanges(file, lock) {
		return fmt.Errorf("%w: the signature %q locks it", ErrForbidden, f.name)
	}
	return checkReferences(file, f.signature)
}

// checkReferences looks at the transforms of a signature: DocMDP (ISO 32000-2
// table 257) and FieldMDP (table 259).
func checkReferences(file *pdf.File, signature pdf.Dict) error {
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
		if noChanges(file, parameters) {
			return fmt.Errorf("%w: it is certified, and no changes are permitted", ErrForbidden)
		}
	}
	return nil
}

// noChanges says whether the access permissions P are 1: no changes at all.
func noChanges(file *pdf.File, d pdf.Dict) bool {
	p, err := file.Int(d["P"])
	return err == nil && d["P"] != nil && p == 1
}

// checkLastSignature refuses a document whose last signature is not the one that its
// ByteRange says, or does not cover its revision.
func checkLastSignature(doc Document, file *pdf.File, signatures []signatureField) error {
	if len(signatures) == 0 {
		return nil
	}
	c, err := newCoverage(doc, file)
	if err != nil {
		return err
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
