package pades_test

import (
	"crypto/x509"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
)

// A signature of level B that is extended to LTA has document timestamps alone. That is level LTA: the trusted time of
// level T is a signature-time-stamp or a document time-stamp (EN 319 142-1 6.3), validation with time takes signature
// timestamps where there are any (EN 319 102-1 5.5.4), and the document timestamp proves that the signature existed (5.6.2.3).
// EU DSS agrees. pyHanko's validation for the long term ends before it comes to that, whenever the signature has no
// timestamp of its own; one that has is the control.
func TestDocumentTimestampsAlone(t *testing.T) {
	ca := newAuthority(t)
	ca.At("http://sandbox.example") // or pyHanko asks for no revocation
	if _, err := ca.Renew(time.Now()); err != nil {
		t.Fatal(err)
	}
	p := newPerson(t, ca, p256(t))
	folder, blank, roots := t.TempDir(), pdftest.Build(pdftest.Options{}), []*x509.Certificate{ca.Root()}
	tests := []struct {
		name     string
		document []byte
		pyHanko  string
	}{
		{"signed at B, extended to LTA", extend(t, signFor(t, blank, p, ades.B), ades.LTA, ca.Sources(nil)), "INDETERMINATE SIG_CONSTRAINTS_FAILURE"},
		{"signed at LTA", signLevel(t, blank, p, ades.LTA), "PASSED"},
	}
	var paths []string
	for _, test := range tests {
		path := filepath.Join(folder, test.name+".pdf")
		writeFile(t, path, test.document)
		paths = append(paths, path)
		if s := verify(t, test.document, ca)[0]; s.Format != "PAdES-BASELINE-LTA" || s.Indication != ades.TotalPassed || s.BestTime.IsZero() {
			t.Errorf("%s: %s %s %s, existed by %v", test.name, s.Format, s.Indication, s.SubIndication, s.BestTime)
		}
	}
	t.Run("EU DSS", func(t *testing.T) {
		for i, r := range validators.DSS(t, validators.DSSOptions{Roots: roots}, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Format != "PAdES-BASELINE-LTA" || r.Signatures[0].Indication != "TOTAL_PASSED" {
				t.Errorf("%s: %s %+v", tests[i].name, r.Error, r.Signatures)
			}
		}
	})
	t.Run("pyHanko", func(t *testing.T) {
		for i, r := range validators.PyHankoLongTerm(t, roots, paths...) {
			if len(r.Signatures) != 1 || r.Signatures[0].Now != tests[i].pyHanko || !r.Signatures[0].Sufficient {
				t.Errorf("%s: %s %+v, want %s", tests[i].name, r.Error, r.Signatures, tests[i].pyHanko)
			}
		}
	})
}
