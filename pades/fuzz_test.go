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

// FuzzSign signs arbitrary bytes. They are refused with an error that callers know, or a
// revision comes out in which the lint finds no fault, and which is verified.
func FuzzSign(f *testing.F) {
	p := newPerson(f, newAuthority(f), p256(f))
	for _, kind := range pdftest.Kinds {
		b := pdftest.Build(pdftest.Options{Kind: kind, Catalog: "/AcroForm << /Fields [] /DA (/F 9 Tf) >>", Page: "/Annots []"})
		f.Add(b)
		f.Add(bytes.Replace(b, []byte("startxref\n"), []byte("startxref\n1"), 1)) // to be rebuilt
		f.Add(sign(f, b, p, pades.Options{}))
	}
	f.Add(pdftest.Build(pdftest.Options{
		Catalog: "/AcroForm 100 0 R /StructTreeRoot 103 0 R /Extensions << /ADBE << /BaseVersion /1.7 /ExtensionLevel 3 >> >> /Perms << /UR3 105 0 R >>",
		Page:    "/Annots 102 0 R /StructParents 0",
		Objects: []string{
			"<< /Fields [101 0 R] /SigFlags 1 >>", "<< /FT /Tx /T (a) /Kids [] >>", "[101 0 R]",
			"<< /K 104 0 R /ParentTree << /Nums [0 [104 0 R]] >> /ParentTreeNextKey 1 >>", "<< /S /Document /P 103 0 R >>", "<< /Reference [] >>",
		},
	}))
	f.Fuzz(func(t *testing.T, b []byte) {
		r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Reason: "Read and agreed"}, ades.Sources{})
		if err != nil {
			if !refused(err) {
				t.Fatalf("error of no kind: %v", err)
			}
			return
		}
		signed := append(bytes.Clone(b), r.Bytes...)
		for _, fault := range pdflint.Check(b, signed) {
			t.Errorf("%+v", fault)
		}
		report, err := pades.Verify(t.Context(), document(signed), ades.VerifyOptions{Roots: p.ca.Roots()})
		if err != nil {
			t.Fatal(err)
		}
		if n := len(report.Signatures); n == 0 || !report.Signatures[n-1].Intact || report.Signatures[n-1].Coverage != ades.WholeDocument {
			t.Errorf("%+v", report.Signatures)
		}
	})
}

func refused(err error) bool {
	for _, e := range []error{ades.ErrUnreadable, pades.ErrEncrypted, ades.ErrForbidden, ades.ErrBroken} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}
