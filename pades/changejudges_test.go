package pades_test

import (
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// Why pyHanko says of a signature that something else changed, and all is permitted here.
const (
	partial     = "it covers no revision, or another field has it, which is worse and reported as such"
	seenStamp   = "pyHanko has no field that is seen be added after a certification; table 257 permits to sign, and the change is listed with its page"
	lessProof   = "validation data is gone, which changes nothing that was signed"
	movedObject = "an object is elsewhere, and what it was"
	otherWords  = "the numbers are the same"
	ledToByNone = "nothing leads to the object, which is listed as hidden"
)

// vriGone are files in which each later signature takes entries of VRI away.
var vriGone = []string{"lt-short.pdf"}

var permittedHere = map[string]string{
	"hello_signed_INCSAVE_signed_EDITED.pdf/Signature2": partial, "pades-ocsp-archiveCutOff-invalid.pdf/Signature2": partial,
	"pades-spoofing-replaced-reason.pdf/Signature1": partial, "pdf-byterange-overlap.pdf/Signature2": partial, "siwa.pdf/Signature1": partial,
	"DSS1376-rev_n.pdf/Sig1": seenStamp, "PAdES-LT.pdf/Signature4": lessProof,
	"Signature-P-DE_SCI-4.pdf/Signatur_1459435797602":           movedObject,
	"annotation-and-visible-change.pdf/ES_CERTIFYING_SIGNATURE": ledToByNone,

	"another object that nothing leads to/Signature1": ledToByNone, "the size of all in other words/Signature1": otherWords,
	"the signature is another's/Signature1": partial,
}

// Of what pyHanko takes for another change than form filling, signatures and proof, nothing is
// permitted; and of what both it and EU DSS permit, everything.
func TestChangesOfForeignFiles(t *testing.T) {
	t.Parallel()
	paths, err := filepath.Glob(filepath.Join(testenv.Corpus(t, "signed/pdf"), "*.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	if !testenv.Full() {
		paths = sampleOf(paths, 8)
	}
	compareChanges(t, paths, filepath.Base)
}

// The same of the documents of the table.
func TestChangesByJudges(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, changeable(), p, pades.Options{})
	folder := t.TempDir()
	names := make(map[string]string)
	for i, row := range slices.Concat(changeTable...) {
		if !testenv.Full() && i%6 != 0 {
			continue
		}
		r := newRevision(t, signed)
		row.appends(r)
		path := filepath.Join(folder, fmt.Sprintf("%02d.pdf", i))
		writeFile(t, path, r.written())
		names[path] = row.name
	}
	paths := make([]string, 0, len(names))
	for path := range names {
		paths = append(paths, path)
	}
	slices.Sort(paths)
	compareChanges(t, paths, func(path string) string { return names[path] })
}

func compareChanges(t *testing.T, paths []string, name func(string) string) {
	t.Helper()
	seen := 0
	for i, report := range validators.PyHanko(t, nil, paths...) {
		b, err := os.ReadFile(paths[i])
		if err != nil {
			t.Fatal(err)
		}
		ours, err := pades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: x509.NewCertPool()})
		if err != nil {
			continue
		}
		for _, s := range report.Signatures {
			at := slices.IndexFunc(ours.Signatures, func(o ades.SignatureReport) bool { return o.Name == s.Field })
			if at < 0 || s.ModificationLevel == "" {
				continue
			}
			key := name(paths[i]) + "/" + s.Field
			forbidden := ours.Signatures[at].Forbidden()
			if s.ModificationLevel == "OTHER" {
				seen++
			}
			missed := s.ModificationLevel == "OTHER" && len(forbidden) == 0
			if missed != (permittedHere[key] != "") && !slices.Contains(vriGone, name(paths[i])) {
				t.Errorf("%s: pyHanko says %s; forbidden here are %+v of %+v", key, s.ModificationLevel, forbidden, ours.Signatures[at].Changes)
			}
		}
	}
	t.Logf("figure: pyHanko finds other changes in %d signatures", seen)
}

// sampleOf returns every n-th of all.
func sampleOf(all []string, n int) []string {
	var some []string
	for i := 0; i < len(all); i += n {
		some = append(some, all[i])
	}
	return some
}
