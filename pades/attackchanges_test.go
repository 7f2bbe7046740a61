package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// Verdicts on changes that certifications with P 1, 2 and 3 permit or not (ISO 32000-2 table 257).
const (
	formFilling    = "reports FORM_FILLING | lists FORM_FILLING | lists FORM_FILLING"
	newSignature   = "reports SIGNATURE | lists SIGNATURE | lists SIGNATURE"
	metadataOfFile = "reports METADATA | lists METADATA | lists METADATA"
	annotations    = "reports ANNOTATION | reports ANNOTATION | lists ANNOTATION"
	validationData = "passes: lists VALIDATION_DATA"
)

// documentChanges are of validation data, metadata and the catalog, and bytes that are appended without an update.
var documentChanges = []attack{
	{incrementalSaving, "page written again", formDocument, func(r *revision) { r.replace(page, r.source(page)) }, "passes: B"},
	{incrementalSaving, "validation data", formDocument, setKey(catalog, "DSS", "<< /Certs [%v] >>", stream("", "x")), validationData},
	{incrementalSaving, "store with another entry", formDocument, setKey(catalog, "DSS", "<< /Innocent 3 0 R >>"), "reports CATALOG"},
	{incrementalSaving, "developer extension", formDocument, setKey(catalog, "Extensions", "<< /X << >> >>"), validationData},
	{incrementalSaving, "higher version", formDocument, setKey(catalog, "Version", "/2.0"), validationData},
	{incrementalSaving, "version that is no number", formDocument, setKey(catalog, "Version", "/Old"), validationData},
	{incrementalSaving, "producer and date of the last writer", formDocument, edits(
		setKey(information, "ModDate", "(D:2026)"), replaceObject(metadataStream, xmp("This one", 2))), "passes: lists PRODUCER"},
	{incrementalSaving, "title in the document information dictionary", formDocument, setKey(information, "Title", "(Another)"), metadataOfFile},
	{incrementalSaving, "title in the metadata stream", formDocument, replaceObject(metadataStream, xmp("Another", 1)), metadataOfFile},
	{incrementalSaving, "new unreferenced object", formDocument, addObject(otherContent), "passes: lists HIDDEN"},
	{incrementalSaving, "unreferenced object replaced", formDocument, replaceObject(unreferenced, "<< >>"), "passes: lists HIDDEN"},
	{incrementalSaving, "object in a stream, which a rebuilt cross-reference would list", formDocument, addObject(stream("", hidden)), "reports UNKNOWN, lists HIDDEN"},
	{incrementalSaving, "open action", formDocument, setKey(catalog, "OpenAction", "[10 0 R /FitH 0]"), "reports CATALOG"},
	{incrementalSaving, "JavaScript in the name dictionary", formDocument, setKey(names, "JavaScript", "<< >>"), "reports CATALOG"},
	{incrementalSaving, "optional content", formDocument, setKey(optionalContent, "D", "<< /BaseState /OFF >>"), "reports CATALOG"},
	{incrementalSaving, "permissions", formDocument, setKey(catalog, "Perms", "<< >>"), "reports CATALOG"},
	{incrementalSaving, "logical structure", formDocument, setKey(structureTree, "RoleMap", "<< /A /B >>"), "reports STRUCTURE"},
	{incrementalSaving, "another object as the catalog", formDocument, replaceCatalog, "reports CATALOG"},
	{incrementalSaving, "unreadable content of a page", formDocument, replaceObject(content, "<< /Broken"), "reports UNKNOWN"},
	{incrementalSaving, "objects without a cross-reference", signedContract, appendBytes(hidden), "reports UNKNOWN"},
	{incrementalSaving, "objects and a trailer without a cross-reference", signedContract,
		appendBytes(hidden + "trailer\n<< /Size 200 /Root 1 0 R >>\n%%EOF\n"), "reports UNKNOWN"},
	{incrementalSaving, "startxref with a wrong offset", signedContract, appendBytes(hidden + "startxref\n7\n%%EOF\n"), formatFailure},
	{incrementalSaving, "cross-reference without Prev", signedContract, edits(replaceObject(content, otherContent), rewriteEnd(`/Prev \d+`, "")), "unreadable"},
	{incrementalSaving, "comment", signedContract, appendBytes("% unsigned\n"), "unsigned bytes follow"},
	{incrementalSaving, "white space", signedContract, appendBytes("\n\n\n\n"), "unsigned bytes follow"},
	{incrementalSaving, "another document appended", signedContract, asBytes(func(b []byte) []byte {
		return append(b, pdftest.Build(pdftest.Options{})...)
	}), "unreadable"},
	{incrementalSaving, "another document before it", signedContract, asBytes(func(b []byte) []byte {
		return append(pdftest.Build(pdftest.Options{}), b...)
	}), formatFailure},
}

func replaceCatalog(r *revision) {
	rewriteEnd(`/Root 1 0 R`, "/Root "+r.add(r.source(catalog)).String())(r)
}

// formChanges fill in, add, move or remove fields.
var formChanges = []attack{
	{certification, "document timestamp, forged", formDocument, addField(stampField), validationData},
	{certification, "visible document timestamp, forged", formDocument, addField("<< /Type /Annot /Subtype /Widget /FT /Sig /T (Old) /V " + timestamp + " /P 10 0 R /Rect [0 0 90 90] >>"), "reports FORM_FIELDS"},
	{certification, "new signature field with a signature", formDocument, addField(signedField("(New)")), "TOTAL_FAILED FORMAT_FAILURE; reports SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; lists SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; lists SIGNATURE"},
	{certification, "signature in the empty field", formDocument, signEmptyField, "TOTAL_FAILED FORMAT_FAILURE; reports SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; lists SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; lists SIGNATURE"},
	{certification, "new empty signature field", formDocument, addField("<< /FT /Sig /T (New) >>"), newSignature},
	{certification, "sneaky signature: empty signature field with an appearance", formDocument, addField(drawnField("Sig", ""), drawnText), "reports FORM_FIELDS"},
	{certification, "sneaky signature: visible signature of the attacker", certifiedContract(pades.FormFilling), func(r *revision) {
		r.result = sign(r, r.base, r.attacker, pades.Options{Visible: at(1, 100, 100)})
	}, "lists SIGNATURE; INDETERMINATE NO_CERTIFICATE_CHAIN_FOUND"},
	{certification, "value", formDocument, setKey(textField, "V", "(new)"), formFilling},
	{certification, "value, with its appearance replaced", formDocument, edits(setKey(textField, "V", "(new)"), replaceObject(textAppearance, otherContent)), formFilling},
	{certification, "value, with a new appearance", formDocument, edits(setKey(textField, "V", "(new)"), setKey(textField, "AP", "<< /N %v >>", otherContent)), formFilling},
	{certification, "check mark", formDocument, fillCheckBox, formFilling},
	{certification, "check mark without a value", formDocument, setKey(checkBox, "AS", "/Yes"), "reports APPEARANCE"},
	{certification, "appearance of a field replaced", formDocument, replaceObject(textAppearance, otherContent), "reports APPEARANCE"},
	{certification, "another appearance of a field", formDocument, setKey(textField, "AP", "<< /N 108 0 R >>"), "reports APPEARANCE"},
	{certification, "position of a field", formDocument, setKey(textField, "Rect", "[0 0 500 500]"), "reports APPEARANCE"},
	{certification, "value, and position of its field", formDocument, edits(setKey(textField, "V", "(new)"), setKey(textField, "Rect", "[0 0 500 500]")),
		"reports APPEARANCE, FORM_FILLING | reports APPEARANCE, lists FORM_FILLING | reports APPEARANCE, lists FORM_FILLING"},
	{certification, "hidden field", formDocument, setKey(textField, "F", "2"), "reports APPEARANCE"},
	{certification, "appearance of the signature", formDocument, setKey(lastField, "AP", "<< /N 108 0 R >>"), "reports APPEARANCE"},
	{certification, "appearance of a visible signature", visibleSignature, setKey(lastField, "AP", "<< /N %v >>", xobject("0 0 117 55", drawing)), "reports APPEARANCE"},
	{certification, "position of the signature", formDocument, setKey(lastField, "Rect", "[0 0 500 500]"), "reports APPEARANCE"},
	{certification, "signature of another field", formDocument, func(r *revision) { r.set(emptyField, "V", fmt.Sprint(r.fieldValue())) }, "TOTAL_FAILED FORMAT_FAILURE; reports FORM_FIELDS"},
	{certification, "name of a field", formDocument, setKey(textField, "T", "(Other)"), "reports FORM_FIELDS"},
	{certification, "action of a field", formDocument, setKey(textField, "AA", "<< >>"), "reports FORM_FIELDS"},
	{certification, "new text field", formDocument, addField("<< /FT /Tx /T (New) >>"), "reports FORM_FIELDS"},
	{certification, "new field with the name of another", formDocument, addField(signedField("(Empty)")), "TOTAL_FAILED FORMAT_FAILURE; reports ANNOTATION, FORM_FIELDS | TOTAL_FAILED FORMAT_FAILURE; reports ANNOTATION, FORM_FIELDS | TOTAL_FAILED FORMAT_FAILURE; reports FORM_FIELDS, lists ANNOTATION"},
	{certification, "two new fields of one name, one of them signed", formDocument, edits(
		addField(signedField("(New)")), addField(drawnField("Sig", ""), drawnText)), "TOTAL_FAILED FORMAT_FAILURE; reports ANNOTATION, FORM_FIELDS, SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; reports ANNOTATION, FORM_FIELDS, lists SIGNATURE | TOTAL_FAILED FORMAT_FAILURE; reports FORM_FIELDS, lists ANNOTATION, SIGNATURE"},
	{certification, "annotation as a field", formDocument, appendItem(theForm, "Fields", "105 0 R"), "reports FORM_FIELDS"},
	{certification, "field removed", formDocument, func(r *revision) {
		r.set(theForm, "Fields", fmt.Sprintf("[102 0 R 104 0 R %d 0 R]", r.number(lastField)))
	}, "reports FORM_FIELDS"},
	{certification, "field of the signature removed", signedContract, setFormKey("Fields", "[103 0 R]"), "no signature"},
	{certification, "field made read-only", formDocument, setKey(textField, "Ff", "1"), "reports FORM_FIELDS | lists FORM_FIELDS | lists FORM_FIELDS"},
	{certification, "field made read-only and required", formDocument, setKey(textField, "Ff", "3"), "reports FORM_FIELDS"},
	{certification, "NeedAppearances", formDocument, setKey(theForm, "NeedAppearances", "true"), "reports FORM_FIELDS"},
	{certification, "NeedAppearances by reference", formDocument, setKey(theForm, "NeedAppearances", "%v", "true"), "reports FORM_FIELDS"},
	{certification, "NeedAppearances that is no boolean", formDocument, setKey(theForm, "NeedAppearances", "%v", "(true)"), "reports FORM_FIELDS"},
	{certification, "calculation order", formDocument, setKey(theForm, "CO", "[100 0 R]"), "reports FORM_FIELDS"},
	{certification, "XFA form", formDocument, setKey(theForm, "XFA", "%v", stream("", "<x/>")), "reports FORM_FIELDS"},
	{certification, "new font of the form", formDocument, setKey(theForm, "DR", "<< /Font << /F 109 0 R /G %v >> >>", "<< >>"), newSignature},
	{certification, "font of the form replaced", formDocument, setKey(theForm, "DR", "<< /Font << /F %v >> >>", "<< >>"), "reports APPEARANCE"},
	{certification, "lock removed, and the locked field filled in", lockedContract, edits(
		setKey(lastField, "Lock", "null"), setKey(contractAmount, "V", "(1)")), "reports FORM_FIELDS, FORM_FILLING"},
	{certification, "annotation after a lax certification in an update", signedContract, edits(
		setKey(catalog, "Perms", "<< /DocMDP %v >>", "<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P 3 >> >>] >>"),
		appendItem(page, "Annots", square)), "reports ANNOTATION, CATALOG"},
}

// pageChanges are of pages and annotations.
var pageChanges = []attack{
	{certification, "evil annotation: free text over the page", formDocument, func(r *revision) {
		appendItem(page, "Annots", r.format("<< /Type /Annot /Subtype /FreeText /Rect [0 0 300 40] /Contents (1) /DA (/F 12 Tf) /F 4 /P 10 0 R /AP << /N %v >> >>", []string{drawnText}))(r)
	}, annotations},
	{certification, "position of an annotation", formDocument, setKey(annotation, "Rect", "[0 0 500 500]"), annotations},
	{certification, "appearance of an annotation", formDocument, setKey(annotation, "AP", "<< /N 108 0 R >>"), annotations},
	{certification, "annotation removed", formDocument, setAnnotations("100 0 R 102 0 R 104 0 R"), annotations},
	{certification, "annotations in another order", formDocument, setAnnotations("105 0 R 102 0 R 104 0 R 100 0 R"), annotations},
	{certification, "field removed from its page", formDocument, setAnnotations("102 0 R 104 0 R 105 0 R"), "reports APPEARANCE"},
	{incrementalSaving, "content of a page replaced", formDocument, replaceObject(content, otherContent), "reports PAGE_CONTENT"},
	{incrementalSaving, "second content of a page", formDocument, setKey(page, "Contents", "[3 0 R %v]", otherContent), "reports PAGE_CONTENT"},
	{incrementalSaving, "size of a page", formDocument, setKey(page, "MediaBox", "[0 0 100 100]"), "reports PAGE_CONTENT"},
	{incrementalSaving, "size of all pages", formDocument, setKey(2, "MediaBox", "[0 0 100 100]"), "reports PAGE_CONTENT"},
	{incrementalSaving, "size of all pages as real numbers", formDocument, setKey(2, "MediaBox", "[0.0 0 595.0 842]"), "passes: B"},
	{incrementalSaving, "font of a page and the form", formDocument, setKey(font, "BaseFont", "/Courier"), "reports APPEARANCE, PAGE_CONTENT"},
	{incrementalSaving, "page added", formDocument, setKey(2, "Kids", "[10 0 R %v]", anotherPage), "INDETERMINATE FORMAT_FAILURE, reports PAGES"},
	{incrementalSaving, "page removed", signedContract, setKey(2, "Kids", "[10 0 R]"), "INDETERMINATE FORMAT_FAILURE, reports PAGES"},
	{incrementalSaving, "page replaced", formDocument, setKey(2, "Kids", "[%v]", anotherPage), "reports PAGES"},
	{incrementalSaving, "pages in another order", signedContract, setKey(2, "Kids", "[11 0 R 10 0 R]"), "reports PAGES"},
	{incrementalSaving, "tab order", formDocument, setKey(page, "Tabs", "/R"), "reports STRUCTURE"},
}

// setAnnotations sets the annotations of the first page, before that of the signature.
func setAnnotations(others string) edit {
	return func(r *revision) { r.set(page, "Annots", fmt.Sprintf("[%s %d 0 R]", others, r.number(lastField))) }
}

func fillCheckBox(r *revision) {
	edits(setKey(checkBox, "V", "/Yes"), setKey(checkBox, "AS", "/Yes"))(r)
}

func signEmptyField(r *revision) {
	edits(
		setKey(emptyField, "V", "%v", "<< /Type /Sig /Filter /Adobe.PPKLite /SubFilter /ETSI.CAdES.detached /Contents <00> /ByteRange [0 0 0 0] >>"),
		setKey(emptyField, "AP", "<< /N %v >>", xobject("0 0 90 90", drawing)),
	)(r)
}

func signedField(name string) string {
	return "<< /Type /Annot /Subtype /Widget /FT /Sig /T " + name + " /V << /Type /Sig /SubFilter /ETSI.CAdES.detached >> /P 10 0 R /Rect [10 10 90 90] >>"
}

// drawnField is a field over the text of the page, with the appearance %v.
func drawnField(kind pdf.Name, entries string) string {
	return fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /%s /T (New) %s /DA (/F 12 Tf) /Rect [0 0 300 40] /F 4 /P 10 0 R /AP << /N %%v >> >>", kind, entries)
}

var drawnText = xobject("0 0 300 40", drawing)

const script = "/AA << /PO << /S /JavaScript /JS (app.beep\\(\\)) >> >>"

// fieldChanges are new fields that draw or act before they are signed, and values that are not filled in as values.
var fieldChanges = []attack{
	{certification, "empty field that is a free text annotation", signedContract, addEmptyField("/Subtype /FreeText /Contents (1) /DA (/F 40 Tf) /F 4 /P 10 0 R /Rect [0 0 300 40]"), "reports FORM_FIELDS"},
	{certification, "empty field with a background", signedContract, addEmptyField("/Subtype /Widget /MK << /BG [1 0 0] /CA (1) >> /F 4 /P 10 0 R /Rect [0 0 300 40]"), "reports FORM_FIELDS"},
	{certification, "empty field with an area", signedContract, addEmptyField("/Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 300 40]"), "reports FORM_FIELDS"},
	{certification, "empty field with a script", signedContract, addEmptyField("/Subtype /Widget /P 10 0 R /Rect [0 0 0 0] " + script), "reports FORM_FIELDS"},
	{certification, "empty field with a script in a kid", signedContract, func(r *revision) {
		kid := r.add("<< /Type /Annot /Subtype /Widget /P 10 0 R /Rect [0 0 0 0] " + script + " >>").String()
		addField("<< /FT /Sig /T (New) /Kids [" + kid + "] >>")(r)
	}, "reports FORM_FIELDS, lists SIGNATURE"},
	{certification, "document timestamp with a script", certifiedContract(pades.NoChanges), addField("<< /FT /Sig /T (New) /V " + timestamp + " /Type /Annot /Subtype /Widget /P 10 0 R /Rect [0 0 0 0] " + script + " >>"), "reports FORM_FIELDS"},
	{certification, "forged document timestamp in the empty field, over the page", filledForm(""), edits(
		setKey(formEmpty, "V", "%v", timestamp), setKey(formEmpty, "AP", "<< /N %v >>", wholePage)), "reports APPEARANCE, FORM_FIELDS"},
	{certification, "field over the page with a signature inherited from an unreferenced parent", filledForm(""),
		addField(fmt.Sprintf("<< /Parent %d 0 R /T (New) /Type /Annot /Subtype /Widget /F 4 /P 10 0 R /Rect [0 0 595 842] /AP << /N %%v >> >>", formUnreferenced), wholePage), "reports FORM_FIELDS"},
	{certification, "value shared by two fields, both locked", filledForm("/Action /All"), replaceObject(formShared, "(1000000)"), "reports FORM_FILLING"},
	{certification, "value shared by two fields, one locked", filledForm("/Action /Include /Fields [(Other)]"), replaceObject(formShared, "(1000000)"), "reports FORM_FILLING"},
	{certification, "locked field with a long name", filledForm("/Action /Include /Fields [(" + longName + ")]"), setKey(formLong, "V", "(2)"), "reports FORM_FILLING"},
	{certification, "push button with a value and an appearance", filledForm(""), edits(
		setKey(formButton, "V", "(1)"), setKey(formButton, "AP", "<< /N %v >>", wholePage)), "reports APPEARANCE, FORM_FIELDS"},
	{certification, "push button with a value and its appearance replaced", filledForm(""), edits(
		setKey(formButton, "V", "(1)"), replaceObject(formButtonBox, wholePage)), "reports APPEARANCE, FORM_FIELDS"},
	{certification, "value of a read-only field", filledForm(""), setKey(formReadOnly, "V", "(2)"), "reports FORM_FIELDS"},
	{certification, "widget made read-only, without the inherited flag", filledForm(""), setKey(formInherited, "Ff", "1"), "reports FORM_FIELDS"},
}

func addEmptyField(entries string) edit {
	return addField("<< /FT /Sig /T (New) /Type /Annot " + entries + " >>")
}

// Objects of the filled form.
const (
	formShared       = 102 // the value of two fields
	formButton       = 103
	formButtonBox    = 104
	formReadOnly     = 105
	formLong         = 107 // a field with a long name
	formEmpty        = 108 // a signature field
	formUnreferenced = 109 // a signature field
	formInherited    = 111 // a widget with the flags of its parent
)

var longName = strings.Repeat("long", 1250)

// filledForm is a form with values that readers draw, and a signature with a lock of these entries.
func filledForm(lock string) victim {
	if lock != "" {
		lock = "/Lock << /Type /SigFieldLock " + lock + " >>"
	}
	widget := func(entries string) string {
		return "<< /Type /Annot /Subtype /Widget /P 10 0 R /F 4 /Rect [100 100 300 130] /DA (/F 12 Tf) " + entries + " >>"
	}
	options := pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R 101 0 R 103 0 R 105 0 R 106 0 R 107 0 R 108 0 R 110 0 R] /NeedAppearances true /DA (/F 12 Tf) /DR << /Font << /F << /Type /Font /Subtype /Type1 /BaseFont /Helvetica >> >> >> >>",
		Page:    "/Annots [100 0 R 103 0 R 105 0 R 107 0 R 108 0 R 111 0 R]",
		Objects: []string{
			widget("/FT /Tx /T (Amount) /V 102 0 R"), "<< /FT /Tx /T (Other) /V 102 0 R >>", "(1)",
			widget("/FT /Btn /Ff 65536 /T (Logo) /AP << /N 104 0 R >>"), xobject("0 0 595 842", ""),
			widget("/FT /Tx /Ff 1 /T (Constant) /V (1)"), "<< /FT /Sig /T (Lock) " + lock + " >>",
			widget("/FT /Tx /T (" + longName + ") /V (1)"), widget("/FT /Sig /T (Empty)"),
			"<< /FT /Sig /V << /Type /Sig >> >>",
			"<< /FT /Tx /Ff 4096 /T (Lines) /V (1) /Kids [111 0 R] >>", "<< /Type /Annot /Subtype /Widget /Parent 110 0 R /P 10 0 R /F 4 /Rect [10 10 90 30] /DA (/F 12 Tf) >>",
		},
	}
	return signedVictim("filled form "+lock, func() []byte { return pdftest.Build(options) }, pades.Options{Field: "Lock"})
}

// structureChanges are read differently by readers, or have a key twice, of which ISO 32000-2 7.3.7 does not say
// which value counts.
var structureChanges = []attack{
	{fileStructure, "another page tree of the catalog", signedContract, setKey(catalog, "Pages", "109 0 R"), "INDETERMINATE FORMAT_FAILURE, reports PAGES, PAGE_CONTENT"},
	{fileStructure, "object of another generation", signedContract, edits(replaceObject(content, otherContent),
		rewriteEnd(`3 0 obj`, "3 1 obj"), rewriteEnd(`\n3 1\n(\d{10}) 00000 n`, "\n3 1\n$1 00001 n")), "reports PAGE_CONTENT, UNKNOWN, lists HIDDEN"},
	{fileStructure, "object that is free and in use", signedContract, edits(replaceObject(content, otherContent),
		rewriteEnd(`\n(3 1)\n(\d{10}) 00000 n \n`, "\n$1\n0000000000 00001 f \n$1\n$2 00000 n \n")), "reports PAGE_CONTENT, UNKNOWN"},
	{fileStructure, "XRefStm that refers to another content of a page", signedContract, func(r *revision) {
		at := bytes.Index(r.base, []byte("\n"+hidden)) + 1
		r.add(stream("/Type /XRef /Size 4 /W [1 2 1] /Index [3 1]", string([]byte{1, byte(at >> 8), byte(at), 0})))
		rewriteEnd(`trailer\n<<`, fmt.Sprintf("trailer\n<< /XRefStm %d", len(r.base)))(r)
	}, "reports PAGE_CONTENT, UNKNOWN"},
	{fileStructure, "encryption", signedContract, loosely(`trailer\n<<`, "trailer\n<< /Encrypt << /Filter /Standard /V 1 /R 2 /P -4 /O ("+
		"01234567890123456789012345678901) /U (01234567890123456789012345678901) >> /ID [(0123456789012345) (0123456789012345)]"), "unreadable"},
	{fileStructure, "Prev without the signed revision", signedContract, func(r *revision) {
		first := regexp.MustCompile(`startxref\n(\d+)`).FindSubmatch(r.base)
		edits(replaceObject(content, otherContent), rewriteEnd(`/Prev \d+`, "/Prev "+string(first[1])))(r)
	}, "no signature"},
	{fileStructure, "Root twice", signedContract, loosely(`/Root 1 0 R`, "/Root 108 0 R /Root 1 0 R"), "reports UNKNOWN, lists HIDDEN"},
	{fileStructure, "content stream with a Length beyond the end", signedContract, replaceObject(content, "<< /Length 1000000 >>\nstream\n"+drawing+"\nendstream"), "reports PAGE_CONTENT, UNKNOWN"},
	{fileStructure, "page with Contents twice", signedContract, duplicateKey(page, "/Contents %v", otherContent), "reports UNKNOWN, lists HIDDEN"},
	{fileStructure, "page with Contents twice, after a forged document timestamp", signedContract, edits(addField(stampField), duplicateKey(page, "/Contents %v", otherContent)), "reports UNKNOWN, lists HIDDEN, VALIDATION_DATA"},
	{fileStructure, "page with Contents and null", signedContract, duplicateKey(page, "/Contents null"), "reports UNKNOWN"},
	{fileStructure, "resources of a page with an XObject twice", signedContract, func(r *revision) {
		r.replace(page, strings.Replace(r.source(page), "/XObject <<", "/XObject << /Total "+r.add(wholePage).String(), 1))
	}, "reports UNKNOWN, lists HIDDEN"},
	{fileStructure, "page in an object stream with Contents twice", objectStreams, duplicateKey(page, "/Contents %v", otherContent), "reports UNKNOWN, lists HIDDEN"},
	{fileStructure, "page signed with Contents twice, one of them new", doubleContents, replaceObject(200, otherContent), "reports UNKNOWN, lists HIDDEN"},
	{fileStructure, "page signed with Contents twice, one of them a field's appearance", doubleContents, edits(
		setKey(first, "V", "(2)"), replaceObject(first+1, wholePage)), "reports UNKNOWN, lists FORM_FILLING"},
}

var doubleContents = victim{name: "page with Contents twice", build: func(f *fixture) []byte {
	b := pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm << /Fields [100 0 R] >>",
		Page:    "/Annots [100 0 R]",
		Objects: []string{
			"<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /V (1) /Rect [9 9 90 20] /P 10 0 R /AP << /N 101 0 R >> >>",
			xobject("0 0 595 842", ""),
		},
	})
	return sign(f, f.apply(edits(duplicateKey(page, "/Contents [101 0 R 200 0 R]"), replaceObject(200, "null")), b), f.signer, pades.Options{})
}}
