package xades_test

import (
	"bytes"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// Signatures that EU DSS made leave out those in the root alone (XPath Filter 2.0). They stand beside one
// another too, and each is raised and renewed by itself.
func TestExtendWithTheFilterOfTheRoot(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	const ofAll, ofRoot = "/descendant::ds:Signature", "/*/ds:Signature"
	one := rewritten(t, sign(t, []byte(contract), p, xades.Options{}), p, ofAll, ofRoot)
	both := sign(t, one, q, xades.Options{})
	raised := renew(t, extend(t, both, ades.LTA, ca.Sources(nil)), ca.Sources(nil))
	if !bytes.Contains(raised, []byte(ofRoot)) {
		t.Fatal("the filter is another one")
	}
	reports := verify(t, raised, ca)
	if len(reports) != 2 {
		t.Fatalf("%d signatures", len(reports))
	}
	for _, r := range reports {
		if r.Format != "XAdES-BASELINE-LTA" || r.Indication != ades.TotalPassed || r.Coverage != ades.WholeDocument || len(r.Timestamps) != 3 {
			t.Errorf("%+v", r)
		}
	}
}
