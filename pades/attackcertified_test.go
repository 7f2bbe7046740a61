package pades_test

import (
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades"
)

// certifiedLater do what looks like what a certification permits (ISO 32000-2 12.8.2.2, 12.8.2.4).
var certifiedLater = []attack{
	{certifying, "evil annotation: text over text, P 3", revised((*scene).annotations, freeText), listed(ades.ChangeAnnotation)},
	{certifying, "evil annotation: text over text, P 2", revised((*scene).formFilling, freeText), changed(ades.ChangeAnnotation)},
	{certifying, "evil annotation: text over text, no certification", grown(freeText), changed(ades.ChangeAnnotation)},
	{certifying, "evil annotation: a stamp over all, P 3", revised((*scene).annotations, rubberStamp), listed(ades.ChangeAnnotation)},
	{certifying, "evil annotation: a stamp over all, P 1", revised((*scene).noChanges, rubberStamp), changed(ades.ChangeAnnotation)},
	{certifying, "sneaky signature: an empty field that is drawn, P 2", revised((*scene).formFilling, func(r *revision) {
		r.addField(r.add(drawnField(r, "Sig", "")))
	}), changed(ades.ChangeFields)},
	{certifying, "sneaky signature: of somebody who is not trusted, drawn, P 2", func(s *scene) []byte {
		return sign(s, s.formFilling(), s.attacker, pades.Options{Visible: at(1, 100, 100)})
	}, unsigned},
	{certifying, "a field of text over text, P 2", revised((*scene).formFilling, func(r *revision) {
		r.addField(r.add(drawnField(r, "Tx", "/V (1)")))
	}), changed(ades.ChangeFields)},
	{certifying, "a button over text, P 3", revised((*scene).annotations, func(r *revision) {
		r.addField(r.add(drawnField(r, "Btn", "/Ff 65536")))
	}), changed(ades.ChangeFields)},
	{certifying, "a form filled in, P 1", revised((*scene).noChanges, fillIn), changed(ades.ChangeForm)},
	{certifying, "a form filled in that is locked", revised((*scene).locked, fillIn), changed(ades.ChangeForm)},
	{certifying, "a field moved, P 2", revised((*scene).formFilling, func(r *revision) { r.set(contractAmount, "Rect", "[300 300 400 320]") }), listedAsForbidden},
	{certifying, "a field hidden, P 2", revised((*scene).formFilling, func(r *revision) { r.set(contractAmount, "F", "2") }), listedAsForbidden},
	{certifying, "a field of another name, P 2", revised((*scene).formFilling, func(r *revision) { r.set(contractAmount, "T", "(Other)") }), listedAsForbidden},
	{certifying, "what is seen of a field is not its value, P 2", revised((*scene).formFilling, func(r *revision) {
		r.replace(contractAmountBox, stream("/Type /XObject /Subtype /Form /BBox [0 0 595 842]", drawing))
	}), changed(ades.ChangeAppearance)},
	{certifying, "a signature that was made looks different", revised((*scene).shown, func(r *revision) {
		r.set(r.lastField(), "AP", "<< /N "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 117 55]", drawing).String()+" >>")
	}), changed(ades.ChangeAppearance)},
	{certifying, "a signature that was made is moved", revised((*scene).shown, func(r *revision) { r.set(r.lastField(), "Rect", "[0 0 500 500]") }), listedAsForbidden},
	{certifying, "certified by a revision", grown(func(r *revision) {
		r.set(catalog, "Perms", "<< /DocMDP "+r.add("<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 3 >> >>] >>").String()+" >>")
	}), changed(ades.ChangeCatalog)},
	{certifying, "the certification removed", revised((*scene).noChanges, func(r *revision) { r.set(catalog, "Perms", "null") }), changed(ades.ChangeCatalog)},
	{certifying, "an annotation after a lax certification by a revision", grown(func(r *revision) {
		r.set(catalog, "Perms", "<< /DocMDP "+r.add("<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 3 >> >>] >>").String()+" >>")
		freeText(r)
	}), changed(ades.ChangeAnnotation)},
	{certifying, "the lock of a field removed, and the field filled in", revised((*scene).locked, func(r *revision) {
		r.set(r.lastField(), "Lock", "null")
		fillIn(r)
	}), changed(ades.ChangeForm)},
}

// lastField is the object of the last field of the form.
func (r *revision) lastField() uint32 {
	r.Helper()
	fields := r.fields()
	return r.reference(fields[len(fields)-1]).Num
}

// freeText puts text over the page.
func freeText(r *revision) {
	box := r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 300 40]", drawing)
	r.appendTo(page, "Annots", r.add(fmt.Sprintf(
		"<< /Type /Annot /Subtype /FreeText /Rect [0 0 300 40] /Contents (1) /DA (/F 12 Tf) /F 4 /P 10 0 R /AP << /N %v >> >>", box)))
}

func rubberStamp(r *revision) {
	box := r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 595 842]", "1 g 0 0 595 842 re f")
	r.appendTo(page, "Annots", r.add(fmt.Sprintf("<< /Type /Annot /Subtype /Stamp /Rect [0 0 595 842] /F 4 /P 10 0 R /AP << /N %v >> >>", box)))
}

// drawnField is a field over the text of the page.
func drawnField(r *revision, kind pdf.Name, entries string) string {
	box := r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 300 40]", drawing)
	return fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /%s /T (New) %s /DA (/F 12 Tf) /Rect [0 0 300 40] /F 4 /P 10 0 R /AP << /N %v >> >>", kind, entries, box)
}

// fillIn fills the form in.
func fillIn(r *revision) {
	r.set(contractAmount, "V", "(1)")
	r.replace(contractAmountBox, stream("/Type /XObject /Subtype /Form /BBox [0 0 100 20] /Resources << /Font << /F 102 0 R >> >>", "BT /F 12 Tf (1) Tj ET"))
}
