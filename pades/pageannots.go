package pades

import (
	"errors"

	"github.com/innsigli/innsigli/internal/pdf"
)

// addToPage appends the widget of a new field to the annotations of its page. An array that
// is another page's too stays as it is, and this page gets a longer copy of it.
func (f newField) addToPage(file *pdf.File, update *pdf.Update, page *pdf.Page, widget pdf.Ref) error {
	return patchObject(update, page.Ref, func(source []byte) ([]byte, error) {
		if f.shared {
			return ownAnnotations(file, update, source, page, widget)
		}
		return appendReference(file, update, source, page.Dict, "Annots", widget)
	})
}

// ownAnnotations gives a page, whose source it returns, an array of its own.
func ownAnnotations(file *pdf.File, update *pdf.Update, source []byte, page *pdf.Page, widget pdf.Ref) ([]byte, error) {
	ref, _ := file.LastReference(page.Dict["Annots"])
	shared, err := update.Source(ref)
	if err != nil {
		return nil, err
	}
	own, err := pdf.AppendItem(shared, []byte(widget.String()))
	if err != nil {
		return nil, err
	}
	return pdf.SetKey(source, "Annots", []byte(update.Add(own).String()))
}

// shares reports whether a field that is to be seen would be seen on other pages as well: one
// array can be the annotations of several, though an annotation is only ever on one
// (ISO 32000-2 12.5.2).
func (o Options) shares(file *pdf.File, page *pdf.Page) (bool, error) {
	if o.Visible == nil {
		return false, nil
	}
	array, err := file.Array(page.Dict["Annots"])
	if err != nil || array == nil {
		return false, err
	}
	ref, ok := file.LastReference(page.Dict["Annots"])
	if !ok {
		return false, nil
	}
	shared := false
	_, err = file.FindPage(func(other pdf.Ref, dict pdf.Dict) bool {
		its, ok := file.LastReference(dict["Annots"])
		shared = ok && its == ref && other != page.Ref
		return shared
	})
	if shared || errors.Is(err, pdf.ErrNoPage) {
		return shared, nil
	}
	return false, pdf.IgnoreMalformed(err) // of pages that cannot be reached nobody sees anything
}
