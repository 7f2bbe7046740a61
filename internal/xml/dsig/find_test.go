package dsig_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// EN 319 132-1 4.3, 5.2.7.2: which signatures stand among the unsigned properties of another, and as its
// counter-signatures.
func TestFind(t *testing.T) {
	const (
		start = `<Object><x:QualifyingProperties><x:UnsignedProperties><x:UnsignedSignatureProperties>`
		end   = `</x:UnsignedSignatureProperties></x:UnsignedProperties></x:QualifyingProperties></Object>`
	)
	document := `<a xmlns="http://www.w3.org/2000/09/xmldsig#" xmlns:x="http://uri.etsi.org/01903/v1.3.2#">` +
		`<Signature Id="one">` + start +
		`<x:CounterSignature><Signature Id="counter">` + start +
		`<x:CounterSignature><Signature Id="nested"/></x:CounterSignature>` + end + `</Signature></x:CounterSignature>` +
		`<x:Other><Signature Id="other"/></x:Other>` + end + `</Signature>` +
		`<x:CounterSignature><Signature Id="outside"/></x:CounterSignature></a>`
	d, err := xmldoc.Parse([]byte(document))
	if err != nil {
		t.Fatal(err)
	}
	ids := func(all []xmldoc.Node) (ids []string) {
		for _, n := range all {
			id, _ := n.Attr("", "Id")
			of, _ := xmldsig.Countersigned(n).Attr("", "Id")
			ids = append(ids, id+" of "+of)
		}
		return ids
	}
	if diff := cmp.Diff([]string{"one of ", "outside of "}, ids(xmldsig.Find(d))); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if diff := cmp.Diff([]string{"counter of one", "nested of counter", "other of "}, ids(xmldsig.FindUnsigned(d))); diff != "" {
		t.Errorf("unsigned (-want +got):\n%s", diff)
	}
}
