package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// Permission is what may be done to a document after it was certified: P of ISO 32000-2
// table 257.
type Permission int

const (
	NoChanges   Permission = 1 // nothing
	FormFilling Permission = 2 // forms are filled in and signatures added
	Annotations Permission = 3 // and annotations are made, changed and deleted
)

// checkCertifiable refuses a certification that would not be the first signature of its
// document (ISO 32000-2 12.8.2.2.1). A document timestamp is one too.
func checkCertifiable(file *pdf.File, found form.Fields, permission Permission) error {
	if permission == 0 {
		return nil
	}
	permissions, err := form.Permissions(file)
	if err != nil {
		return err
	}
	if found.Signed() || permissions["DocMDP"] != nil {
		return fmt.Errorf("%w: it is signed, and a certification has to come first", ades.ErrForbidden)
	}
	return nil
}

// reference is the signature reference dictionary that makes a signature a certification
// (ISO 32000-2 12.8.2.2).
func (p Permission) reference() []byte {
	return fmt.Appendf(nil, "<< /Type /SigRef /TransformMethod /DocMDP /TransformParams << /Type /TransformParams /V /1.2 /P %d >> >>", p)
}

// addCertification names the signature in the permissions of the catalog
// (ISO 32000-2 12.8.6); those that are there stay.
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

// hasUsageRights reports whether the document was enabled for features of Adobe Reader: by
// UR3 of ISO 32000-2 table 263, or UR of PDF 1.5.
func hasUsageRights(file *pdf.File) bool {
	permissions, err := form.Permissions(file)
	return err == nil && (permissions["UR3"] != nil || permissions["UR"] != nil)
}
