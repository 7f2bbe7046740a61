package pades_test

import (
	"fmt"

	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades"
)

// changeTable are the changes of each kind.
var changeTable = [][]changeRow{proofRows, formRows, pageRows, documentRows}

var proofRows = []changeRow{
	{"nothing", func(r *revision) { r.update.Set(pdf.Ref{Num: page}, r.source(page)) }, "", pades.NoChanges},
	{"validation data", func(r *revision) { r.set(catalog, "DSS", "<< /Certs ["+r.addStream("", "x").String()+"] >>") }, "VALIDATION_DATA", pades.NoChanges},
	{"what is no validation data", func(r *revision) { r.set(catalog, "DSS", "<< /Innocent 3 0 R >>") }, "CATALOG", never},
	{"extensions", func(r *revision) { r.set(catalog, "Extensions", "<< /X << >> >>") }, "VALIDATION_DATA", pades.NoChanges},
	{"a later version", func(r *revision) { r.set(catalog, "Version", "/2.0") }, "VALIDATION_DATA", pades.NoChanges},
	{"a document timestamp", func(r *revision) { r.newField(stampField) }, "VALIDATION_DATA", pades.NoChanges},
	{"a document timestamp that is seen", func(r *revision) {
		r.newField("<< /Type /Annot /Subtype /Widget /FT /Sig /T (Old) /V " + timestamp + " /P 10 0 R /Rect [0 0 90 90] >>")
	}, "FORM_FIELDS", never},
	{"a signature", func(r *revision) { r.newField(signedField("(New)")) }, "SIGNATURE", pades.FormFilling},
	{"a signature in the field for it", signs, "SIGNATURE", pades.FormFilling},
	{"a field for a signature", func(r *revision) { r.newField("<< /FT /Sig /T (New) >>") }, "SIGNATURE", pades.FormFilling},
	{"who wrote it last", func(r *revision) { r.set(information, "ModDate", "(D:2026)"); r.replace(saidOf, xmp("This one", 2)) }, "PRODUCER", pades.NoChanges},
	{"another title", func(r *revision) { r.set(information, "Title", "(Another)") }, "METADATA", pades.FormFilling},
	{"another title in the metadata", func(r *revision) { r.replace(saidOf, xmp("Another", 1)) }, "METADATA", pades.FormFilling},
	{"an object that nothing leads to", func(r *revision) { r.addStream("", drawing) }, "HIDDEN", pades.NoChanges},
	{"another object that nothing leads to", func(r *revision) { r.replace(nobodys, "<< >>") }, "HIDDEN", pades.NoChanges},
	{"an object that is not listed", func(r *revision) { r.addStream("", hidden) }, "UNKNOWN", never},
}

var formRows = []changeRow{
	{"a value", func(r *revision) { r.set(textField, "V", "(new)") }, "FORM_FILLING", pades.FormFilling},
	{"a value, drawn in place", func(r *revision) { r.set(textField, "V", "(new)"); r.replace(textDrawn, stream("", drawing)) }, "FORM_FILLING", pades.FormFilling},
	{"a value, drawn anew", func(r *revision) {
		r.set(textField, "V", "(new)")
		r.set(textField, "AP", "<< /N "+r.addStream("", drawing).String()+" >>")
	}, "FORM_FILLING", pades.FormFilling},
	{"a check mark", checked, "FORM_FILLING", pades.FormFilling},
	{"a check mark that is only seen", func(r *revision) { r.set(checkField, "AS", "/Yes") }, "APPEARANCE", never},
	{"what is seen of a field", func(r *revision) { r.replace(textDrawn, stream("", drawing)) }, "APPEARANCE", never},
	{"another appearance of a field", func(r *revision) { r.set(textField, "AP", fmt.Sprintf("<< /N %d 0 R >>", nobodys)) }, "APPEARANCE", never},
	{"where a field is", func(r *revision) { r.set(textField, "Rect", "[0 0 500 500]") }, "APPEARANCE", never},
	{"a value, and where its field is", func(r *revision) { r.set(textField, "V", "(new)"); r.set(textField, "Rect", "[0 0 500 500]") }, "APPEARANCE FORM_FILLING", never},
	{"a hidden field", func(r *revision) { r.set(textField, "F", "2") }, "APPEARANCE", never},
	{"what is seen of the signature", func(r *revision) { r.set(r.ownField(), "AP", fmt.Sprintf("<< /N %d 0 R >>", nobodys)) }, "APPEARANCE", never},
	{"where the signature is", func(r *revision) { r.set(r.ownField(), "Rect", "[0 0 500 500]") }, "APPEARANCE", never},
	{"the signature is another's", func(r *revision) { r.set(emptyField, "V", r.value().String()) }, "FORM_FIELDS", never},
	{"the name of a field", func(r *revision) { r.set(textField, "T", "(Other)") }, "FORM_FIELDS", never},
	{"an action of a field", func(r *revision) { r.set(textField, "AA", "<< >>") }, "FORM_FIELDS", never},
	{"a field of text", func(r *revision) { r.newField("<< /FT /Tx /T (New) >>") }, "FORM_FIELDS", never},
	{"a field of a name that is taken", func(r *revision) { r.newField(signedField("(Empty)")) }, "ANNOTATION FORM_FIELDS", never},
	{"a field that was there", func(r *revision) { r.appendTo(theForm, "Fields", pdf.Ref{Num: annotation}) }, "FORM_FIELDS", never},
	{"a field is gone", func(r *revision) {
		r.set(theForm, "Fields", fmt.Sprintf("[%d 0 R %d 0 R %d 0 R]", checkField, emptyField, r.ownField()))
	}, "FORM_FIELDS", never},
	{"read only", func(r *revision) { r.set(textField, "Ff", "1") }, "FORM_FIELDS", pades.FormFilling},
	{"more than read only", func(r *revision) { r.set(textField, "Ff", "3") }, "FORM_FIELDS", never},
	{"fields are to be drawn", func(r *revision) { r.set(theForm, "NeedAppearances", "true") }, "FORM_FIELDS", never},
	{"a calculation", func(r *revision) { r.set(theForm, "CO", fmt.Sprintf("[%d 0 R]", textField)) }, "FORM_FIELDS", never},
	{"a form in XML", func(r *revision) { r.set(theForm, "XFA", r.addStream("", "<x/>").String()) }, "FORM_FIELDS", never},
	{"another font of the form", func(r *revision) {
		r.set(theForm, "DR", fmt.Sprintf("<< /Font << /F %d 0 R /G %v >> >>", font, r.add("<< >>")))
	}, "SIGNATURE", pades.FormFilling},
	{"the font of the form", func(r *revision) { r.set(theForm, "DR", fmt.Sprintf("<< /Font << /F %v >> >>", r.add("<< >>"))) }, "APPEARANCE", never},
}

var pageRows = []changeRow{
	{"an annotation", func(r *revision) { r.appendTo(page, "Annots", r.add(square)) }, "ANNOTATION", pades.Annotations},
	{"another annotation", func(r *revision) { r.set(annotation, "Rect", "[0 0 500 500]") }, "ANNOTATION", pades.Annotations},
	{"what an annotation draws", func(r *revision) { r.set(annotation, "AP", fmt.Sprintf("<< /N %d 0 R >>", nobodys)) }, "ANNOTATION", pades.Annotations},
	{"an annotation is gone", func(r *revision) {
		r.set(page, "Annots", fmt.Sprintf("[%d 0 R %d 0 R %d 0 R %d 0 R]", textField, checkField, emptyField, r.ownField()))
	}, "ANNOTATION", pades.Annotations},
	{"annotations one above the other", func(r *revision) {
		r.set(page, "Annots", fmt.Sprintf("[%d 0 R %d 0 R %d 0 R %d 0 R %d 0 R]", annotation, checkField, emptyField, textField, r.ownField()))
	}, "ANNOTATION", pades.Annotations},
	{"a field that is seen no more", func(r *revision) {
		r.set(page, "Annots", fmt.Sprintf("[%d 0 R %d 0 R %d 0 R %d 0 R]", checkField, emptyField, annotation, r.ownField()))
	}, "APPEARANCE", never},
	{"the content of a page", func(r *revision) { r.replace(content, stream("", drawing)) }, "PAGE_CONTENT", never},
	{"other content that was hidden", func(r *revision) { r.set(page, "Contents", fmt.Sprintf("%d 0 R", nobodys)) }, "PAGE_CONTENT", never},
	{"more content", func(r *revision) { r.set(page, "Contents", fmt.Sprintf("[3 0 R %v]", r.addStream("", drawing))) }, "PAGE_CONTENT", never},
	{"the font of a page", func(r *revision) { r.set(font, "BaseFont", "/Courier") }, "APPEARANCE PAGE_CONTENT", never},
	{"a resource of a page", func(r *revision) { r.set(page, "Resources", "<< >>") }, "PAGE_CONTENT", never},
	{"the size of a page", func(r *revision) { r.set(page, "MediaBox", "[0 0 100 100]") }, "PAGE_CONTENT", never},
	{"the size of all", func(r *revision) { r.set(2, "MediaBox", "[0 0 100 100]") }, "PAGE_CONTENT", never},
	{"the size of all in other words", func(r *revision) { r.set(2, "MediaBox", "[0.0 0 595.0 842]") }, "", pades.NoChanges},
	{"the turn of a page", func(r *revision) { r.set(page, "Rotate", "90") }, "PAGE_CONTENT", never},
	{"more pages in all", func(r *revision) { r.set(2, "Kids", fmt.Sprintf("[10 0 R %v]", r.add(anotherPage))) }, "PAGES", never},
	{"a page is another", func(r *revision) { r.set(2, "Kids", fmt.Sprintf("[%v]", r.add(anotherPage))) }, "PAGES", never},
	{"the order of tabs", func(r *revision) { r.set(page, "Tabs", "/R") }, "STRUCTURE", never},
}

var documentRows = []changeRow{
	{"an action", func(r *revision) { r.set(catalog, "OpenAction", "[10 0 R /FitH 0]") }, "CATALOG", never},
	{"names", func(r *revision) { r.set(names, "JavaScript", "<< >>") }, "CATALOG", never},
	{"layers", func(r *revision) { r.set(layers, "D", "<< /BaseState /OFF >>") }, "CATALOG", never},
	{"permissions", func(r *revision) { r.set(catalog, "Perms", "<< >>") }, "CATALOG", never},
	{"a version that is none", func(r *revision) { r.set(catalog, "Version", "/Old") }, "VALIDATION_DATA", pades.NoChanges},
	{"structure", func(r *revision) { r.set(tree, "RoleMap", "<< /A /B >>") }, "STRUCTURE", never},
	{"another catalog", func(r *revision) { r.rewrite(`/Root 1 0 R`, "/Root "+r.add(string(r.source(catalog))).String()) }, "CATALOG", never},
	{"what cannot be read", func(r *revision) { r.replace(content, "<< /Broken") }, "UNKNOWN", never},
}

func signedField(name string) string {
	return "<< /Type /Annot /Subtype /Widget /FT /Sig /T " + name + " /V << /Type /Sig /SubFilter /ETSI.CAdES.detached >> /P 10 0 R /Rect [10 10 90 90] >>"
}

// newField adds a field to the form and the page.
func (r *revision) newField(source string) {
	r.Helper()
	field := r.add(source)
	r.appendTo(theForm, "Fields", field)
	r.appendTo(page, "Annots", field)
}

// ownField is the field of the signature, and value its signature.
func (r *revision) ownField() uint32 {
	fields := r.fields()
	return r.reference(fields[len(fields)-1]).Num
}

func (r *revision) value() pdf.Ref {
	r.Helper()
	field, err := r.file.Dict(pdf.Ref{Num: r.ownField()})
	if err != nil {
		r.Fatal(err)
	}
	return r.reference(field["V"])
}

func (r *revision) source(num uint32) []byte {
	r.Helper()
	source, err := r.update.Source(pdf.Ref{Num: num})
	if err != nil {
		r.Fatal(err)
	}
	return source
}
