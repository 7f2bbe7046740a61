package xades_test

import (
	"fmt"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// A signer may sign something that seems to be a document, too.
func TestSignersWhoSignSomethingElse(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	const filter = `<ds:Transform Algorithm="http://www.w3.org/2002/06/xmldsig-filter2"><dsig-filter2:XPath xmlns:dsig-filter2="http://www.w3.org/2002/06/xmldsig-filter2" Filter="subtract">/descendant::ds:Signature</dsig-filter2:XPath></ds:Transform>`
	xpath := func(expression string) string {
		return fmt.Sprintf(`<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>%s</ds:XPath></ds:Transform>`, expression)
	}
	for _, test := range []struct {
		name, old, replacement string
		want                   ades.SubIndication
	}{
		{"as it was", filter, filter, ades.TryLater},
		{"other transform that says the same", filter, xpath("not(ancestor-or-self::ds:Signature)"), ades.TryLater},
		{"expression that leaves more out", filter, xpath("not(ancestor-or-self::ds:Signature) and not(self::price)"), ades.SignedDataNotFound},
		{"filter that leaves something else out", "/descendant::ds:Signature", "/descendant::price", ades.SignedDataNotFound},
		{"filter that selects", `Filter="subtract"`, `Filter="intersect"`, ades.SignedDataNotFound},
		{"stylesheet", filter, `<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xslt-19991116"/>`, ades.SignedDataNotFound},
		{"file", `URI=""`, `URI="file:///etc/hostname"`, ades.SignedDataNotFound},
		{"address", `URI=""`, `URI="http://example.org/"`, ades.SignedDataNotFound},
		{"no URI", ` URI=""`, ``, ades.SignedDataNotFound},
		{"expression of XPointer", `URI=""`, `URI="#xpointer(//price)"`, ades.SignedDataNotFound},
		{"digest of nothing", `<ds:DigestValue>`, `<ds:DigestValue></ds:DigestValue><ds:DigestValue>`, ades.FormatFailure},
		{"properties not signed", `Type="http://uri.etsi.org/01903#SignedProperties"`, ``, ades.SignedDataNotFound},
		{"secret for a key", `http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256`, `http://www.w3.org/2001/04/xmldsig-more#hmac-sha256`, ades.CryptoConstraintsFailureNoPOE},
		{"document for an object", `URI=""`, `Type="http://www.w3.org/2000/09/xmldsig#Object" URI=""`, ades.SignedDataNotFound},
	} {
		b := rewritten(t, sign(t, []byte(contract), p, xades.Options{}), p, test.old, test.replacement)
		got := verify(t, b, p.ca)
		if len(got) != 1 || got[0].SubIndication != test.want {
			t.Errorf("%s: %+v, want %s", test.name, got, test.want)
		}
	}
}

// Only the signature's own parts: nothing is signed that anybody would read.
func TestNothingIsSigned(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	data := regexp.MustCompile(`(?s)<ds:Reference Id=.*?</ds:Reference>`).FindString(string(signed))
	for name, b := range map[string][]byte{
		"properties alone": rewritten(t, signed, p, data, ""),
		"KeyInfo":          rewritten(t, altered(t, signed, "<ds:KeyInfo>", `<ds:KeyInfo Id="key">`), p, `URI=""`, `URI="#key"`),
	} {
		report := ades.Report{Signatures: verify(t, b, p.ca)}
		if got := report.Signatures[0]; got.Passed() || got.Intact || got.Coverage != ades.Partial || report.Passed() {
			t.Errorf("%s: %+v", name, got)
		}
	}
}
