package xades_test

import (
	"crypto/x509"
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// signedSeeds are documents that somebody signed.
type signedSeeds struct {
	Root      []byte // DER
	Documents [][]byte
}

// FuzzVerify verifies arbitrary bytes. Nothing allocates more than a thousand times the length of the longest. No document passes that says
// something else than one that was signed, and a report is whole.
func FuzzVerify(f *testing.F) {
	seeds := testenv.FuzzShared(f, func() signedSeeds {
		p := newPerson(f, newAuthority(f), p256(f))
		return signedSeeds{p.ca.Root().Raw, verifySeeds(f, p)}
	})
	root, err := x509.ParseCertificate(seeds.Root)
	if err != nil {
		f.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	var signed []content
	for _, b := range seeds.Documents {
		f.Add(b)
		signed = append(signed, contentOf(f, b))
	}
	f.Add([]byte(contract))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > 1<<20 {
			t.Skip("more than what the bounds are for")
		}
		var report *ades.Report
		var err error
		allocated := testenv.Allocated(func() {
			report, err = xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: roots})
		})
		if allocated > 1<<30 {
			t.Errorf("%d MB allocated", allocated>>20)
		}
		if err != nil {
			return
		}
		for _, s := range report.Signatures {
			if s.Indication == "" || s.Format == "" || s.Coverage == "" || s.Intact && s.Certificate == nil {
				t.Errorf("%+v", s)
			}
		}
		if !report.Passed() {
			return
		}
		if c := contentOf(t, b); !slices.ContainsFunc(signed, c.isPartOf) {
			t.Errorf("nobody has signed this:\n%s", b)
		}
	})
}

// verifySeeds are signed documents of each kind.
func verifySeeds(f *testing.F, p person) (seeds [][]byte) {
	for _, k := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			seeds = append(seeds, signLevel(f, []byte(contract), p, level, k.options()))
		}
		seeds = append(seeds, sign(f, sign(f, []byte(contract), p, k.options()), p, k.options()))
	}
	return seeds
}

// isPartOf says whether the document is the same, with some of the signatures.
func (c content) isPartOf(signed content) bool {
	for _, p := range c.properties {
		if !slices.Contains(signed.properties, p) {
			return false
		}
	}
	return c.document == signed.document
}
