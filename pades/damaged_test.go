package pades_test

import (
	"bytes"
	"errors"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// Only a broken cross-reference of an unsigned document is rebuilt: other readers would not follow the new one. An
// object that cannot be read may be a signature, whose lock is unknown then.
func TestPrepareOfDamagedDocuments(t *testing.T) {
	p := newPerson(t, catest.New(t), p256(t))
	plain := pdftest.Build(pdftest.Options{})
	wrongOffset := func(b []byte) []byte {
		return bytes.ReplaceAll(b, []byte("startxref\n"), []byte("startxref\n1"))
	}
	form := func(objects ...string) []byte {
		return pdftest.Build(pdftest.Options{Catalog: "/AcroForm << /Fields [100 0 R] >>", Objects: objects})
	}
	const (
		field      = "<< /FT /Sig /T (A) /V 101 0 R >>"
		unreadable = " /X 1.2.3 "
	)
	certified := func(permission string) []byte {
		return form(field, fmt.Sprintf("<< /Type /Sig /Reference [<< /TransformMethod /DocMDP /TransformParams << /P %s >> >>] >>", permission))
	}
	for name, tt := range map[string]struct {
		b     []byte
		field string
		want  error
	}{
		"startxref with a wrong offset":             {wrongOffset(plain), "", nil},
		"startxref with a wrong offset, and signed": {wrongOffset(sign(t, plain, p, pades.Options{})), "", ades.ErrUnreadable},
		"entry with a wrong offset":                 {bytes.Replace(plain, []byte("\n10 0 obj"), []byte("\n  10 0 obj"), 1), "", nil},
		"unreadable page, and a readable older one": {appendObjects(t, plain, map[int]string{10: "<< /Type /Page /Parent 2 0 R /X 1.2.3 >>"}), "", ades.ErrUnreadable},
		"unreadable signature":                      {form(field, "<< /Type /Sig"+unreadable+">>"), "", ades.ErrUnreadable},
		"unreadable field":                          {form("<< /FT /Sig /T (A) /V 101 0 R"+unreadable+">>", "<< /Type /Sig >>"), "", ades.ErrUnreadable},
		"unreadable kid of a field":                 {form("<< /T (A) /Kids [101 0 R] >>", "<< /FT /Sig"+unreadable+">>"), "", ades.ErrUnreadable},
		"permission with a fraction":                {certified("1.0"), "", ades.ErrForbidden},
		"permission that is no number":              {certified("/No"), "", ades.ErrUnreadable},
		"lock without an action":                    {form("<< /FT /Sig /T (A) /Lock << /P 1 >> /SV << /Ff 128 /LockDocument /true >> >>"), "A", ades.ErrForbidden},
		"document timestamp with a broken range":    {form(field, "<< /Type /DocTimeStamp /SubFilter /ETSI.RFC3161 /ByteRange [0 1 2 3] /Contents <00> >>"), "", ades.ErrBroken},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := prepare(t, tt.b, p.signer, pades.Options{Field: tt.field}); !errors.Is(err, tt.want) {
				t.Errorf("Prepare: %v, want %v", err, tt.want)
			}
			if bytes.Contains(tt.b, []byte("/AcroForm")) && bytes.Contains(tt.b, []byte(unreadable)) {
				if _, err := pades.Verify(t.Context(), document(tt.b), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
					t.Errorf("Verify: %v, want %v", err, ades.ErrUnreadable)
				}
			}
		})
	}
}
