package pades_test

import (
	"bytes"
	"crypto/x509"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// What programs of others signed is judged as EU DSS judges it, and with one bit flipped it is
// noticed.
func TestForeignSigners(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	files := everySigner(t, foreignOptions(t, ca, rsaKey(t, 2048)))
	t.Run("verdicts", func(t *testing.T) { checkVerdicts(t, ca, files) })
	for _, f := range files {
		t.Run(f.name, func(t *testing.T) {
			t.Run("signed", func(t *testing.T) { f.flipSigned(t, ca) })
			t.Run("Contents", func(t *testing.T) { f.flipContents(t, ca) })
		})
	}
}

// checkVerdicts trusts nobody, then the authority, which offline knows nothing of revocation: what EU DSS
// has an option for to pass, and to others is to be tried again.
func checkVerdicts(t *testing.T, ca *sandboxca.Authority, files []signedElsewhere) {
	for _, anchors := range [][]*x509.Certificate{nil, {ca.Root()}} {
		var paths []string
		for _, f := range files {
			paths = append(paths, f.path)
		}
		for i, report := range validators.DSS(t, validators.DSSOptions{Roots: anchors, RevocationOptional: true}, paths...) {
			if len(report.Signatures) != 1 {
				t.Fatalf("%s: %+v", files[i].name, report)
			}
			files[i].check(t, anchors, report.Signatures[0])
		}
	}
}

func (f signedElsewhere) check(t *testing.T, anchors []*x509.Certificate, theirs validators.DSSSignature) {
	roots := x509.NewCertPool()
	want := verdict{theirs.Format, theirs.Indication, theirs.SubIndication}
	for _, root := range anchors {
		roots.AddCert(root)
		if want.Indication != string(ades.TotalPassed) {
			t.Errorf("%s: EU DSS: %v", f.name, want)
		}
		want.Indication, want.SubIndication = string(ades.Indeterminate), string(ades.TryLater)
	}
	report, err := pades.Verify(t.Context(), document(f.b), ades.VerifyOptions{Roots: roots})
	if err != nil || len(report.Signatures) != 1 || report.Passed() != (anchors != nil) {
		t.Fatalf("%s: %+v, %v", f.name, report, err)
	}
	s := report.Signatures[0]
	if !s.Intact || s.Coverage != ades.WholeDocument {
		t.Errorf("%s: %s, intact %t", f.name, s.Coverage, s.Intact)
	}
	if diff := cmp.Diff(want, verdict{s.Format, string(s.Indication), string(s.SubIndication)}); diff != "" {
		t.Errorf("%s (-EU DSS +ours):\n%s %v", f.name, diff, s.Problems)
	}
}

// steps are how many bytes there are from one flipped bit to the next: what is signed is long only
// where a font comes with it.
func (f signedElsewhere) steps() (signed, contents int) {
	switch {
	case testenv.Full():
		return 100, 1
	case len(f.b) > 200<<10:
		return 20011, 97
	}
	return 100, 97
}

// flipSigned flips bits in what is covered: whatever comes of it, it is not as it was signed.
func (f signedElsewhere) flipSigned(t *testing.T, ca *sandboxca.Authority) {
	gap, gapEnd, end := gapOf(t, f.b)
	step, _ := f.steps()
	for at := 0; at < end; at += step {
		if at >= gap && at < gapEnd {
			continue
		}
		report, err := pades.Verify(t.Context(), document(flipped(f.b, at, step)), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil {
			continue // unreadable
		}
		if report.Passed() {
			t.Errorf("passed with a bit flipped at %d", at)
		}
		for _, s := range report.Signatures {
			if s.Intact || s.Passed() {
				t.Errorf("%s: intact %t, passed %t with a bit flipped at %d", s.Name, s.Intact, s.Passed(), at)
			}
		}
	}
}

// flipped is a document with another bit in one byte, which varies with its place.
func flipped(b []byte, at, step int) []byte {
	b = bytes.Clone(b)
	b[at] ^= 1 << (at / step % 8)
	return b
}

// flipContents flips bits in the signature itself. What is not signed there, such as padding and the
// timestamp, may be lost; but what passes says of who signed, and when, what it said before.
func (f signedElsewhere) flipContents(t *testing.T, ca *sandboxca.Authority) {
	was := verify(t, f.b, ca)[0]
	gap, gapEnd, _ := gapOf(t, f.b)
	filled := gap + len(bytes.TrimRight(f.b[gap:gapEnd], "0>"))
	_, step := f.steps()
	passed, tried := 0, 0
	for at := gap; at < filled; at += step {
		tried++
		report, err := pades.Verify(t.Context(), document(flipped(f.b, at, step)), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil || !report.Passed() {
			continue
		}
		passed++
		is := report.Signatures[0]
		if !is.BestTime.IsZero() && !is.BestTime.Equal(was.BestTime) {
			t.Errorf("proven at %v instead of %v with a bit flipped at %d", is.BestTime, was.BestTime, at)
		}
		if diff := cmp.Diff(signedPartOf(was), signedPartOf(is)); diff != "" {
			t.Errorf("with a bit flipped at %d:\n%s", at, diff)
		}
	}
	if passed > tried/2 {
		t.Errorf("%d of %d pass", passed, tried)
	}
}

// signedPartOf is what a report says that the signer has signed.
func signedPartOf(s ades.SignatureReport) ades.SignatureReport {
	return ades.SignatureReport{
		Name: s.Name, Intact: s.Intact, Coverage: s.Coverage, CoveredBytes: s.CoveredBytes, Certificate: s.Certificate, Chain: s.Chain,
		Algorithm: s.Algorithm, ClaimedTime: s.ClaimedTime, SignerName: s.SignerName, Reason: s.Reason, Location: s.Location,
	}
}

// verdict is what is said of a signature.
type verdict struct{ Format, Indication, SubIndication string }
