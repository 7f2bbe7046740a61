package dsig_test

import (
	"errors"
	"fmt"
	"testing"

	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	xmldsig "github.com/innsigli/innsigli/internal/xml/dsig"
)

// xmldsig-core1 5.1: a Manifest is read where the signature has it, and as strictly as SignedInfo.
func TestManifest(t *testing.T) {
	const (
		reference = `<Reference URI="#%s"><DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><DigestValue>AAAA</DigestValue></Reference>`
		list      = `<Manifest Id="list">` + reference + `</Manifest>`
		signature = `<a><Signature xmlns="http://www.w3.org/2000/09/xmldsig#"><SignedInfo>
<CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/>
<SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#rsa-sha256"/>` + reference + `</SignedInfo>
<SignatureValue>AAAA</SignatureValue>%s</Signature>%s</a>`
	)
	listed := fmt.Sprintf(list, "b")
	for _, test := range []struct {
		name, inside, beside string
		want                 int // entries
		err                  error
	}{
		{"in an Object", "<Object>" + listed + "</Object>", "", 1, nil},
		{"deeper in an Object", "<Object><b>" + listed + "</b></Object>", "", 0, xmldsig.ErrReference},
		{"beside the signature", "", `<Object xmlns="http://www.w3.org/2000/09/xmldsig#">` + listed + "</Object>", 0, xmldsig.ErrReference},
		{"nowhere", "", "", 0, xmldsig.ErrReference},
		{"something else of that name", `<Object><Manifest xmlns="" Id="list"/></Object>`, "", 0, xmldsig.ErrReference},
		{"something else in it", `<Object><Manifest Id="list"><Object/></Manifest></Object>`, "", 0, xmldsig.ErrFormat},
	} {
		d, err := xmldoc.Parse([]byte(fmt.Sprintf(signature, "list", test.inside, test.beside)))
		if err != nil {
			t.Fatal(err)
		}
		s, err := xmldsig.Read(d, xmldsig.Find(d)[0])
		if err != nil {
			t.Fatal(err)
		}
		if got, err := s.Manifest(s.References[0]); len(got) != test.want || !errors.Is(err, test.err) {
			t.Errorf("%s: %d entries, %v; want %d, %v", test.name, len(got), err, test.want, test.err)
		}
	}
}
