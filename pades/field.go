package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// addField adds a signature field with the signature as its value: to the form,
// which is made when there is none, and as a widget to the page (ISO 32000-2 12.7.5.5). What is there already is patched and not rewritten: a
// signature made earlier covers its meaning.
func addField(file *pdf.File, update *pdf.Update, page *pdf.Page, f newField) (pdf.Ref, error) {
	catalogRef, catalog, err := file.Catalog()
	if err != nil {
		return pdf.Ref{}, err
	}
	field := update.Reserve()
	drawn, err := f.draw(update, page.Rotate)
	if err != nil {
		return pdf.Ref{}, err
	}
	update.Set(field, f.source(page.Ref, drawn))
	if err := f.addToPage(file, update, page, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the widget to the page: %w", err)
	}
	if err := addToForm(file, update, catalogRef, catalog, field); err != nil {
		return pdf.Ref{}, fmt.Errorf("adding the field to the form: %w", err)
	}
	return field, nil
}

// newField is a signature field to add.
type newField struct {
	name       string // partial name
	title      string // what a screen reader says
	signature  pdf.Ref
	appearance bool // PDF/A-1 has every field have some, be it empty (ISO 19005-1 6.9)
	visible    *Visible
	shared     bool // are the page's annotations with another page, which is not to show it
}

// draw adds the appearance of a field on a page that is displayed turned by rotate degrees,
// and returns the entry of the widget's source that names it, if any.
func (f newField) draw(update *pdf.Update, rotate int) (entry string, err error) {
	if !f.appearance {
		return "", nil
	}
	var appearance pdf.Ref
	if f.visible == nil {
		appearance, err = addAppearance(update, 0, 0, 0, nil)
	} else {
		size := f.visible.Rect.box()
		appearance, err = addAppearance(update, rotate, size.width, size.height, f.visible.Appearance)
	}
	return fmt.Sprintf(" /AP << /N %s >>", appearance), err
}

// source is the field and its widget in one dictionary. The flags are Print and Locked
// (ISO 32000-2 table 167); drawn is the entry of its appearance, if any.
func (f newField) source(page pdf.Ref, drawn string) []byte {
	var rect Rect
	if f.visible != nil {
		rect = f.visible.Rect
	}
	return fmt.Appendf(nil, "<< /Type /Annot /Subtype /Widget /FT /Sig /T %s /TU %s /V %s /P %s /Rect %s%s /F 132 >>",
		pdf.TextString(f.name), pdf.TextString(f.title), f.signature, page, rect.source(), drawn)
}

func addToForm(file *pdf.File, update *pdf.Update, catalogRef pdf.Ref, catalog pdf.Dict, field pdf.Ref) error {
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return err
	}
	if form == nil {
		return patchObject(update, catalogRef, func(source []byte) ([]byte, error) {
			made := update.Add(fmt.Appendf(nil, "<< /Fields [%s] /SigFlags 3 >>", field))
			return pdf.SetKey(source, "AcroForm", []byte(made.String()))
		})
	}
	return patchCatalog(file, update, "AcroForm", func(source []byte) ([]byte, error) {
		return patchForm(file, update, source, form, field)
	})
}

// patchForm adds the field and says that there are signatures. It returns nil when the
// form's own source stays as it is.
func patchForm(file *pdf.File, update *pdf.Update, source []byte, form pdf.Dict, field pdf.Ref) ([]byte, error) {
	patched, err := appendReference(file, update, source, form, "Fields", field)
	if err != nil {
		return nil, err
	}
	if patched == nil {
		return noteSignatures(file, source, form)
	}
	flagged, err := noteSignatures(file, patched, form)
	if flagged == nil {
		return patched, err
	}
	return flagged, err
}

// noteSignatures says in the source of a form that there are signatures, so that the file
// is only appended to (ISO 32000-2 table 225). It returns nil when it says so already.
func noteSignatures(file *pdf.File, source []byte, form pdf.Dict) ([]byte, error) {
	flags, err := file.Int(form["SigFlags"])
	if err != nil {
		flags = 0 // what cannot be read sets no flag
	}
	const signaturesExist, appendOnly = 1, 2
	if flags&signaturesExist != 0 && flags&appendOnly != 0 {
		return nil, nil
	}
	return pdf.SetKey(source, "SigFlags", fmt.Appendf(nil, "%d", flags|signaturesExist|appendOnly))
}
