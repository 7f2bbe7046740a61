package pades_test

import (
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

const wholePage = "/Type /XObject /Subtype /Form /BBox [0 0 595 842]"

// addedFields are fields that look as if they were for a signature, and are for something else.
var addedFields = []attack{
	{certifying, "an empty field that is a text over text", added("/Subtype /FreeText /Contents (1) /DA (/F 40 Tf) /F 4 /P 10 0 R /Rect [0 0 300 40]"), changed(ades.ChangeFields)},
	{certifying, "an empty field that is a square over text", added("/Subtype /Square /IC [1 0 0] /C [1 0 0] /F 4 /P 10 0 R /Rect [0 0 300 40]"), changed(ades.ChangeFields)},
	{certifying, "an empty field with a background", added("/Subtype /Widget /MK << /BG [1 0 0] /CA (1) >> /F 4 /P 10 0 R /Rect [0 0 300 40]"), changed(ades.ChangeFields)},
	{certifying, "an empty field with an area", added("/Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 300 40]"), changed(ades.ChangeFields)},
	{certifying, "an empty field with a script", added("/Subtype /Widget /P 10 0 R /Rect [0 0 0 0] /AA << /PO << /S /JavaScript /JS (app.beep\\(\\)) >> >>"), changed(ades.ChangeFields)},
	{certifying, "an empty field with a script below it", grown(func(r *revision) {
		kid := r.add("<< /Type /Annot /Subtype /Widget /P 10 0 R /Rect [0 0 0 0] /AA << /PO << /S /JavaScript /JS (app.beep\\(\\)) >> >> >>")
		r.setForm("Fields", r.fieldsWith(r.add(fmt.Sprintf("<< /FT /Sig /T (New) /Kids [%v] >>", kid))))
		r.appendTo(page, "Annots", kid)
	}), changed(ades.ChangeFields)},
	{certifying, "a timestamp with a script, P 1", revised((*scene).noChanges, func(r *revision) {
		r.addField(r.add("<< /FT /Sig /T (New) /V " + timestamp + " /Type /Annot /Subtype /Widget /P 10 0 R /Rect [0 0 0 0] /AA << /PO << /S /JavaScript /JS (app.beep\\(\\)) >> >> >>"))
	}), changed(ades.ChangeFields)},
	{certifying, "a timestamp that is none, drawn over the page", grown(func(r *revision) {
		r.addField(r.add("<< /FT /Sig /T (New) /V " + timestamp + " /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 595 842] " + overAll(r) + " >>"))
	}), changed(ades.ChangeFields)},
	{certifying, "a timestamp that is none in the empty field, drawn over the page", revised((*scene).form, func(r *revision) {
		r.set(formEmpty, "V", r.add(timestamp).String())
		r.set(formEmpty, "AP", "<< /N "+r.addStream(wholePage, drawing).String()+" >>")
	}), changed(ades.ChangeFields)},
	{certifying, "a field whose parent says that it is signed, drawn over the page", revised((*scene).form, func(r *revision) {
		r.addField(r.add(fmt.Sprintf("<< /Parent %d 0 R /T (New) /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 595 842] %s >>", formNobodys, overAll(r))))
	}), changed(ades.ChangeFields)},
	{certifying, "two fields of one name, of which one is signed", grown(func(r *revision) {
		r.addField(r.add("<< /FT /Sig /T (New) /V << /Type /Sig /SubFilter /ETSI.CAdES.detached >> /Type /Annot /Subtype /Widget /P 10 0 R /Rect [0 0 0 0] >>"))
		other := r.add("<< /FT /Sig /T (New) /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 595 842] " + overAll(r) + " >>")
		r.setForm("Fields", r.fieldsWith(other))
		r.appendTo(page, "Annots", other)
	}), listedAsForbidden},
}

func overAll(r *revision) string {
	return "/AP << /N " + r.addStream(wholePage, drawing).String() + " >>"
}

// added is the signed contract with another field for a signature.
func added(entries string) func(*scene) []byte {
	return grown(func(r *revision) { r.addField(r.add("<< /FT /Sig /T (New) /Type /Annot " + entries + " >>")) })
}

// Objects of the form.
const (
	formText = 100 + iota
	formOther
	formShared // value of both
	formButton
	formButtonBox
	formReadOnly
	formLocking
	formLong // a field of a long name
	formEmpty
	formNobodys // nothing leads to it: a signature field
	formInherits
	formInherited
)

var longName = strings.Repeat("long", 1250)

// formOptions is a form whose fields are drawn by whoever shows it.
func formOptions(lock string) pdftest.Options {
	widget := func(entries string) string {
		return "<< /Type /Annot /Subtype /Widget /P 10 0 R /F 4 /Rect [100 100 300 130] /DA (/F 12 Tf) " + entries + " >>"
	}
	return pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R 101 0 R 103 0 R 105 0 R 106 0 R 107 0 R 108 0 R 110 0 R] /NeedAppearances true /DA (/F 12 Tf) /DR << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
		Page:    "/Annots [100 0 R 103 0 R 105 0 R 107 0 R 108 0 R 111 0 R]",
		Objects: []string{
			widget("/FT /Tx /T (Amount) /V 102 0 R"), "<< /FT /Tx /T (Other) /V 102 0 R >>", "(1)",
			widget("/FT /Btn /Ff 65536 /T (Logo) /AP << /N 104 0 R >>"), stream(wholePage, ""),
			widget("/FT /Tx /Ff 1 /T (Constant) /V (1)"), "<< /FT /Sig /T (Lock) " + lock + " >>",
			widget("/FT /Tx /T (" + longName + ") /V (1)"), widget("/FT /Sig /T (Empty)"),
			"<< /FT /Sig /V << /Type /Sig >> >>",
			"<< /FT /Tx /Ff 4096 /T (Lines) /V (1) /Kids [111 0 R] >>", "<< /Type /Annot /Subtype /Widget /Parent 110 0 R /P 10 0 R /F 4 /Rect [10 10 90 30] /DA (/F 12 Tf) >>",
		},
	}
}

// form is the form, signed, and lockedForm with a lock.
func (s *scene) form() []byte { return s.lockedForm("") }

func (s *scene) lockedForm(lock string) []byte {
	return s.once("form "+lock, func() []byte {
		if lock != "" {
			lock = "/Lock << /Type /SigFieldLock " + lock + " >>"
		}
		return sign(s, pdftest.Build(formOptions(lock)), s.signer, pades.Options{Field: "Lock"})
	})
}

func withLock(lock string) func(*scene) []byte {
	return func(s *scene) []byte { return s.lockedForm(lock) }
}

// falselyFilledIn is what a form is not filled in with.
var falselyFilledIn = []attack{
	{certifying, "the value of two fields, all of which are locked", revised(withLock("/Action /All"), func(r *revision) { r.replace(formShared, "(1000000)") }), changed(ades.ChangeForm)},
	{certifying, "the value of two fields, one of which is locked", revised(withLock("/Action /Include /Fields [(Other)]"), func(r *revision) { r.replace(formShared, "(1000000)") }), changed(ades.ChangeForm)},
	{certifying, "a field of a long name that is locked", revised(withLock("/Action /Include /Fields [("+longName+")]"), func(r *revision) { r.set(formLong, "V", "(2)") }), changed(ades.ChangeForm)},
	{certifying, "appearances to be made, by reference", grown(func(r *revision) { r.setForm("NeedAppearances", r.add("true").String()) }), changed(ades.ChangeFields)},
	{certifying, "appearances to be made, by a reference that leads nowhere yet", grown(func(r *revision) { r.setForm("NeedAppearances", r.add("(true)").String()) }), changed(ades.ChangeFields)},
	{certifying, "a button filled in", revised((*scene).form, func(r *revision) {
		r.set(formButton, "V", "(1)")
		r.set(formButton, "AP", "<< /N "+r.addStream(wholePage, drawing).String()+" >>")
	}), listedAsForbidden},
	{certifying, "a button filled in, drawn in its place", revised((*scene).form, func(r *revision) {
		r.set(formButton, "V", "(1)")
		r.replace(formButtonBox, stream(wholePage, drawing))
	}), changed(ades.ChangeAppearance)},
	{certifying, "a field filled in that is read-only", revised((*scene).form, func(r *revision) { r.set(formReadOnly, "V", "(2)") }), listedAsForbidden},
	{certifying, "a field made read-only, P 1", revised((*scene).noChanges, func(r *revision) { r.set(contractAmount, "Ff", "1") }), changed(ades.ChangeFields)},
	{certifying, "a widget made read-only of one line instead of many", revised((*scene).form, func(r *revision) { r.set(formInherited, "Ff", "1") }), changed(ades.ChangeFields)},
}
