package xades_test

import (
	"bytes"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// FuzzExtend raises whatever is accepted with anything behind the signed properties: what was there stays,
// no signature is the worse for it, and then nothing is lacking.
func FuzzExtend(f *testing.F) {
	const end = "</xades:QualifyingProperties>"
	p := newPerson(f, newAuthority(f), p256(f))
	sources := p.ca.Sources(nil)
	signed := signFor(f, []byte(contract), p, ades.B, xades.Options{})
	for _, begun := range beginnings {
		f.Add([]byte(begun))
	}
	for _, level := range []ades.Level{ades.T, ades.LT, ades.LTA} {
		head, tail, _ := bytes.Cut(signed, []byte(end))
		raised := extend(f, signed, level, sources)
		f.Add(bytes.TrimSuffix(bytes.TrimPrefix(raised, head), append([]byte(end), tail...)))
	}
	f.Fuzz(func(t *testing.T, unsigned []byte) {
		b := bytes.Replace(signed, []byte(end), append(bytes.Clone(unsigned), end...), 1)
		revisions, err := xades.Extender{Sources: sources}.Extend(t.Context(), document(b), ades.LTA)
		if err != nil {
			return
		}
		raised := apply(t, b, revisions...)
		before, after := verify(t, b, p.ca), verify(t, raised, p.ca)
		if len(before) != len(after) {
			t.Fatalf("%d signatures, and then %d", len(before), len(after))
		}
		for i := range before {
			if before[i].Name != after[i].Name || before[i].Intact && !after[i].Intact {
				t.Errorf("%+v", after[i])
			}
		}
		if revisions, err := (xades.Extender{Sources: sources}).Extend(t.Context(), document(raised), ades.LTA); err != nil || len(revisions) > 0 {
			t.Errorf("and again: %d revisions, %v", len(revisions), err)
		}
	})
}
