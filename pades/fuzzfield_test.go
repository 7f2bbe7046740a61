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

// FuzzSignField signs the field "Buyer" of arbitrary bytes. They are refused with an error
// that callers know, or signed so that no byte changes, the lint finds no fault, and the
// signature is the field's.
func FuzzSignField(f *testing.F) {
	ca := newAuthority(f)
	p := newPerson(f, ca, p256(f))
	for _, shape := range fieldShapes {
		built := pdftest.Build(shape.options)
		f.Add(built)
		f.Add(bytes.Replace(built, []byte("102 0 obj"), []byte("102 0 Ubj"), 1)) // a widget that cannot be read
		f.Add(withoutTable(bytes.ReplaceAll(built, []byte("3 0 obj"), []byte("3 5 obj"))))
	}
	f.Add(seeded("<< /Ff 511 /Filter /Adobe.PPKLite /SubFilter [/ETSI.CAdES.detached] /Reasons [(.)] /MDP << /P 0 >> /Cert << /Ff 127 /SubjectDN [<< /cn (x) >>] /KeyUsage [(01)] >> >>"))
	f.Add(sign(f, pdftest.Build(lockedForm("<< /Action /Include /Fields [(Second)] /P 2 >>")), p, pades.Options{Field: "First"}))
	f.Add(sign(f, form(), p, pades.Options{Certify: pades.FormFilling}))
	f.Fuzz(func(t *testing.T, b []byte) {
		before := bytes.Clone(b)
		r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Field: "Buyer", Appearance: contract()}, ades.Sources{})
		if !bytes.Equal(b, before) {
			t.Error("the document was changed")
		}
		if err != nil {
			if !refused(err) && !errors.Is(err, pades.ErrField) && !errors.Is(err, pades.ErrAppearance) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		signed := append(before, r.Bytes...)
		for _, fault := range pdflint.Check(b, signed) {
			t.Errorf("%+v", fault)
		}
		for _, s := range verify(t, signed, ca) {
			if s.Name == "Buyer" && s.Passed() {
				return
			}
		}
		t.Error("the field has no valid signature")
	})
}

// withoutTable is a file whose contents are a stream that has no end, and which has no cross-reference table.
func withoutTable(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte("\nxref\n"))
	return bytes.Replace(b, []byte("endstream"), nil, 1)
}
