package pades_test

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"

	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// shadowAttacks replace or hide what the author of a document prepared before it was signed.
var shadowAttacks = []attack{
	{shadowAttack, "hide: form XObject freed", signedContract, appendTable("101 1\n0000000000 00001 f \n", "/Root 1 0 R"), "reports PAGE_CONTENT"},
	{shadowAttack, "hide: empty form XObject", signedContract, replaceObject(contractOverlay, xobject("0 0 0 0", "")), "reports PAGE_CONTENT"},
	{shadowAttack, "hide and replace: content inside a stream", signedContract, func(r *revision) {
		at := bytes.Index(r.base, []byte("\n"+hidden)) + 1
		appendTable(fmt.Sprintf("3 1\n%010d 00000 n \n", at), "/Root 1 0 R")(r)
	}, "reports PAGE_CONTENT"},
	{shadowAttack, "hide and replace: another object as a page", signedContract, func(r *revision) {
		at := bytes.Index(r.base, []byte("\n110 0 obj")) + 1
		appendTable(fmt.Sprintf("10 1\n%010d 00000 n \n", at), "/Root 1 0 R")(r)
	}, "INDETERMINATE FORMAT_FAILURE, reports UNKNOWN"},
	{shadowAttack, "hide and replace: another catalog", signedContract, appendTable("0 0\n", "/Root 108 0 R"), "no signature"},
	{shadowAttack, "object stream replaced", objectStreams, replaceObject(900, stream("/Type /ObjStm /N 3 /First 16", "1 0 2 0 10 1000 "+anotherPage)), "INDETERMINATE FORMAT_FAILURE, reports PAGES, PAGE_CONTENT, lists HIDDEN"},
	{shadowAttack, "form XObject also referenced by another generation", generations("/Aa 100 1 R /Fm 100 0 R"), replaceObject(100, box(9)), "reports PAGE_CONTENT, UNKNOWN"},
	{shadowAttack, "form XObject referenced by another generation alone", generations("/Fm 100 1 R"), replaceObject(100, box(9)), "reports UNKNOWN, lists HIDDEN"},
	{shadowAttack, "annotation listed by another generation as a field", prepared{
		catalog: "/AcroForm << /Fields [100 1 R] >>", objects: []string{"<< /Type /Annot /Subtype /Text /Rect [9 9 20 20] /Contents (As agreed) /P 10 0 R >>"},
		before: setKey(page, "Annots", "[100 0 R]"),
	}.victim(), setKey(100, "Contents", "(Not agreed)"), "reports ANNOTATION, UNKNOWN"},
	{shadowAttack, "optional content properties, missing when signed, that are a field", withLayers("/OCProperties 200 0 R", nil, pades.Options{}), edits(
		replaceObject(200, "<< /FT /Sig /T (New) /Type /Annot /Subtype /Widget /Rect [0 0 0 0] "+otherLayers+" >>"), addField("200 0 R")), "reports ANNOTATION, CATALOG, FORM_FIELDS"},
	{shadowAttack, "optional content properties that become those of an annotation", withLayers("/OCProperties 103 0 R", []string{
		"104 0 R", "<< /OCGs [101 0 R 102 0 R] /D << /OFF [102 0 R] >> >>", noteWithLayers,
	}, pades.Options{}), replaceObject(103, "105 0 R"), "reports CATALOG"},
	{shadowAttack, "optional content properties that become an annotation", withLayers("/OCProperties 103 0 R", []string{
		"<< /OCGs [101 0 R 102 0 R] /D << /OFF [102 0 R] >> >>", "null", "null",
	}, pades.Options{Certify: pades.Annotations}), edits(replaceObject(103, noteWithLayers), appendItem(page, "Annots", "103 0 R")), "reports CATALOG, lists ANNOTATION"},
	{shadowAttack, "optional content properties that are an annotation", withLayers("/OCProperties 105 0 R", []string{
		"null", "null", strings.Replace(noteWithLayers, "101 0 R] /Order", "102 0 R] /Order", 1),
	}, pades.Options{Certify: pades.Annotations}), replaceObject(105, noteWithLayers), "reports CATALOG, lists ANNOTATION"},
	{shadowAttack, "content of a page, after more changes than the report lists", prepared{
		catalog: "/AcroForm << /Fields [" + references(100, 10_000) + "] >>", objects: manyFields(10_000), before: setKey(page, "Annots", "[100 0 R]"),
	}.victim(), func(r *revision) {
		for i := range uint32(9_998) {
			r.replace(101+i, fmt.Sprintf("<< /FT /Tx /T (%d) /V (2) >>", i+1))
		}
		edits(setKey(100, "V", "(2)"), setKey(100, "AP", "<< /N %v >>", box(0)), replaceObject(100+10_000, box(1)), replaceObject(content, otherContent))(r)
	}, "reports UNKNOWN, lists FORM_FILLING"},
	{shadowAttack, "resources that a page inherits from an unreferenced parent", prepared{
		objects: []string{box(1), "<< /Type /Pages /Kids [10 0 R] /Count 1 /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /Fm 100 0 R >> >> >>"},
		before:  edits(setKey(page, "Parent", "101 0 R"), replaceObject(content, stream("", "/Fm Do"))),
	}.victim(), setKey(101, "Resources", "<< /XObject << /Fm %v >> >>", box(9)), "reports UNKNOWN"},
	{shadowAttack, "value that a field inherits from an unreferenced parent", prepared{
		catalog: "/AcroForm << /Fields [100 0 R 102 0 R] /NeedAppearances true >>",
		objects: []string{
			"<< /Type /Annot /Subtype /Widget /T (Amount) /Parent 101 0 R /P 10 0 R /F 4 /Rect [100 100 300 130] >>", "<< /FT /Tx /V (1) /DA (/F 12 Tf) >>",
			"<< /FT /Sig /T (Lock) /Lock << /Type /SigFieldLock /Action /All >> >>",
		},
		before:  setKey(page, "Annots", "[100 0 R]"),
		options: pades.Options{Field: "Lock"},
	}.victim(), setKey(101, "V", "(1000000)"), "reports UNKNOWN"},
	{shadowAttack, "content stream that continues in the update", contentToTheEnd.victim(), asBytes(func(b []byte) []byte {
		b = append(b, "\nendstream\nendobj\n"...)
		return fmt.Appendf(b, "xref\n0 0\ntrailer\n<< /Size 500 /Root 1 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", lastOffset(b), len(b))
	}), "reports PAGE_CONTENT"},
	{shadowAttack, "integer at the end that becomes a reference in the update", integerAtTheEnd.victim(), asBytes(func(b []byte) []byte {
		table := string(lastOffset(b))
		b = append(b, "\n0 R\nendobj\n"...)
		object := fmt.Sprintf("%s 1\n%010d 00000 n \n", table, len(b))
		b = fmt.Appendf(b, "%s 0 obj\n%s\nendobj\n", table, otherContent)
		return fmt.Appendf(b, "xref\n%strailer\n<< /Size 90000 /Root 1 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", object, table, len(b))
	}), "reports PAGE_CONTENT"},
}

// prepared is a document whose author prepares it before it is signed.
type prepared struct {
	catalog string
	objects []string
	before  edit
	options pades.Options
}

func (d prepared) victim() victim {
	return victim{build: func(f *fixture) []byte {
		b := pdftest.Build(pdftest.Options{Catalog: d.catalog, Objects: d.objects})
		return sign(f, f.apply(d.before, b), f.signer, d.options)
	}}
}

// box is a form XObject that draws a square.
func box(size int) string { return xobject("0 0 100 100", fmt.Sprintf("0 0 %d %d re f", size, size)) }

// generations is a page that draws the XObject Fm of these resources.
func generations(xobjects string) victim {
	return prepared{objects: []string{box(1)}, before: edits(
		setKey(page, "Resources", "<< /XObject << "+xobjects+" >> >>"), replaceObject(content, stream("", "/Fm Do")),
	)}.victim()
}

const (
	otherLayers    = "/OCGs [101 0 R 102 0 R] /D << /OFF [101 0 R] /Order [] >>"
	noteWithLayers = "<< /Type /Annot /Subtype /Text /F 2 /Rect [0 0 0 0] " + otherLayers + " >>"
)

// withLayers is a document with two optional content groups, objects 101 and 102. Object 105 is an annotation unless it
// is null.
func withLayers(catalog string, objects []string, options pades.Options) victim {
	before := edits(
		replaceObject(content, stream("", "/OC /A BDC 0 0 1 1 re f EMC /OC /B BDC 0 0 9 9 re f EMC")),
		setKey(page, "Resources", "<< /Properties << /A 101 0 R /B 102 0 R >> >>"))
	if objects != nil && objects[2] != "null" {
		before = edits(before, setKey(page, "Annots", "[105 0 R]"))
	}
	groups := []string{"null", "<< /Type /OCG /Name (A) >>", "<< /Type /OCG /Name (B) >>"}
	return prepared{catalog: catalog, objects: append(groups, objects...), options: options, before: before}.victim()
}

func references(first, n int) string {
	var b strings.Builder
	for i := range n {
		fmt.Fprintf(&b, "%d 0 R ", first+i)
	}
	return b.String()
}

// manyFields are n fields, of which the first is visible, and its appearance.
func manyFields(n int) []string {
	objects := []string{fmt.Sprintf("<< /Type /Annot /Subtype /Widget /FT /Tx /T (0) /V (1) /P 10 0 R /F 4 /Rect [0 0 10 10] /AP << /N %d 0 R >> >>", 100+n)}
	for i := 1; i < n; i++ {
		objects = append(objects, fmt.Sprintf("<< /FT /Tx /T (%d) /V (1) >>", i))
	}
	return append(objects, box(0))
}

// contentToTheEnd is a document whose page content is a stream that ends with the document.
var contentToTheEnd = forgery{objects: []string{"<< /Length 0000000000 >>\nstream\n" + drawing + "\nendstream"}, built: func(b []byte) []byte {
	b = bytes.TrimRight(drawObject102(b), "\n")
	start := bytes.Index(b, []byte("\n102 0 obj"))
	start += bytes.Index(b[start:], []byte("stream\n")) + len("stream\n")
	return bytes.Replace(b, []byte("/Length 0000000000"), fmt.Appendf(nil, "/Length %010d", len(b)-start), 1)
}}

// integerAtTheEnd is a document whose page content is the offset after startxref, as an object.
var integerAtTheEnd = forgery{objects: []string{"null"}, built: func(b []byte) []byte {
	b = drawObject102(b)
	table := bytes.LastIndex(b, []byte("\nxref")) + 1
	before := fmt.Appendf(nil, "%010d", bytes.Index(b, []byte("\n102 0 obj"))+1)
	b = append(bytes.Clone(b[:bytes.LastIndex(b, []byte("startxref"))]), "startxref %"...)
	at := len(b)
	b = fmt.Appendf(b, "102 0 obj\n%d\n%%%%EOF", table)
	return append(b[:table:table], bytes.Replace(b[table:], before, fmt.Appendf(nil, "%010d", at), 1)...)
}}

func drawObject102(b []byte) []byte {
	return bytes.Replace(b, []byte("/Contents 3 0 R /Annots [100 0 R]"), []byte("/Contents 102 0 R/Annots[100 0 R]"), 1)
}

var (
	lastSection = regexp.MustCompile(`startxref\s+(\d+)\s+%%EOF\s*$`)
	anySection  = regexp.MustCompile(`startxref\s+(?:%102 0 obj\s+)?(\d+)`)
)

// lastOffset is the last offset after startxref.
func lastOffset(b []byte) []byte {
	all := anySection.FindAllSubmatch(b, -1)
	return all[len(all)-1][1]
}

// appendTable appends a cross-reference table with these sections, without objects.
func appendTable(sections, root string) edit {
	return asBytes(func(b []byte) []byte {
		return fmt.Appendf(b, "xref\n%strailer\n<< /Size 500 %s /Info 100 0 R /Prev %s >>\nstartxref\n%d\n%%%%EOF\n", sections, root, lastOffset(b), len(b))
	})
}
