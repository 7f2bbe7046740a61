package pades

import (
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
)

// addField adds a signature field with the signature as its value: to the form,
// which is made when there is none, and as an invisible widget to the first page
// (ISO 32000-2 12.7.5.5). What is there already is patched and not rewritten: a
// signature made earlier covers its meaning.
func addField(file *pdf.File, update *pdf.Update, page *pdf.Page, name string, signature pdf.Ref) error {
	catalogRef, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	field := update.Add(fieldSource(name, page.Ref, signature))
	if err := addToPage(file, update, page, field); err != nil {
		return fmt.Errorf("adding the widget to the page: %w", err)
	}
	if err := addToForm(file, update, catalogRef, catalog, field); err != nil {
		return fmt.Errorf("adding the field to the form: %w", err)
	}
	return nil
}

// fieldSource is a field and its widget in one dictionary. The flags are Print and
// Locked (ISO 32000-2 table 167); /TU is what a screen reader says.
func fieldSource(name string, page, signature pdf.Ref) []byte {
	return fmt.Appendf(nil, "<< /Type /Annot /Subtype /Widget /FT /Sig /T %s /TU %s /V %s /P %s /Rect [0 0 0 0] /F 132 >>",
		pdf.TextString(name), pdf.TextString("Digital signature"), signature, page)
}

func addToPage(file *pdf.File, update *pdf.Update, page *pdf.Page, field pdf.Ref) error {
	return patchObject(update, page.Ref, func(source []byte) ([]byte, error) {
		return appendReference(file, update, source, page.Dict, "Annots", field)
	})
}

func addToForm(file *pdf.File, update *pdf.Update, catalogRef pdf.Ref, catalog pdf.Dict, field pdf.Ref) error {
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return err
	}
	if ref, ok := lastReference(file, catalog["AcroForm"]); ok && form != nil {
		return patchObject(update, ref, func(source []byte) ([]byte, error) {
			return patchForm(file, update, source, form, field)
		})
	}
	return patchObject(update, catalogRef, func(source []byte) ([]byte, error) {
		if form == nil {
			made := update.Add(fmt.Appendf(nil, "<< /Fields [%s] /SigFlags 3 >>", field))
			return pdf.SetKey(source, "AcroForm", []byte(made.String()))
		}
		direct, _, err := pdf.Key(source, "AcroForm")
		if err != nil {
			return nil, err
		}
		patched, err := patchForm(file, update, direct, form, field)
		if err != nil || patched == nil {
			return nil, err
		}
		return pdf.SetKey(source, "AcroForm", patched)
	})
}

// patchObject changes the source of an object; nil leaves it as it is.
func patchObject(update *pdf.Update, ref pdf.Ref, patch func(source []byte) ([]byte, error)) error {
	source, err := update.Source(ref)
	if err != nil {
		return err
	}
	patched, err := patch(source)
	if err == nil && patched != nil {
		update.Set(ref, patched)
	}
	return err
}

// patchForm adds the field and says that there are signatures, which are only
// appended to (ISO 32000-2 table 225). It returns nil when the form's own source
// stays as it is.
func patchForm(file *pdf.File, update *pdf.Update, source []byte, form pdf.Dict, field pdf.Ref) ([]byte, error) {
	patched, err := appendReference(file, update, source, form, "Fields", field)
	if err != nil {
		return nil, err
	}
	flags, err := file.Int(form["SigFlags"])
	if err != nil {
		flags = 0 // what cannot be read sets no flag
	}
	const signaturesExist, appendOnly = 1, 2
	if flags&signaturesExist != 0 && flags&appendOnly != 0 {
		return patched, nil
	}
	if patched == nil {
		patched = source
	}
	return pdf.SetKey(patched, "SigFlags", fmt.Appendf(nil, "%d", flags|signaturesExist|appendOnly))
}

// appendReference appends a reference to the array under a key of a dictionary,
// given as its source and its value. An array that is an object of its own is
// changed there, and the result is nil: the dictionary stays as it is.
func appendReference(file *pdf.File, update *pdf.Update, source []byte, dict pdf.Dict, key pdf.Name, item pdf.Ref) ([]byte, error) {
	array, err := file.Array(dict[key])
	if err != nil {
		return nil, err
	}
	if array == nil {
		return pdf.SetKey(source, key, fmt.Appendf(nil, "[%s]", item))
	}
	if ref, ok := lastReference(file, dict[key]); ok {
		return nil, appendOnce(update, ref, item)
	}
	value, _, err := pdf.Key(source, key)
	if err != nil {
		return nil, err
	}
	if value, err = pdf.AppendItem(value, []byte(item.String())); err != nil {
		return nil, err
	}
	return pdf.SetKey(source, key, value)
}

// appendOnce appends a reference to an array object. One array may be both the
// annotations and the fields, and then has it already.
func appendOnce(update *pdf.Update, array, item pdf.Ref) error {
	return patchObject(update, array, func(source []byte) ([]byte, error) {
		value, err := pdf.Parse(source)
		if items, ok := value.(pdf.Array); err != nil || ok && slices.Contains(items, pdf.Object(item)) {
			return nil, err
		}
		return pdf.AppendItem(source, []byte(item.String()))
	})
}
