package xades_test

import (
	"slices"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// FuzzVerify verifies arbitrary bytes. No document passes that says something else than one that was signed,
// and a report is whole.
func FuzzVerify(f *testing.F) {
	p := newPerson(f, newAuthority(f), p256(f))
	var signed []content
	for _, k := range packings {
		for _, level := range []ades.Level{ades.B, ades.T, ades.LT, ades.LTA} {
			b := signLevel(f, []byte(contract), p, level, k.options())
			f.Add(b)
			signed = append(signed, contentOf(f, b))
		}
		twice := sign(f, sign(f, []byte(contract), p, k.options()), p, k.options())
		f.Add(twice)
		signed = append(signed, contentOf(f, twice))
	}
	f.Add([]byte(contract))
	f.Fuzz(func(t *testing.T, b []byte) {
		report, err := xades.Verify(t.Context(), document(b), xades.VerifyOptions{Roots: p.ca.Roots()})
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

// isPartOf says whether the document is the same, with some of the signatures.
func (c content) isPartOf(signed content) bool {
	for _, p := range c.properties {
		if !slices.Contains(signed.properties, p) {
			return false
		}
	}
	return c.document == signed.document
}
