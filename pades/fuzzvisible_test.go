package pades_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/pdflint"
	"github.com/innsigli/innsigli/pades"
)

// FuzzSignVisible shows signatures anywhere in arbitrary bytes, and draws arbitrary bytes.
// Places that every document refuses aside, they are refused with an error that callers
// know, and by Check too if it is not for what is drawn; or signed so that the lint finds no
// fault.
func FuzzSignVisible(f *testing.F) {
	p := newPerson(f, newAuthority(f), p256(f))
	drawing := at(1, 0, 0).Appearance
	for _, kind := range pdftest.Kinds {
		f.Add(pdftest.Build(pdftest.Options{Kind: kind, Pages: 2, Page: "/Annots [] /Rotate 90 /UserUnit 2"}), drawing, 1, 100.0, 100.0, 217.0, 155.0)
	}
	f.Add(pdftest.Archival(pdftest.Archive{Profile: "ua2"}), drawing, 1, 0.0, 0.0, 1e9, 1e-9)
	f.Add(contract(), pdftest.Archival(pdftest.Archive{Profile: "1b"}), 2, -100.0, -100.0, 100.0, 100.0)
	f.Fuzz(func(t *testing.T, b, appearance []byte, page int, llx, lly, urx, ury float64) {
		o := pades.Options{Visible: &pades.Visible{Page: 1, Rect: pades.Rect{LLX: llx, LLY: lly, URX: urx, URY: ury}}}
		if pades.Check(t.Context(), document(contract()), o) != nil {
			return
		}
		o.Visible.Page = page
		checked := pades.Check(t.Context(), document(b), o)
		o.Visible.Appearance = append([]byte{}, appearance...)
		r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, o, ades.Sources{})
		if drawn := !errors.Is(err, pades.ErrAppearance); drawn && (checked == nil) != (err == nil) {
			t.Fatalf("checked: %v, signed: %v", checked, err)
		}
		if err != nil {
			if !refused(err) && !errors.Is(err, pades.ErrPage) && !errors.Is(err, pades.ErrAppearance) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		for _, fault := range pdflint.CheckAt(placeOf(o), b, append(bytes.Clone(b), r.Bytes...)) {
			t.Errorf("%+v", fault)
		}
	})
}
