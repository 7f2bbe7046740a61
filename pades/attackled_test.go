package pades_test

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	"github.com/innsigli/innsigli/pades"
)

// misled are documents in which something else leads to what is shown than it seems.
var misled = []attack{
	{shadow, "a drawing that is named by another generation first", prepared{
		objects: []string{stream(asForm, box(1))},
		before: func(r *revision) {
			r.set(page, "Resources", "<< /XObject << /Aa 100 1 R /Fm 100 0 R >> >>")
			r.replace(content, stream("", "/Fm Do"))
		},
		later: func(r *revision) { r.replace(100, stream(asForm, box(9))) },
	}.made, changed(ades.ChangeContent)},
	{shadow, "a drawing that is named by another generation alone, which some readers do not look at", prepared{
		objects: []string{stream(asForm, box(1))},
		before: func(r *revision) {
			r.set(page, "Resources", "<< /XObject << /Fm 100 1 R >> >>")
			r.replace(content, stream("", "/Fm Do"))
		},
		later: func(r *revision) { r.replace(100, stream(asForm, box(9))) },
	}.made, changed(ades.ChangeUnknown)},
	{shadow, "an annotation that another generation makes a field", prepared{
		catalog: "/AcroForm << /Fields [100 1 R] >>", objects: []string{"<< /Type /Annot /Subtype /Text /Rect [9 9 20 20] /Contents (As agreed) /P 10 0 R >>"},
		before: func(r *revision) { r.set(page, "Annots", "[100 0 R]") },
		later:  func(r *revision) { r.set(100, "Contents", "(Not agreed)") },
	}.made, changed(ades.ChangeAnnotation)},
	{shadow, "layers that were nothing and become a field", layered("/OCProperties 200 0 R", nil, pades.Options{}, func(r *revision) {
		r.replace(200, "<< /FT /Sig /T (New) /Type /Annot /Subtype /Widget /Rect [0 0 0 0] "+otherLayers+" >>")
		r.addField(pdf.Ref{Num: 200})
	}), listedAsForbidden},
	{shadow, "layers that become those of an annotation", layered("/OCProperties 103 0 R", []string{
		"104 0 R", "<< /OCGs [101 0 R 102 0 R] /D << /OFF [102 0 R] >> >>", hiddenNote,
	}, pades.Options{}, func(r *revision) { r.replace(103, "105 0 R") }), changed(ades.ChangeCatalog)},
	{shadow, "layers that become an annotation", layered("/OCProperties 103 0 R", []string{
		"<< /OCGs [101 0 R 102 0 R] /D << /OFF [102 0 R] >> >>", "null", "null",
	}, pades.Options{Certify: pades.Annotations}, func(r *revision) {
		r.replace(103, hiddenNote)
		r.appendTo(page, "Annots", pdf.Ref{Num: 103})
	}), changed(ades.ChangeCatalog)},
	{shadow, "layers that are an annotation", layered("/OCProperties 105 0 R", []string{
		"null", "null", strings.Replace(hiddenNote, "101 0 R] /Order", "102 0 R] /Order", 1),
	}, pades.Options{Certify: pades.Annotations}, func(r *revision) { r.replace(105, hiddenNote) }), changed(ades.ChangeCatalog)},
	{shadow, "a page behind more changes than are listed", prepared{
		catalog: "/AcroForm << /Fields [" + references(100, 10_000) + "] >>", objects: manyFields(10_000),
		before: func(r *revision) { r.set(page, "Annots", "[100 0 R]") },
		later: func(r *revision) {
			for i := range uint32(9_998) {
				r.replace(101+i, fmt.Sprintf("<< /FT /Tx /T (%d) /V (2) >>", i+1))
			}
			r.set(100, "V", "(2)")
			r.set(100, "AP", "<< /N "+r.addStream(asForm, "").String()+" >>")
			r.replace(100+10_000, stream(asForm, box(1)))
			r.replace(content, stream("", drawing))
		},
	}.made, changed(ades.ChangeUnknown)},
	{shadow, "what a page inherits from where nothing leads", prepared{
		objects: []string{stream(asForm, box(1)), "<< /Type /Pages /Kids [10 0 R] /Count 1 /Parent 2 0 R /MediaBox [0 0 595 842] /Resources << /XObject << /Fm 100 0 R >> >> >>"},
		before: func(r *revision) {
			r.set(page, "Parent", "101 0 R")
			r.replace(content, stream("", "/Fm Do"))
		},
		later: func(r *revision) {
			r.set(101, "Resources", "<< /XObject << /Fm "+r.addStream(asForm, box(9)).String()+" >> >>")
		},
	}.made, listedAsForbidden},
	{shadow, "what a field inherits from where nothing leads", prepared{
		catalog: "/AcroForm << /Fields [100 0 R 102 0 R] /NeedAppearances true >>",
		objects: []string{
			"<< /Type /Annot /Subtype /Widget /T (Amount) /Parent 101 0 R /P 10 0 R /F 4 /Rect [100 100 300 130] >>", "<< /FT /Tx /V (1) /DA (/F 12 Tf) >>",
			"<< /FT /Sig /T (Lock) /Lock << /Type /SigFieldLock /Action /All >> >>",
		},
		before:  func(r *revision) { r.set(page, "Annots", "[100 0 R]") },
		options: pades.Options{Field: "Lock"},
		later:   func(r *revision) { r.set(101, "V", "(1000000)") },
	}.made, listedAsForbidden},
	{structural, "Prev with a fraction", loosely("/Root 1 0 R /Info 100 0 R /Prev PREV.0", "\nAT"), changed(ades.ChangeUnknown)},
	{structural, "Prev twice", loosely("/Root 1 0 R /Info 100 0 R /Prev 5 /Prev PREV", "\nAT"), changed(ades.ChangeUnknown)},
	{structural, "Root twice", loosely("/Root 108 0 R /Root 1 0 R /Info 100 0 R /Prev PREV", "\nAT"), changed(ades.ChangeUnknown)},
	{structural, "startxref with a comment", loosely("/Root 1 0 R /Info 100 0 R /Prev PREV", " % x\nAT"), changed(ades.ChangeUnknown)},
	{structural, "startxref with a sign", loosely("/Root 1 0 R /Info 100 0 R /Prev PREV", "\n+AT"), changed(ades.ChangeUnknown)},
	{shadow, "a stream that goes on to the end of the document, and behind it", func(s *scene) []byte {
		signed := forgery{objects: []string{"<< /Length 0000000000 >>\nstream\n" + drawing + "\nendstream"}, built: func(b []byte) []byte {
			b = bytes.TrimRight(bytes.Replace(b, []byte("/Contents 3 0 R /Annots [100 0 R]"), []byte("/Contents 102 0 R/Annots[100 0 R]"), 1), "\n")
			start := bytes.Index(b, []byte("\n102 0 obj"))
			start += bytes.Index(b[start:], []byte("stream\n")) + len("stream\n")
			return bytes.Replace(b, []byte("/Length 0000000000"), fmt.Appendf(nil, "/Length %010d", len(b)-start), 1)
		}}.made(s)
		return empty(append(signed, "\nendstream\nendobj\n"...), "/Root 1 0 R /Prev PREV", "\nAT")
	}, listedAsForbidden},
	{shadow, "an integer at the end of the document that becomes a reference", func(s *scene) []byte {
		var table int
		signed := forgery{objects: []string{"null"}, built: func(b []byte) []byte {
			b = bytes.Replace(b, []byte("/Contents 3 0 R /Annots [100 0 R]"), []byte("/Contents 102 0 R/Annots[100 0 R]"), 1)
			table = bytes.LastIndex(b, []byte("\nxref")) + 1
			was := fmt.Appendf(nil, "%010d", bytes.Index(b, []byte("\n102 0 obj"))+1)
			b = append(bytes.Clone(b[:bytes.LastIndex(b, []byte("startxref"))]), "startxref %"...)
			at := len(b)
			b = fmt.Appendf(b, "102 0 obj\n%d\n%%%%EOF", table)
			return append(b[:table:table], bytes.Replace(b[table:], was, fmt.Appendf(nil, "%010d", at), 1)...)
		}}.made(s)
		b := append(signed, "\n0 R\nendobj\n"...)
		object := fmt.Sprintf("%d 1\n%010d 00000 n \n", table, len(b))
		b = fmt.Appendf(b, "%d 0 obj\n%s\nendobj\n", table, stream("", drawing))
		at := len(b)
		return fmt.Appendf(b, "xref\n%strailer\n<< /Size 90000 /Root 1 0 R /Prev %d >>\nstartxref\n%d\n%%%%EOF\n", object, table, at)
	}, listedAsForbidden},
}
