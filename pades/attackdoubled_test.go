package pades_test

import (
	"strings"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pdf"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// doubledKeys are dictionaries with a key twice: ISO 32000-2 7.3.7 does not say which counts, and readers differ.
var doubledKeys = []attack{
	{structural, "a page with two contents", grown(pageWithBoth), changed(ades.ChangeUnknown)},
	{structural, "a page with two contents behind a timestamp that is none", grown(func(r *revision) {
		stamp := r.add(stampField)
		r.setForm("Fields", r.fieldsWith(stamp))
		r.appendTo(page, "Annots", stamp)
		pageWithBoth(r)
	}), changed(ades.ChangeUnknown)},
	{structural, "a page without contents and with them", grown(func(r *revision) { r.doubled(page, "/Contents null") }), changed(ades.ChangeUnknown)},
	{structural, "a page with two resources in one another", grown(func(r *revision) {
		source := string(r.source(page))
		r.replace(page, strings.Replace(source, "/XObject <<", "/XObject << /Total "+r.addStream(wholePage, drawing).String(), 1))
	}), changed(ades.ChangeUnknown)},
	{structural, "a page with two contents in an object stream", revised((*scene).streams, func(r *revision) {
		pageWithBoth(r)
	}), changed(ades.ChangeUnknown)},
	{structural, "a page that was signed with two contents, one of which comes later", revised((*scene).twoContents, func(r *revision) {
		r.replace(200, stream("", drawing))
	}), changed(ades.ChangeUnknown)},
	{structural, "a page that was signed with two contents, one of which is filled in", revised((*scene).twoContents, func(r *revision) {
		r.set(first, "V", "(2)")
		r.replace(first+1, stream(wholePage, drawing))
	}), changed(ades.ChangeUnknown)},
}

// doubled puts an entry before those that an object has.
func (r *revision) doubled(num uint32, entry string) {
	r.Helper()
	r.replace(num, strings.Replace(string(r.source(num)), "<<", "<< "+entry, 1))
}

func pageWithBoth(r *revision) { r.doubled(page, "/Contents "+r.addStream("", drawing).String()) }

// twoContents is a document whose signer knew what readers differ in.
func (s *scene) twoContents() []byte {
	return s.once("two contents", func() []byte {
		r := newRevision(s.T, pdftest.Build(pdftest.Options{
			Catalog: "/AcroForm << /Fields [100 0 R] >>",
			Page:    "/Annots [100 0 R]",
			Objects: []string{
				"<< /Type /Annot /Subtype /Widget /FT /Tx /T (Amount) /V (1) /Rect [9 9 90 20] /P 10 0 R /AP << /N 101 0 R >> >>",
				stream(wholePage, ""),
			},
		}))
		r.doubled(page, "/Contents [101 0 R 200 0 R]")
		r.update.Set(pdf.Ref{Num: 200}, []byte("null"))
		return sign(s, r.written(), s.signer, pades.Options{})
	})
}
