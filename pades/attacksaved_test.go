package pades_test

import (
	"fmt"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// saved are documents to which something was appended, by whom nobody knows.
var saved = []attack{
	{incremental, "the content of a page", grown(func(r *revision) { r.replace(content, stream("", drawing)) }), changed(ades.ChangeContent)},
	{incremental, "more content of a page", grown(func(r *revision) { r.set(page, "Contents", "[3 0 R "+r.addStream("", drawing).String()+"]") }), changed(ades.ChangeContent)},
	{incremental, "the crop box of a page", grown(func(r *revision) { r.set(page, "CropBox", "[0 0 10 10]") }), changed(ades.ChangeContent)},
	{incremental, "the rotation of a page", grown(func(r *revision) { r.set(page, "Rotate", "180") }), changed(ades.ChangeContent)},
	{incremental, "the resources of a page", grown(func(r *revision) {
		r.set(page, "Resources", "<< /XObject << /Total "+r.addStream("/Type /XObject /Subtype /Form /BBox [0 0 9 9]", drawing).String()+" >> >>")
	}), changed(ades.ChangeContent)},
	{incremental, "a page added", grown(func(r *revision) {
		r.set(2, "Kids", "[10 0 R 11 0 R "+r.add(anotherPage).String()+"]")
		r.set(2, "Count", "3")
	}), changed(ades.ChangePages)},
	{incremental, "a page removed", grown(func(r *revision) { r.set(2, "Kids", "[10 0 R]"); r.set(2, "Count", "1") }), changed(ades.ChangePages)},
	{incremental, "pages the other way round", grown(func(r *revision) { r.set(2, "Kids", "[11 0 R 10 0 R]") }), changed(ades.ChangePages)},
	{incremental, "objects without a cross-reference", appended("3 0 obj\n" + stream("", drawing) + "\nendobj\n"), changed(ades.ChangeUnknown)},
	{incremental, "objects and a trailer without a cross-reference", appended("3 0 obj\n" + stream("", drawing) + "\nendobj\ntrailer\n<< /Size 200 /Root 1 0 R >>\n%%EOF\n"), changed(ades.ChangeUnknown)},
	{incremental, "a cross-reference that leads nowhere", appended("3 0 obj\n" + stream("", drawing) + "\nendobj\nstartxref\n7\n%%EOF\n"), unsigned},
	{incremental, "a cross-reference without Prev", func(s *scene) []byte {
		r := newRevision(s.T, s.signed())
		r.replace(content, stream("", drawing))
		r.rewrite(`/Prev \d+`, "")
		return r.written()
	}, unreadable},
	{incremental, "a comment", appended("% nobody signed this\n"), unsigned},
	{incremental, "white space", appended("\n\n\n\n"), unsigned},
	{incremental, "bytes of no meaning", appended("\x00\x01\x02\x03"), unsigned},
	{incremental, "another document behind it", func(s *scene) []byte { return append(s.signed(), pdftest.Build(pdftest.Options{})...) }, unreadable},
	{incremental, "another document before it", func(s *scene) []byte { return append(pdftest.Build(pdftest.Options{}), s.signed()...) }, unsigned},
	{incremental, "the title", grown(func(r *revision) { r.set(contractInformation, "Title", "(Another)") }), listed(ades.ChangeMetadata)},
	{incremental, "the title in the metadata", grown(func(r *revision) { r.replace(contractMetadata, xmp("Another", 1)) }), listed(ades.ChangeMetadata)},
	{incremental, "an action when it is opened", grown(func(r *revision) { r.set(catalog, "OpenAction", "<< /S /JavaScript /JS (app.alert\\(1\\)) >>") }), changed(ades.ChangeCatalog)},
	{incremental, "layers", grown(func(r *revision) {
		layer := r.add("<< /Type /OCG /Name (Terms) >>").String()
		r.set(catalog, "OCProperties", "<< /OCGs ["+layer+"] /D << /OFF ["+layer+"] >> >>")
	}), changed(ades.ChangeCatalog)},
}

// grown is the signed contract with a revision.
func grown(change func(*revision)) func(*scene) []byte {
	return revised((*scene).signed, change)
}

// revised is a document with a revision.
func revised(of func(*scene) []byte, change func(*revision)) func(*scene) []byte {
	return func(s *scene) []byte {
		r := newRevision(s.T, of(s))
		change(r)
		return r.written()
	}
}

func (s *scene) formFilling() []byte { return s.certified(pades.FormFilling) }
func (s *scene) annotations() []byte { return s.certified(pades.Annotations) }
func (s *scene) noChanges() []byte   { return s.certified(pades.NoChanges) }

func appended(what string) func(*scene) []byte {
	return func(s *scene) []byte { return append(s.signed(), what...) }
}

// addField lists an object among the fields of the form, and among the annotations of the first page.
func (r *revision) addField(field pdf.Ref) {
	r.Helper()
	r.setForm("Fields", r.fieldsWith(field))
	r.appendTo(page, "Annots", field)
}

// setForm sets an entry of the form, which is in the catalog or an object of its own.
func (r *revision) setForm(key pdf.Name, value string) {
	r.Helper()
	if ref, ok := r.catalog()["AcroForm"].(pdf.Ref); ok {
		r.set(ref.Num, key, value)
		return
	}
	source, err := r.update.Source(pdf.Ref{Num: catalog})
	if err != nil {
		r.Fatal(err)
	}
	form, _, err := pdf.Key(source, "AcroForm")
	if err != nil {
		r.Fatal(err)
	}
	if form, err = pdf.SetKey(form, key, []byte(value)); err != nil {
		r.Fatal(err)
	}
	r.set(catalog, "AcroForm", string(form))
}

// fieldsWith are the fields of the form and more.
func (r *revision) fieldsWith(more ...pdf.Ref) string {
	r.Helper()
	form, err := r.file.Dict(r.catalog()["AcroForm"])
	if err != nil {
		r.Fatal(err)
	}
	fields, err := r.file.Array(form["Fields"])
	if err != nil {
		r.Fatal(err)
	}
	for _, ref := range more {
		fields = append(fields, ref)
	}
	return fmt.Sprint(fields)
}
