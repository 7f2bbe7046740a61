package pades

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Permission is what a certification signature permits to be done to the document later: P of ISO
// 32000-2 table 257.
type Permission int

const (
	NoChanges   Permission = 1 // no changes
	FormFilling Permission = 2 // filling in form fields and adding signatures
	Annotations Permission = 3 // also making, changing and deleting annotations
)

// checkPermitted refuses a document that must not be signed: its author or an earlier signature
// does not permit it ([ades.ErrForbidden]), or its last signature is broken ([ades.ErrBroken]).
// field is the field to sign; "" is a new field.
func checkPermitted(doc Document, file *pdf.File, found form.Fields, field string) error {
	if err := checkPermissions(file, field == ""); err != nil {
		return err
	}
	if err := checkCertification(file, found, field); err != nil {
		return err
	}
	for _, f := range found.Signatures {
		if err := checkSignature(file, f, found, field); err != nil {
			return err
		}
	}
	c, err := newCoverage(doc, file)
	if err != nil {
		return err
	}
	return c.checkLastSignature(slices.Concat(found.Signatures, found.Timestamps))
}

// checkPermissions refuses an encrypted document whose author does not permit the signature (ISO
// 32000-2 table 22). A new field needs bits 4 and 6 together: bit 6 permits filling in fields, and
// making fields only if bit 4 is set too. An existing field needs bit 6 or bit 9. Bit 4 alone is
// not enough: it permits only what the other bits do not control.
func checkPermissions(file *pdf.File, newField bool) error {
	p, encrypted := file.Permissions()
	switch {
	case !encrypted:
		return nil
	case newField && !(p.Modify && p.Annotate):
		return fmt.Errorf("%w: the document's permissions do not allow new form fields", ades.ErrForbidden)
	case !newField && !p.Annotate && !p.FillIn:
		return fmt.Errorf("%w: the document's permissions do not allow filling in form fields", ades.ErrForbidden)
	}
	return nil
}

// checkCertification checks the locks of the certification signature that the catalog names (ISO
// 32000-2 12.8.6).
func checkCertification(file *pdf.File, found form.Fields, field string) error {
	return form.EachCertificationLock(file, func(l form.Lock) error {
		return checkLocked(found, l, "its certification", field)
	})
}

// checkSignature checks the locks of an earlier signature.
func checkSignature(file *pdf.File, f form.SignatureField, found form.Fields, field string) error {
	by := fmt.Sprintf("the signature %q", f.Name)
	return form.EachLock(file, f, func(l form.Lock) error { return checkLocked(found, l, by, field) })
}

// checkLocked returns an error when an earlier lock forbids the signature: it permits no changes,
// or it locks field, the field to sign ("" is a new one). P of 2 and 3 permits signing. checkLocked
// also reserves the locked names, so that a new field gets none of them.
func checkLocked(found form.Fields, l form.Lock, by, field string) error {
	switch {
	case l.Permission == form.NoChanges, l.Permission < 0: // an unknown permission permits nothing
		return fmt.Errorf("%w: %s permits no changes", ades.ErrForbidden, by)
	case field == "" && l.LocksNew():
		return fmt.Errorf("%w: %s locks new fields too", ades.ErrForbidden, by)
	case field != "" && l.Locks(field):
		return fmt.Errorf("%w: %s locks the field %q", ades.ErrForbidden, by, field)
	}
	found.Reserve(l.Fields)
	return nil
}

// checkLastSignature refuses a document whose last signature is not in the gap of its ByteRange, or
// does not cover its whole revision.
func (c coverage) checkLastSignature(signatures []form.SignatureField) error {
	if len(signatures) == 0 {
		return nil
	}
	last := slices.MaxFunc(signatures, func(a, b form.SignatureField) int {
		x, _ := c.readRange(a.Signature)
		y, _ := c.readRange(b.Signature)
		return cmp.Compare(x.end, y.end)
	})
	r, _, problem := c.readContents(last)
	if problem == "" && c.coverageOf(r) == ades.Partial {
		problem = "it does not cover its revision."
	}
	if problem != "" {
		return fmt.Errorf("%w: %q: %s", ades.ErrBroken, last.Name, problem)
	}
	return nil
}

// checkCertifiable refuses a certification that would not be the first signature of its document
// (ISO 32000-2 12.8.2.2.1). A document timestamp counts as a signature.
func checkCertifiable(file *pdf.File, found form.Fields, permission Permission) error {
	if permission == 0 {
		return nil
	}
	permissions, err := form.Permissions(file)
	if err != nil {
		return err
	}
	if found.Signed() || permissions["DocMDP"] != nil {
		return fmt.Errorf("%w: the document is signed already, and a certification has to be the first signature", ades.ErrForbidden)
	}
	return nil
}

// checkLock refuses the lock of a field that cannot become a signature reference.
func checkLock(l form.Lock, field string) error {
	if !slices.Contains([]pdf.Name{"", "All", "Include", "Exclude"}, l.Action) {
		return fmt.Errorf("%w: the lock of field %q asks for the unknown action %.32q", ades.ErrForbidden, field, string(l.Action))
	}
	if l.Permission < 0 || l.Permission > form.Annotations {
		return fmt.Errorf("%w: the lock of field %q asks for the unknown permission %d", ades.ErrForbidden, field, l.Permission)
	}
	if l.Permission != 0 && l.Action == "" { // Action is required, and the signature reference needs it
		return fmt.Errorf("%w: the lock of field %q has a permission and no action", ades.ErrForbidden, field)
	}
	return nil
}

// reference returns the signature reference dictionary that makes a signature a certification (ISO
// 32000-2 12.8.2.2).
func (p Permission) reference() []byte {
	return fmt.Appendf(nil, "<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P %d >> >>", p)
}

// lockReference returns the signature reference dictionary that makes the lock of a field part of
// its signature (ISO 32000-2 12.8.2.4). Data was required up to PDF 1.7. Acrobat writes and reads
// the permission of an approval signature in P.
func lockReference(l form.Lock, catalog pdf.Ref) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "<< /Type /SigRef /TransformMethod /FieldMDP /Data %s /TransformParams << /Type /TransformParams /V /1.2 /Action %s", catalog, pdf.NameToken(l.Action))
	if l.Action != "All" {
		b.WriteString(" /Fields [")
		for _, name := range l.Fields {
			b.Write(pdf.TextString(name))
		}
		b.WriteString("]")
	}
	if l.Permission != 0 {
		fmt.Fprintf(&b, " /P %d", l.Permission)
	}
	b.WriteString(" >> >>")
	return b.Bytes()
}

// addCertification names the signature as the certification in the permissions dictionary of the
// catalog (ISO 32000-2 12.8.6). Existing permissions stay.
func addCertification(file *pdf.File, update *pdf.Update, signature pdf.Ref) error {
	catalogRef, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	permissions, err := file.Dict(catalog["Perms"])
	if err != nil {
		return err
	}
	if permissions == nil {
		return setEntry(update, catalogRef, "Perms", fmt.Appendf(nil, "<< /DocMDP %s >>", signature))
	}
	return patchCatalog(file, update, "Perms", func(source []byte) ([]byte, error) {
		return pdf.SetKey(source, "DocMDP", []byte(signature.String()))
	})
}

// hasUsageRights reports whether the document has usage rights for Adobe Reader: UR3 of ISO 32000-2
// table 263, or UR of PDF 1.5.
func hasUsageRights(file *pdf.File) bool {
	permissions, err := form.Permissions(file)
	return err == nil && (permissions["UR3"] != nil || permissions["UR"] != nil)
}
