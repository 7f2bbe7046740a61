package xades_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

const (
	endOfElement    = "</ds:Signature>"
	endOfQualifying = "</xades:QualifyingProperties>"
	loosePrice      = `<contract xmlns=""><price>1</price></contract>`
)

// behind puts something behind what is there once, or before it.
func behind(old, more string) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte { return altered(t, b, old, old+more) }
}

func before(old, more string) func(t *testing.T, b []byte) []byte {
	return func(t *testing.T, b []byte) []byte { return altered(t, b, old, more+old) }
}

// unsignedProperties are those of a signature of level B, which has none.
func unsignedProperties(inside string) func(t *testing.T, b []byte) []byte {
	return before(endOfQualifying, "<xades:UnsignedProperties>"+inside+"</xades:UnsignedProperties>")
}

func unsignedProperty(inside string) func(t *testing.T, b []byte) []byte {
	return unsignedProperties("<xades:UnsignedSignatureProperties>" + inside + "</xades:UnsignedSignatureProperties>")
}

// unsignedPlaces are those of a signature that nobody signs. What is said there is none of the document's.
var unsignedPlaces = []attack{
	{"element in KeyInfo", enveloped, behind("<ds:KeyInfo>", loosePrice), isTryLater, ades.Partial},
	{"element deep in KeyInfo", enveloped, behind("<ds:X509Data>", loosePrice), isTryLater, ades.Partial},
	{"Object in KeyInfo", enveloped, behind("<ds:KeyInfo>", "<ds:Object>AAAA</ds:Object>"), isTryLater, ades.Partial},
	{"text in KeyInfo", enveloped, behind("<ds:KeyInfo>", "for ten"), isTryLater, ades.Partial},
	{"name of a key", enveloped, behind("<ds:KeyInfo>", "<ds:KeyName>ten</ds:KeyName>"), isTryLater, ades.WholeDocument},
	{"element in QualifyingProperties", enveloped, before(endOfQualifying, loosePrice), isTryLater, ades.Partial},
	{"attribute of QualifyingProperties", enveloped, behind("<xades:QualifyingProperties", ` price="1"`), isTryLater, ades.Partial},
	{"element in UnsignedProperties", enveloped, unsignedProperties(loosePrice), isTryLater, ades.Partial},
	{"property of the data", enveloped, unsignedProperties("<xades:UnsignedDataObjectProperties><xades:UnsignedDataObjectProperty>" +
		loosePrice + "</xades:UnsignedDataObjectProperty></xades:UnsignedDataObjectProperties>"), isTryLater, ades.Partial},
	{"element among unsigned properties", enveloped, unsignedProperty(loosePrice), isTryLater, ades.Partial},
	{"signed properties among unsigned ones", enveloped, unsignedProperty("<xades:SignedProperties/>"), isTryLater, ades.Partial},
	{"element beside a counter-signature", enveloped, unsignedProperty("<xades:CounterSignature>" + loosePrice + "</xades:CounterSignature>"), isTryLater, ades.Partial},
	{"somebody's own unsigned property", enveloped, unsignedProperty(`<p:seen Id="p" xmlns:p="urn:example:property">1</p:seen>`), isTryLater, ades.WholeDocument},
	{"instruction in the signature", enveloping, behind("</ds:KeyInfo>", "<?and ten more?>"), isTryLater, ades.Partial},
	{"language of the document", enveloping, behind("<ds:Signature", ` xml:lang="is"`), isTryLater, ades.Partial},
	{"base of the document", enveloping64, behind("<ds:Signature", ` xml:base="http://example.org/"`), isTryLater, ades.Partial},
	{"attribute of the value", enveloping, behind("<ds:SignatureValue", ` price="1"`), isTryLater, ades.Partial},
	{"attribute of the Base64", enveloping64, behind(`MimeType="text/xml"`, ` price="1"`), isTryLater, ades.Partial},
	{"namespace of the container", detached, behind("<internally-detached", ` xmlns:p="urn:example:price"`), isTryLater, ades.Partial},
	{"comments", detached, behind("<internally-detached>", "<!-- one --> <!-- two -->"), isTryLater, ades.WholeDocument},
}

// Signatures are brought to where they were not made, without a key. No such document passes.
func TestTransplants(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	alice, bob := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	agreement := func(k packing) string {
		return wholeSignature.FindString(string(sign(t, []byte(`<n:note xmlns:n="urn:example:note">agreed</n:note>`), alice, k.options())))
	}
	own, container := sign(t, []byte(contract), bob, xades.Options{}), sign(t, []byte(contract), bob, detached.options())
	two := sign(t, sign(t, []byte(contract), alice, xades.Options{}), bob, xades.Options{})
	at := strings.LastIndex(string(two), "<ds:Signature ")
	end := strings.LastIndex(string(two), endOfElement) + len(endOfElement)
	bobs, rest := string(two[at:end]), []byte(string(two[:at])+string(two[end:]))
	loose := strings.TrimSuffix(bobs, endOfElement) + "<ds:Object>" + forged + "</ds:Object>" + endOfElement

	const whole, partial = ades.WholeDocument, ades.Partial
	for name, test := range map[string]struct {
		b    []byte
		want []ades.Coverage // sorted
	}{
		"beside":                       {altered(t, own, endOfElement, endOfElement+agreement(enveloping)), []ades.Coverage{partial, whole}},
		"Base64 beside":                {altered(t, own, endOfElement, endOfElement+agreement(enveloping64)), []ades.Coverage{partial, whole}},
		"in a container":               {altered(t, container, endOfElement, endOfElement+agreement(enveloping)), []ades.Coverage{partial, whole}},
		"in KeyInfo":                   {altered(t, own, "<ds:KeyInfo>", "<ds:KeyInfo>"+agreement(enveloping)), []ades.Coverage{partial, partial}},
		"in a property":                {unsignedProperty(`<p:x xmlns:p="urn:x">`+bobs+"</p:x>")(t, rest), []ades.Coverage{partial, whole}},
		"in a property, with contract": {unsignedProperty(`<p:x xmlns:p="urn:x">`+loose+"</p:x>")(t, rest), []ades.Coverage{partial, partial}},
		"in another's document":        {inAnothers(t, alice, bob), []ades.Coverage{partial, whole}},
	} {
		report, err := xades.Verify(t.Context(), document(test.b), ades.VerifyOptions{Roots: ca.Roots()})
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []ades.Coverage
		for _, s := range report.Signatures {
			got = append(got, s.Coverage)
			if !s.Passed() || !s.Intact {
				t.Errorf("%s: %s %s, so that there is no attack: %q", name, s.Indication, s.SubIndication, s.Problems)
			}
		}
		if diff := cmp.Diff(test.want, sorted(got)); diff != "" || report.Passed() {
			t.Errorf("%s: passed is %t (-want +got):\n%s", name, report.Passed(), diff)
		}
	}
}

func sorted(all []ades.Coverage) []ades.Coverage {
	if len(all) == 2 && all[0] > all[1] {
		return []ades.Coverage{all[1], all[0]}
	}
	return all
}

// inAnothers is a document that Mallory signs, and beside it another one with another price, in which the
// signature of who signed the first one stands. It still signs the whole document but what is in signatures.
func inAnothers(t *testing.T, signer, mallory person) []byte {
	t.Helper()
	const document = "<contract><price>5</price></contract>"
	theirs := wholeSignature.FindString(string(sign(t, []byte(document), signer, xades.Options{})))
	theirs = strings.Replace(theirs, "<ds:SignatureValue ", "<ds:SignatureValue\n", 1) // which rewritten does not know
	object := `<ds:Object Id="more"><contract><price>1</price>` + theirs + "</contract></ds:Object>"
	b := altered(t, sign(t, []byte(document), mallory, xades.Options{}), endOfElement, object+endOfElement)
	d, err := xmldoc.Parse(b)
	if err != nil {
		t.Fatal(err)
	}
	reference := fmt.Sprintf(`<ds:Reference URI="#more"><ds:Transforms><ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"/></ds:Transforms>`+
		`<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"/><ds:DigestValue>%s</ds:DigestValue></ds:Reference>`, exclusiveSum(t, d, "more"))
	return rewritten(t, b, mallory, "</ds:SignedInfo>", reference+"</ds:SignedInfo>")
}
