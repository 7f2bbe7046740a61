package pades

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
)

// fillField makes the signature the value of a field that is there already. The value
// goes on the field, never on a widget below it; all that the field and its widgets say
// otherwise stays (ISO 32000-2 12.7.5.5).
func fillField(file *pdf.File, update *pdf.Update, field emptyField, signature pdf.Ref, appearance []byte) error {
	if err := setEntry(update, field.ref, "V", []byte(signature.String())); err != nil {
		return fmt.Errorf("setting the value of field %q: %w", field.name, err)
	}
	for _, w := range field.widgets {
		if err := w.show(update, appearance); err != nil {
			return fmt.Errorf("patching the widget of field %q: %w", field.name, err)
		}
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	form, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return err
	}
	return patchCatalog(file, update, "AcroForm", func(source []byte) ([]byte, error) {
		return noteSignatures(file, source, form)
	})
}

// show gives the widget its appearance, the normal one alone, and the flags that PDF/A
// asks for: it is printed and not hidden (ISO 32000-2 tables 167 and 170, ISO 19005-2
// 6.3). It turns with its page: Acrobat does not show signatures that do not. If there is
// nothing to draw, or no room, what is drawn already stays.
func (w widget) show(update *pdf.Update, appearance []byte) error {
	const invisible, hidden, printed, noRotate, noView = 1, 2, 4, 16, 32
	flags := w.flags&^(invisible|hidden|noRotate|noView) | printed
	if flags != w.flags {
		if err := setEntry(update, w.ref, "F", fmt.Appendf(nil, "%d", flags)); err != nil {
			return err
		}
	}
	if !w.visible() {
		appearance = nil
	}
	if w.drawn && appearance == nil {
		return nil
	}
	form, err := addAppearance(update, w.rotate, w.width, w.height, appearance)
	if err != nil {
		return err
	}
	return setEntry(update, w.ref, "AP", fmt.Appendf(nil, "<< /N %s >>", form))
}
