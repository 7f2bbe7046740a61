package pades_test

import (
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
)

// appendedRow is a document of level LTA with something else behind its signature: what is
// appended to it, or, where that is nil, what was in it beforehand and gets a second
// meaning by the validation data.
type appendedRow struct {
	name    string
	options pdftest.Options
	appends func(*revision)
}

const (
	square      = "<< /Type /Annot /Subtype /Square /Rect [10 10 90 90] >>"
	anotherPage = "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 3 0 R >>"
	drawing     = "0 0 m 90 10 l S"
	timestamp   = "<< /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 >>"
	stampField  = "<< /Type /Annot /Subtype /Widget /FT /Sig /T (Old) /V " + timestamp + " /P 10 0 R /Rect [0 0 0 0] /F 132 >>"
)

// changedDocuments are those in which something changed that was there.
var changedDocuments = []appendedRow{
	{"an entry of the catalog", pdftest.Options{}, func(r *revision) { r.set(catalog, "OpenAction", "[10 0 R /Fit]") }},
	{"another catalog", pdftest.Options{}, func(r *revision) {
		source, err := r.file.Source(pdf.Ref{Num: catalog})
		if err != nil {
			r.Fatal(err)
		}
		r.rewrite(`/Root 1 0 R`, "/Root "+r.add(string(source)).String())
	}},
	{"another document information dictionary", pdftest.Options{}, func(r *revision) {
		r.rewrite(`/Root 1 0 R`, "/Root 1 0 R /Info "+r.add("<< /Title (Another) >>").String())
	}},
	{"a direct document information dictionary", pdftest.Options{Trailer: "/Info << /Title (This one) >>"},
		func(r *revision) { r.add(square); r.rewrite(`\(This one\)`, "(Another)") }},
	{"the title in the document information dictionary", pdftest.Options{Trailer: "/Info 100 0 R", Objects: []string{"<< /Title (This one) >>"}},
		func(r *revision) { r.set(first, "Title", "(Another)") }},
	{"the title in the metadata", pdftest.Options{Catalog: "/Metadata 100 0 R", Objects: []string{xmp("This one", 1)}},
		func(r *revision) { r.replace(first, xmp("Another", 1)) }},
	{"an entry of the metadata", pdftest.Options{Catalog: "/Metadata 100 0 R", Objects: []string{xmp("This one", 1)}},
		func(r *revision) {
			r.replace(first, strings.Replace(xmp("This one", 2), "/XML", "/XML /Extra true", 1))
		}},
	{"an entry of a page", pdftest.Options{}, func(r *revision) { r.set(page, "MediaBox", "[0 0 1 1]") }},
	{"the content of a page", pdftest.Options{}, func(r *revision) { r.replace(content, stream("", drawing)) }},
	{"a page has two contents", pdftest.Options{}, func(r *revision) { r.doubled(page, "/Contents "+r.addStream("", drawing).String()) }},
	{"a page is another object", pdftest.Options{}, func(r *revision) {
		r.set(2, "Kids", "["+r.add(anotherPage).String()+"]")
	}},
	{"an object is freed", pdftest.Options{}, func(r *revision) {
		r.replace(content, stream("", drawing))
		r.rewrite(`\n3 1\n(\d{10}) 00000 n`, "\n3 1\n$1 00001 f")
	}},
	{"an object of another generation is in use", pdftest.Options{Page: "/Thumb 100 1 R", Objects: []string{"null"}}, func(r *revision) {
		r.replace(first, stream("", drawing))
		r.rewrite(`100 0 obj`, "100 1 obj")
		r.rewrite(`\n100 1\n(\d{10}) 00000 n`, "\n100 1\n$1 00001 n")
	}},
	{"an object stream", pdftest.Options{Kind: pdftest.Stream}, func(r *revision) {
		r.replace(900, stream("/Type /ObjStm /N 3 /First 16", "1 0 2 0 10 1000 "+anotherPage))
	}},
	{"an object that a hidden one leads to", pdftest.Options{Kind: pdftest.Hybrid, Page: "/Thumb 100 0 R", Objects: []string{"[3 0 R]"}},
		func(r *revision) { r.replace(content, stream("", drawing)) }},
	{"a missing object", pdftest.Options{Page: "/Thumb 900 0 R"}, func(r *revision) { r.replace(900, stream("/Type /XRef", drawing)) }},
	{"a missing object, as a stream of the store", pdftest.Options{Page: "/Thumb 900 0 R"}, func(r *revision) {
		r.replace(900, stream("", drawing))
		r.appendTo(r.store(), "Certs", pdf.Ref{Num: 900})
	}},
	{"a stream of the page and of the store", pdftest.Options{Catalog: "/DSS << /Certs [3 0 R] >>"},
		func(r *revision) { r.replace(content, stream("", drawing)) }},
	{"metadata and a stream of the store", pdftest.Options{Catalog: "/Metadata 100 0 R /DSS << /Certs [100 0 R] >>", Objects: []string{xmp("This one", 1)}},
		func(r *revision) { r.replace(first, xmp("Another", 1)) }},
	{"metadata that is a page's thumbnail", pdftest.Options{Catalog: "/Metadata 100 0 R", Page: "/Thumb 100 0 R", Objects: []string{xmp("This one", 1)}},
		func(r *revision) { r.replace(first, xmp("This one", 2)) }},
	{"an object of the page and of the extensions", pdftest.Options{Catalog: "/Extensions << /X 100 0 R >>", Page: "/Thumb 100 0 R", Objects: []string{stream("", drawing)}},
		func(r *revision) { r.replace(first, stream("", drawing+" ")) }},
	{"a table with a stream beside it", pdftest.Options{}, func(r *revision) {
		r.addStream("/Type /XRef /Size 4 /W [1 2 1] /Index [3 1]", "\x01\x00\x0f\x00")
		r.rewrite(`trailer\n<<`, fmt.Sprintf("trailer\n<< /XRefStm %d", len(r.base)))
	}},
}

// changedForms are those with other fields and annotations.
var changedForms = []appendedRow{
	{"an entry of the form", pdftest.Options{}, func(r *revision) { r.set(r.form(), "NeedAppearances", "true") }},
	{"a field is missing", pdftest.Options{Catalog: "/AcroForm 101 0 R", Objects: []string{"<< /FT /Tx /T (Old) >>", "<< /Fields [100 0 R] >>"}},
		func(r *revision) { r.set(r.form(), "Fields", fmt.Sprint(r.fields()[1:])) }},
	{"a field of text", pdftest.Options{}, func(r *revision) {
		r.appendTo(r.form(), "Fields", r.add("<< /FT /Tx /T (New) /V (Text) >>"))
	}},
	{"a field that was there", pdftest.Options{Page: "/Annots [100 0 R]", Objects: []string{stampField}},
		func(r *revision) { r.appendTo(r.form(), "Fields", pdf.Ref{Num: first}) }},
	{"an annotation", pdftest.Options{}, func(r *revision) { r.appendTo(page, "Annots", r.add(square)) }},
	{"an annotation is another", pdftest.Options{}, func(r *revision) {
		r.set(page, "Annots", fmt.Sprintf("[%v %d 0 R]", r.add(square), r.stamp()))
	}},
	{"an annotation is missing", pdftest.Options{}, func(r *revision) { r.set(page, "Annots", "[]") }},
	{"annotations of what is no page", pdftest.Options{Page: "/PieceInfo 100 0 R", Objects: []string{"<< >>"}}, func(r *revision) {
		r.set(first, "Annots", fmt.Sprintf("[%d 0 R]", r.stamp()))
		r.set(r.stamp(), "P", "100 0 R")
		r.set(page, "Annots", fmt.Sprint(r.fields()[:1]))
	}},
	{"an action of the field", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "A", "<< /S /URI /URI (http://a.example) >>") }},
	{"a field of text with a timestamp", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "FT", "/Tx") }},
	{"a field without a timestamp", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "V", "null") }},
	{"a field with a signature that was there", pdftest.Options{Page: "/PieceInfo 100 0 R", Objects: []string{timestamp}},
		func(r *revision) { r.set(r.stamp(), "V", "100 0 R") }},
	{"a field of the same name", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "T", "(Signature1)") }},
	{"a field of a name in parts", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "T", "(Signature1.New)") }},
	{"a field of no name", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "T", "null") }},
	{"a field with an area", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "Rect", "[0 0 100 100]") }},
	{"a field with a line", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "Rect", "[0 0 100 0]") }},
	{"a field with a line upwards", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "Rect", "[0 0 0 100]") }},
	{"a field without a rectangle", pdftest.Options{}, func(r *revision) { r.set(r.stamp(), "Rect", "null") }},
	{"a field that draws", pdftest.Options{}, func(r *revision) {
		r.set(r.stamp(), "AP", "<< /N "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 90 90]", drawing).String()+" >>")
	}},
	{"a field that draws when pressed", pdftest.Options{}, func(r *revision) {
		r.set(r.stamp(), "AP", "<< /D "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 90 90]", drawing).String()+" >>")
	}},
	{"an entry of the store", pdftest.Options{}, func(r *revision) { r.set(r.store(), "Innocent", "3 0 R") }},
	{"a dictionary for a stream of the store", pdftest.Options{}, func(r *revision) { r.appendTo(r.store(), "CRLs", r.add("<< >>")) }},
	{"an entry of the store's VRI", pdftest.Options{}, func(r *revision) { r.set(r.store(), "VRI", "<< /A << /Innocent 3 0 R >> >>") }},
	{"a type of the store's VRI that is no name", pdftest.Options{}, func(r *revision) { r.set(r.store(), "VRI", "<< /Type << /Innocent 3 0 R >> >>") }},
	{"a dictionary for a stream of VRI", pdftest.Options{}, func(r *revision) { r.set(r.store(), "VRI", "<< /A << /Cert [10 0 R] >> >>") }},
}

// ambiguous documents have objects of two meanings, one of which changed with the other.
var ambiguous = []appendedRow{
	{"a page has two contents", pdftest.Options{Page: "/Contents 900 0 R"}, nil},
	{"the catalog is a resource", pdftest.Options{Page: "/Resources << /XObject 1 0 R >>"}, nil},
	{"the form is a page", pdftest.Options{Catalog: "/AcroForm 10 0 R", Page: "/Fields []"}, nil},
	{"the form is a resource", pdftest.Options{Catalog: "/AcroForm 100 0 R", Page: "/Resources << /XObject 100 0 R >>", Objects: []string{"<< /Fields [] >>"}}, nil},
	{"the annotations are the resources", pdftest.Options{Page: "/Annots 100 0 R /Resources 100 0 R", Objects: []string{"[]"}}, nil},
	{"the store is a resource", pdftest.Options{Catalog: "/DSS 100 0 R", Page: "/Resources << /XObject 100 0 R >>", Objects: []string{"<< >>"}}, nil},
	{"certificates are annotations", pdftest.Options{Catalog: "/DSS << /Certs 100 0 R >>", Page: "/PieceInfo 100 0 R", Objects: []string{"[]"}}, nil},
	{"a page is in the store", pdftest.Options{Catalog: "/DSS << /Certs [] /Innocent 10 0 R >>"}, nil},
	{"a stream goes on behind the document", pdftest.Options{Page: "/Thumb 100 0 R", Objects: []string{"<< /Length 1000000 >>\nstream\nx\nendstream"}}, nil},
	{"an object cannot be read", pdftest.Options{Page: "/Thumb 100 0 R", Objects: []string{"<< /Broken"}}, nil},
}

// xmp is a metadata stream with a title, written last on a day of a month.
func xmp(title string, day int) string {
	return stream("/Type /Metadata /Subtype /XML", fmt.Sprintf(`<x:xmpmeta xmlns:x="adobe:ns:meta/"><rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#">
<rdf:Description rdf:about="" xmlns:dc="http://purl.org/dc/elements/1.1/" xmlns:xmp="http://ns.adobe.com/xap/1.0/"><xmp:ModifyDate>2026-07-%02d</xmp:ModifyDate>
<dc:title><rdf:Alt><rdf:li xml:lang="x-default">%s</rdf:li></rdf:Alt></dc:title></rdf:Description></rdf:RDF></x:xmpmeta>`, day, title))
}

// hidden is what no reader may find behind a signature: the content of a page.
var hidden = "3 0 obj\n" + stream("", drawing) + "\nendobj\n"

// notStrict are documents with an object behind them that nothing leads to, which is permitted, but
// written so that some readers rebuild the cross-reference, or would then find another document.
var notStrict = []appendedRow{
	{"Prev with a fraction", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev ${1}.0")},
	{"Prev with a sign", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev +$1")},
	{"Prev with a fraction, of a stream", pdftest.Options{Kind: pdftest.Stream}, rewritten(`/Prev (\d+)`, "/Prev ${1}.0")},
	{"Prev twice", pdftest.Options{}, rewritten(`/Prev (\d+)`, "/Prev 1 /Prev $1")},
	{"Size of less", pdftest.Options{}, rewritten(`/Size \d+`, "/Size 2")},
	{"Size with a sign", pdftest.Options{}, rewritten(`/Size (\d+)`, "/Size +$1")},
	{"startxref with a comment", pdftest.Options{}, rewritten(`startxref\n`, "startxref %5\n")},
	{"startxref with zeros", pdftest.Options{}, rewritten(`startxref\n`, "startxref\n000")},
	{"startxref with white space", pdftest.Options{}, rewritten(`startxref\n`, "startxref\n ")},
	{"a comment behind xref", pdftest.Options{}, rewritten(`\nxref\n`, "\nxref %x\n")},
	{"white space before xref", pdftest.Options{}, rewritten(`\nxref\n`, "\n\nxref\n")},
	{"a comment behind trailer", pdftest.Options{}, rewritten(`\ntrailer\n`, "\ntrailer%x\n")},
	{"an entry of 19 bytes", pdftest.Options{}, rewritten(` 00000 n \n`, " 00000 n\n")},
	{"an entry of few digits", pdftest.Options{}, rewritten(`\n0*(\d+) 00000 n \n`, "\n$1 0 n\n")},
	{"an entry twice", pdftest.Options{}, rewritten(`\n(\d+ 1\n\d{10} 00000 n \n)`, "\n$1$1")},
	{"an entry that leads outside", pdftest.Options{}, rewritten(`\nxref\n`, "\nxref\n900 1\n9999999999 00000 n \n")},
	{"an entry that leads to another object", pdftest.Options{}, rewritten(`\n\d+ 1\n(\d{10} 00000 n \n)`, "\n900 1\n$1")},
	{"an entry that leads to white space", pdftest.Options{}, rewritten(`(\d+ 0 obj)\n<< /Type /Annot`, "\n$1<< /Type /Annot")},
	{"a stream behind a carriage return", pdftest.Options{Kind: pdftest.Stream}, rewritten(`>>\nstream\n`, ">>\nstream\r")},
	{"Index of an odd length", pdftest.Options{Kind: pdftest.Stream}, rewritten(`(/Index \[.*?)\]`, "$1 7]")},
	{"an object that is not listed", pdftest.Options{}, func(r *revision) {
		r.replace(content, stream("", drawing))
		r.rewrite(`\n3 1\n\d{10} 00000 n \n`, "\n0 0\n")
	}},
	{"an object in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", hidden) }},
	{"an object in a comment", pdftest.Options{}, func(r *revision) { r.add("<< >> % 3 0 obj") }},
	{"an object with comments in its head", pdftest.Options{}, func(r *revision) {
		r.addStream("", strings.Replace(hidden, "3 0 obj", "3%%x\r\n0 %obj\n obj", 1))
	}},
	{"an object without white space in its head", pdftest.Options{}, func(r *revision) { r.addStream("", strings.Replace(hidden, "0 obj", "0obj", 1)) }},
	{"an object with other white space in its head", pdftest.Options{}, func(r *revision) { r.addStream("", strings.Replace(hidden, "3 0 ", "3\v0\xa0", 1)) }},
	{"an object stream that nothing leads to", pdftest.Options{}, func(r *revision) { r.addStream("/Type /ObjStm /N 1 /First 4", "3 0 null") }},
	{"a cross-reference stream that nothing leads to", pdftest.Options{}, func(r *revision) {
		r.addStream("/Type /XRef /Size 4 /W [1 2 1] /Root 1 0 R", strings.Repeat("\x00", 16))
	}},
	{"a stream of a type somewhere else", pdftest.Options{}, func(r *revision) { r.addStream("/Type 900 0 R", "") }},
	{"a key with two values", pdftest.Options{}, func(r *revision) { r.add("<< /A << /B 1 /B 2 >> >>") }},
	{"a key with two values, of a stream", pdftest.Options{}, func(r *revision) { r.addStream("/A 1 /A 2", "") }},
	{"a key with two values, in an object stream", pdftest.Options{Kind: pdftest.Stream}, func(r *revision) { r.add("<< /A 1 /A null >>") }},
	{"a trailer in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", "trailer\n<< /Root 10 0 R >>\n") }},
	{"a table in a stream", pdftest.Options{}, func(r *revision) { r.addStream("", "xref\n0 0\n") }},
}

func rewritten(pattern, with string) func(*revision) {
	return func(r *revision) {
		r.add(square)
		r.rewrite(pattern, with)
	}
}

const (
	withAppearance = "a field with an appearance of nothing"
	withType       = "a store whose VRI says what it is"
)

// validationDataRows is what other programs may append as validation data.
var validationDataRows = []appendedRow{
	{"an object that nothing leads to", pdftest.Options{}, func(r *revision) { r.add(square) }},
	{"words of a file's structure that are none", pdftest.Options{}, func(r *revision) {
		r.addStream("", "a trailer for 12 obj and 3 x obj, obj 0 1, endobj 1 0 endobj")
	}},
	{"when the document was written, in its information dictionary", pdftest.Options{Trailer: "/Info 100 0 R", Objects: []string{"<< /Title (This one) >>"}},
		func(r *revision) { r.set(first, "ModDate", "(D:20260701)"); r.set(first, "Producer", "(Another)") }},
	{"when the document was written, in its metadata", pdftest.Options{Catalog: "/Metadata 100 0 R", Objects: []string{xmp("This one", 1)}},
		func(r *revision) { r.replace(first, xmp("This one", 2)) }},
	{"a store of less", pdftest.Options{}, func(r *revision) { r.set(r.store(), "CRLs", "[]") }},
	{withType, pdftest.Options{}, func(r *revision) {
		r.set(r.store(), "VRI", "<< /Type /VRI /"+strings.Repeat("0A", 20)+" << /Type /VRI >> >>")
	}},
	{"the fields are the annotations", pdftest.Options{Catalog: "/AcroForm << /Fields 100 0 R >>", Page: "/Annots 100 0 R", Objects: []string{"[]"}}, nil},
	{"the catalog is pointed at", pdftest.Options{Page: "/PieceInfo << /Root 1 0 R >>"}, nil},
	{"extensions", pdftest.Options{Catalog: "/Extensions 100 0 R", Objects: []string{"<< >>"}},
		func(r *revision) { r.set(first, "ADBE", "<< /BaseVersion /1.7 /ExtensionLevel 3 >>") }},
	{withAppearance, pdftest.Options{}, func(r *revision) {
		r.set(r.stamp(), "AP", "<< /N "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 0 0]", "").String()+" >>")
	}},
}
