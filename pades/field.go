package pades

import (
	"errors"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades/internal/form"
)

// ErrField: the document has no empty signature field of the requested name.
var ErrField = errors.New("pades: no such empty signature field")

// maxWidgets bounds the widgets of the field to sign: each gets the appearance.
const maxWidgets = 32

// emptyField is the field to sign, with the lock and the seed value that its author gave it (ISO
// 32000-2 tables 235 to 237).
type emptyField struct {
	name    string
	ref     pdf.Ref
	widgets []widget
	lock    pdf.Dict
	seed    pdf.Dict
}

// widget is the annotation that shows a field on a page. The widget and its field are usually one
// dictionary if the field has no other widget (ISO 32000-2 12.5.6.19).
type widget struct {
	ref           pdf.Ref
	flags         int64      // F
	width, height float64    // 0 for an invisible widget
	page          pdf.Object // P, the page that the widget names
	rotate        int        // rotation of its page in degrees
	hasAppearance bool       // it has a normal appearance
}

// selectField returns the empty signature field among the nodes that the form has under a name.
func selectField(file *pdf.File, name string, found []form.Node) (emptyField, error) {
	i := slices.IndexFunc(found, func(n form.Node) bool { return n.IsField })
	if i < 0 {
		return emptyField{}, fmt.Errorf("%w: the form has no field %q", ErrField, name)
	}
	if err := checkEmpty(file, name, found); err != nil {
		return emptyField{}, err
	}
	field := emptyField{name: name}
	var err error
	if field.ref, err = objectOf(file, found[i]); err != nil {
		return field, err
	}
	if field.lock, err = file.Dict(found[i].Dict["Lock"]); err != nil {
		return field, fmt.Errorf("reading the lock of field %q: %w", name, err)
	}
	if field.seed, err = file.Dict(found[i].Dict["SV"]); err != nil {
		return field, fmt.Errorf("reading the seed value of field %q: %w", name, err)
	}
	field.widgets, err = widgetsOf(file, found)
	return field, err
}

// checkEmpty refuses a field that cannot take a signature. The value of a field may be inherited.
// Several fields may have one name and then share one value (ISO 32000-2 12.7.4.2), but a signature
// belongs to one field.
func checkEmpty(file *pdf.File, name string, found []form.Node) error {
	fields := 0
	for _, n := range found {
		if n.IsField {
			fields++
		}
		if n.Type != "Sig" {
			return fmt.Errorf("%w: the field %q is not a signature field", ErrField, name)
		}
		if value, err := file.Resolve(n.Value); err != nil || value != nil {
			return fmt.Errorf("%w: the field %q is signed already", ErrField, name)
		}
		if n.IsField && hasNamedKids(file, n.Dict) {
			return fmt.Errorf("%w: %q is the parent of other fields", ErrField, name)
		}
	}
	if fields > 1 {
		return fmt.Errorf("%w: there are several fields %q", ErrField, name)
	}
	return nil
}

// hasNamedKids reports whether a kid of the field is a field itself, and not only a widget.
func hasNamedKids(file *pdf.File, field pdf.Dict) bool {
	kids, err := file.Array(field["Kids"])
	return err == nil && slices.ContainsFunc(kids, func(o pdf.Object) bool {
		kid, err := file.Dict(o)
		return err == nil && kid["T"] != nil
	})
}

// objectOf returns the indirect object that a field or a widget is. A field that is a direct
// object, which ISO 32000-2 tables 224 and 226 exclude, cannot be signed.
func objectOf(file *pdf.File, n form.Node) (pdf.Ref, error) {
	ref, ok := file.LastReference(n.Object)
	if !ok || n.Direct {
		return ref, fmt.Errorf("%w: the field %q or its widget is not an indirect object", ErrField, n.Name)
	}
	return ref, nil
}

// widgetsOf returns the nodes that are widgets.
func widgetsOf(file *pdf.File, found []form.Node) ([]widget, error) {
	var widgets []widget
	for _, n := range found {
		if n.Dict["Rect"] == nil && n.Dict["Subtype"] != pdf.Name("Widget") {
			continue
		}
		if len(widgets) == maxWidgets {
			return nil, fmt.Errorf("%w: more than %d widgets of field %q", pdf.ErrLimit, maxWidgets, n.Name)
		}
		w, err := newWidget(file, n)
		if err != nil {
			return nil, fmt.Errorf("reading the widget of field %q: %w", n.Name, err)
		}
		widgets = append(widgets, w)
	}
	return widgets, nil
}

func newWidget(file *pdf.File, n form.Node) (w widget, err error) {
	if w.ref, err = objectOf(file, n); err != nil {
		return w, err
	}
	if w.flags, err = file.Int(n.Dict["F"]); err != nil {
		return w, err
	}
	rect, err := file.Rect(n.Dict["Rect"])
	if err != nil {
		return w, err
	}
	w.width, w.height, w.page = rect.URX-rect.LLX, rect.URY-rect.LLY, n.Dict["P"]
	w.hasAppearance, err = hasAppearance(file, n.Dict)
	return w, err
}

func hasAppearance(file *pdf.File, widget pdf.Dict) (bool, error) {
	appearance, err := file.Dict(widget["AP"])
	if err != nil {
		return false, err
	}
	normal, err := file.Resolve(appearance["N"])
	return normal != nil, err
}

// readRotations reads the rotation of the page of each visible widget.
func (f *emptyField) readRotations(file *pdf.File) (err error) {
	for i := range f.widgets {
		if w := &f.widgets[i]; w.visible() {
			if w.rotate, err = rotation(file, w.page, w.ref); err != nil {
				return fmt.Errorf("finding the page of field %q: %w", f.name, err)
			}
		}
	}
	return nil
}

func (w widget) visible() bool { return w.width > 0 && w.height > 0 }

// rotation returns the rotation of the page that a widget names, or else of the page that lists the
// widget.
func rotation(file *pdf.File, stated pdf.Object, widget pdf.Ref) (int, error) {
	page, err := file.FindPage(func(ref pdf.Ref, _ pdf.Dict) bool { return ref == stated })
	if errors.Is(err, pdf.ErrNoPage) {
		page, err = file.FindPage(func(_ pdf.Ref, page pdf.Dict) bool { return hasAnnotation(file, page, widget) })
	}
	switch {
	case errors.Is(err, pdf.ErrNoPage):
		return 0, nil // the widget is on no page
	case err != nil:
		return 0, err
	}
	return page.Rotate, nil
}

// hasAnnotation reports whether a page lists an annotation.
func hasAnnotation(file *pdf.File, page pdf.Dict, annotation pdf.Ref) bool {
	annotations, err := file.Array(page["Annots"])
	return err == nil && slices.Contains(annotations, pdf.Object(annotation))
}

// fillField makes the signature the value of an existing field. It sets the value on the field,
// never on a widget below it. All other entries of the field and its widgets stay (ISO 32000-2
// 12.7.5.5).
func fillField(file *pdf.File, update *pdf.Update, field emptyField, signature pdf.Ref, appearance []byte) error {
	if err := setEntry(update, field.ref, "V", []byte(signature.String())); err != nil {
		return fmt.Errorf("setting the value of field %q: %w", field.name, err)
	}
	for _, w := range field.widgets {
		if err := w.setAppearance(update, appearance); err != nil {
			return fmt.Errorf("patching the widget of field %q: %w", field.name, err)
		}
	}
	_, catalog, err := file.Catalog()
	if err != nil {
		return err
	}
	acroForm, err := file.Dict(catalog["AcroForm"])
	if err != nil {
		return err
	}
	return patchCatalog(file, update, "AcroForm", func(source []byte) ([]byte, error) {
		return setSigFlags(file, source, acroForm)
	})
}

// setAppearance sets the appearance of the widget, with a normal appearance alone, and the flags
// that PDF/A requires: the widget is printed and not hidden (ISO 32000-2 tables 167 and 170, ISO
// 19005-2 6.3). It clears NoRotate, because Acrobat does not show a signature with that flag. An
// existing appearance stays if there is nothing to draw or the widget has no area.
func (w widget) setAppearance(update *pdf.Update, appearance []byte) error {
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
	if w.hasAppearance && appearance == nil {
		return nil
	}
	appearanceForm, err := addAppearance(update, w.rotate, w.width, w.height, appearance)
	if err != nil {
		return err
	}
	return setEntry(update, w.ref, "AP", fmt.Appendf(nil, "<< /N %s >>", appearanceForm))
}

// setSigFlags sets in the source of a form the flags SignaturesExist and AppendOnly (ISO 32000-2
// table 225). It returns nil when they are set already.
func setSigFlags(file *pdf.File, source []byte, form pdf.Dict) ([]byte, error) {
	flags, err := file.Int(form["SigFlags"])
	if err != nil {
		flags = 0 // an unreadable value sets no flag
	}
	const signaturesExist, appendOnly = 1, 2
	if flags&signaturesExist != 0 && flags&appendOnly != 0 {
		return nil, nil
	}
	return pdf.SetKey(source, "SigFlags", fmt.Appendf(nil, "%d", flags|signaturesExist|appendOnly))
}
