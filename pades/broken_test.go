package pades_test

import (
	"bytes"
	"errors"
	"testing"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
)

// EN 319 102-1 5.2.2: viewers show the signatures of a document whose cross-reference is broken, and so they are
// reported, as what fails. Without signatures there is nothing to report on.
func TestSignaturesOfABrokenDocument(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	plain := pdftest.Build(pdftest.Options{})
	signed := sign(t, sign(t, plain, p, pades.Options{Reason: "Fyrst"}), p, pades.Options{Reason: "Svo"})
	moved := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("startxref\n"), []byte("startxref\n1")) }
	for name, b := range map[string][]byte{
		"the cross-reference elsewhere": moved(signed),
		"outside of the file":           bytes.ReplaceAll(signed, []byte("startxref\n"), []byte("startxref\n99999")),
		"a form that was moved":         bytes.Replace(signed, []byte("\n1 0 obj"), []byte("\n  1 0 obj"), 1),
	} {
		report, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil || len(report.Signatures) != 2 {
			t.Errorf("%s: %+v, %v", name, report, err)
			continue
		}
		for i, s := range report.Signatures {
			reason := []string{"Fyrst", "Svo"}[i]
			if s.Indication != ades.TotalFailed || s.SubIndication != ades.FormatFailure || s.Format != "PAdES-BASELINE-B" ||
				s.Coverage != ades.Partial || s.Intact || s.Reason != reason || !s.Certificate.Equal(p.signer.Certificate) {
				t.Errorf("%s: %+v", name, s)
			}
		}
		if report.Passed() {
			t.Errorf("%s: passed", name)
		}
	}
	if _, err := pades.Verify(t.Context(), document(moved(plain)), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("without signatures: %v", err)
	}
}
