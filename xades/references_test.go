package xades_test

import (
	"crypto/sha256"
	"encoding/base64"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	"github.com/innsigli/innsigli/xades"
)

// TestReferences verifies documents whose signer signs something else than this package would sign. The values are right.
func TestReferences(t *testing.T) {
	t.Parallel()
	xpath := func(expression string) string {
		return fmt.Sprintf(`<ds:Transform Algorithm="http://www.w3.org/TR/1999/REC-xpath-19991116"><ds:XPath>%s</ds:XPath></ds:Transform>`, expression)
	}
	signsInstead := func(old, by string) change { return signs(replace(old, by)) }
	const propertiesType = ` Type="http://uri.etsi.org/01903#SignedProperties"`
	checkChanges(t, newPerson(t, catest.New(t), p256(t)), ades.B, "<contract><price>250000</price></contract>", []changedDocument{
		{"signed again", enveloped, signs(), passes},
		{"XPath that leaves out the signatures", enveloped, signsInstead(filterTransform, xpath("not(ancestor-or-self::ds:Signature)")), passes},
		{"stylesheet", enveloped, signsInstead(filterTransform, styleTransform), notFound},
		{"inclusive canonicalization", detached, signs(after("<internally-detached", ` xmlns:p="urn:p"`), replace(exclusiveTransform, inclusiveTransform)), partial},
		{"URI of a server", enveloped, signsInstead(`URI=""`, `URI="http://example.org/"`), notFound},
		{"no URI", enveloped, signsInstead(` URI=""`, ``), notFound},
		{"Type Object for the document", enveloped, signsInstead(`URI=""`, `Type="http://www.w3.org/2000/09/xmldsig#Object" URI=""`), notFound},
		{"two DigestValues", enveloped, signsInstead(`<ds:DigestValue>`, `<ds:DigestValue></ds:DigestValue><ds:DigestValue>`), notFormatted},
		{"HMAC", enveloped, signsInstead(`xmldsig-more#ecdsa-sha256`, `xmldsig-more#hmac-sha256`), "CRYPTO_CONSTRAINTS_FAILURE_NO_POE PARTIAL"},
		{"SHA-1 for the properties", enveloped, signs(edit(propertyReference, func(s string) string { return strings.Replace(s, sha256Method, sha1Method, 1) })), "CRYPTO_CONSTRAINTS_FAILURE_NO_POE WHOLE_DOCUMENT intact"},
		{"only KeyInfo signed", enveloped, signs(after("<ds:KeyInfo", ` Id="key"`), replace(`URI=""><ds:Transforms>`+filterTransform, `URI="#key"><ds:Transforms>`)), notFound},
		{"only properties signed", enveloped, signs(substitute(documentReference, "")), notFound},

		{"properties not signed", enveloped, signs(substitute(propertyReference, "")), notFoundWhole + " intact"},
		{"no Type for the properties", enveloped, signsInstead(propertiesType, ""), notFoundWhole + " intact"},
		{"two references to the properties", enveloped, signs(substitute(propertyReference, "$0$0")), notFoundWhole + " intact"},
		{"reference to another element", enveloped, signsInstead(`URI="#signed-properties`, `URI="#reference`), notFoundWhole + " intact"},
		{"properties in Base64", enveloped, signs(edit(propertyReference, func(s string) string {
			return strings.Replace(s, exclusiveMethod, "http://www.w3.org/2000/09/xmldsig#base64", 1)
		})), notFoundWhole},

		{"Manifest entry outside of the document", enveloped, signsManifest(referenceTo("", "annex.pdf", "")), partial + " warning"},
		{"two Manifest entries outside of the document", enveloped, signsManifest(referenceTo("", "annex.pdf", "") + referenceTo("", "map.pdf", "")), partial + " warning"},
		{"Manifest entry for a missing element", enveloped, signsManifest(referenceTo("", "#annex", "")), partial + " warning"},
		{"Manifest entry with another digest", enveloped, signsManifest(referenceTo("", "#other", exclusiveTransform)), "HASH_FAILURE WHOLE_DOCUMENT"},
		{"Manifest entry with an unknown transform", enveloped, signsManifest(referenceTo("", "#other", styleTransform)), notFound},
		{"Manifest entry without digest", enveloped, signsManifest(strings.Replace(referenceTo("", "#other", ""), "AAAA", "?", 1)), notFormatted},
		{"empty Manifest", enveloped, signsManifest(""), notFormatted},
		{"Manifest changed", enveloped, all(signsManifest(referenceTo("", "#other", "")), replace(`<ds:DigestValue>AAAA`, `<ds:DigestValue>?`)), hashFailure},
	})
}

// TestFormatOfUnsupportedSignatures checks that the format of a signature does not depend on support for its transforms
// or its version of XAdES (EN 319 132-1 6.3).
func TestFormatOfUnsupportedSignatures(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	for name, b := range map[string][]byte{
		"stylesheet":    signs(replace(filterTransform, styleTransform))(t, p, signed),
		"earlier XAdES": []byte(strings.ReplaceAll(string(signed), "01903/v1.3.2#", "01903/v1.2.2#")),
	} {
		if got := verify(t, b, p.ca)[0]; got.Format != "XAdES-BASELINE-B" || got.SubIndication != ades.SignedDataNotFound {
			t.Errorf("%s: got %s %s, want XAdES-BASELINE-B", name, got.Format, got.SubIndication)
		}
	}
}

// TestComments checks that Verify warns of comments that the signature does not cover: unless the reference and its
// canonicalization keep comments, they can be changed (xmldsig-core1 4.4.3.3, Canonical XML 1.1 2.1).
func TestComments(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	const warned = "TRY_LATER WHOLE_DOCUMENT intact warning, passes"
	keep := all(replace(` URI=""`, ` URI="#xpointer(/)"`), replace(exclusiveTransform, commentTransform))
	alsoWithout := before("</ds:SignedInfo>", referenceTo("", "#b", exclusiveTransform))
	comment := "<!-- 1 -->"
	checkChanges(t, p, ades.B, `<a><b Id="b">to J</b></a>`, []changedDocument{
		{"no comment", enveloped, unchanged, passes},
		{"instruction", enveloped, signs(before("<b ", "<?go 1?>")), passes},
		{"in the content", enveloped, before("J</b>", comment), warned},
		{"before the root", enveloped, before("<a>", comment), warned},
		{"after the root", enveloped, after("</a>", comment), warned},
		{"in a signed element", detached, before("J</b>", comment), warned},
		{"beside a signed element", detached, before("<ds:Signature ", comment), passes},
		{"in a signed Object", enveloping, before("J</b>", comment), warned},
		{"in Base64", enveloping64, before("</ds:Object>"+signatureEnd, comment), partial + " warning"},
		{"in the signature", enveloped, after("<ds:KeyInfo>", comment), passes},
		{"in the signed properties", enveloped, before("<xades:SigningTime>", comment), warned},
		{"kept", enveloped, signs(before("J</b>", comment), keep), passes},
		{"kept, and removed", enveloped, all(signs(before("J</b>", comment), keep), replace(comment, "")), hashFailure},
		{"kept by the canonicalization, not the URI", enveloped, signs(before("J</b>", comment), replace(exclusiveTransform, commentTransform)), warned},
		{"kept by the URI, not the canonicalization", enveloped, signs(before("J</b>", comment), replace(` URI=""`, ` URI="#xpointer(/)"`)), warned},
		{"kept by one reference, dropped by another", enveloped, signs(before("J</b>", comment), keep, alsoWithout), passes},
	})
	file := sign(t, []byte("<a>"+comment+"</a>"), p, enveloping64.options())
	if got := verify(t, file, p.ca)[0]; len(got.Warnings) != 0 {
		t.Errorf("comment in a file in Base64: got warnings %q", got.Warnings)
	}
	if got := verify(t, sign(t, []byte("<a>"+comment+"</a>"), p, xades.Options{}), p.ca)[0]; len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "comments") {
		t.Errorf("got warnings %q, want one of comments", got.Warnings)
	}
}

// countersignature is a signature by a person over an element. Its zero fields put it into the first signature of the
// document, over the value of that signature.
type countersignature struct {
	by          person
	in          int    // number of the signature that it is put into
	value       int    // number of the signature whose value it is over
	over        string // Id of another element that it is over
	withoutType bool
}

// add puts the counter-signature into the unsigned properties of a signature that has none.
func (c countersignature) add(t testing.TB, _ person, b []byte) []byte {
	t.Helper()
	if c.over == "" {
		c.over = string(signatureValue.FindAllSubmatch(b, -1)[c.value][2])
	}
	kind := ` Type="http://uri.etsi.org/01903#CountersignedSignature"`
	if c.withoutType {
		kind = ""
	}
	d := parse(t, b)
	target, ok := d.ByID(c.over)
	if !ok {
		t.Fatalf("the document has no element %q", c.over)
	}
	sum := sha256.Sum256(canonical(t, d, xmldoc.Canonicalization{Method: xmldoc.Exclusive}, xmldoc.Subset{Apex: target}))
	over := edit(documentReference, func(s string) string {
		s = referenceTo(identifier.FindString(s)+kind, "#"+c.over, exclusiveTransform)
		return strings.Replace(s, "AAAA", base64.StdEncoding.EncodeToString(sum[:]), 1)
	})
	counter := wholeSignature.Find(signs(over)(t, c.by, sign(t, []byte("<a/>"), c.by, xades.Options{})))
	parts := strings.SplitAfter(string(b), "</xades:SignedProperties>")
	parts[c.in] += "<xades:UnsignedProperties><xades:UnsignedSignatureProperties><xades:CounterSignature>" + string(counter) +
		"</xades:CounterSignature></xades:UnsignedSignatureProperties></xades:UnsignedProperties>"
	return []byte(strings.Join(parts, ""))
}

// TestCounterSignatures checks that a counter-signature has to be over the value of the signature that it is in (EN 319
// 132-1 5.2.7), as EU DSS does. It covers nothing of the document, and the document passes only if it does.
func TestCounterSignatures(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	second := func(t testing.TB, _ person, b []byte) []byte { return sign(t, b, q, xades.Options{}) }
	typed := countersignature{by: q}.add
	// otherValue gives the counter-signature the value of the signature that it is in.
	otherValue := func(_ testing.TB, _ person, b []byte) []byte {
		value := regexp.MustCompile(`<ds:SignatureValue [^>]*>([^<]*)`)
		return regexp.MustCompile(`(<ds:SignatureValue [^>]*>)[^<]*`).ReplaceAll(b, append([]byte("${1}"), value.FindSubmatch(b)[1]...))
	}
	const signature, counter, wrong = "TRY_LATER WHOLE_DOCUMENT intact", "TRY_LATER PARTIAL intact", "HASH_FAILURE PARTIAL"
	rows := []changedDocument{
		{"with Type", enveloped, typed, signature + "; " + counter + ", passes"},
		{"without Type", enveloped, countersignature{by: q, withoutType: true}.add, signature + "; " + counter + ", passes"},
		{"of a counter-signature", enveloped, all(typed, countersignature{by: p, in: 1, value: 1}.add), signature + "; " + counter + "; " + counter + ", passes"},
		{"in a counter-signature, over the outer value", enveloped, all(typed, countersignature{by: p, in: 1}.add), signature + "; " + counter + "; " + wrong},
		{"beside another signature", enveloped, all(second, typed), signature + "; " + counter + "; " + signature + ", passes"},
		{"over the value of another signature", enveloped, all(second, countersignature{by: q, value: 1}.add), signature + "; " + wrong + "; " + signature},
		{"over another element", enveloped, countersignature{by: q, over: "b"}.add, signature + "; " + wrong},
		{"over another element, without Type", enveloped, countersignature{by: q, over: "b", withoutType: true}.add, signature + "; " + wrong},
		{"with another value", enveloped, all(typed, otherValue), signature + "; SIG_CRYPTO_FAILURE PARTIAL"},
	}
	documents := checkChanges(t, p, ades.B, `<a><b Id="b">c</b></a>`, rows)
	checkChanges(t, p, ades.B, plainContract, []changedDocument{
		{"of a signature that covers a part", detached, all(typed, substitute(element("internally-detached"), "<root>"+forged+"$0</root>")), partial + "; " + counter},
	})
	many := edit(element("xades:CounterSignature"), func(s string) string { return strings.Repeat(s, 600) })(t, p, documents[0])
	if _, err := xades.Verify(t.Context(), document(many), ades.VerifyOptions{}); !errors.Is(err, ades.ErrUnreadable) {
		t.Errorf("600 counter-signatures: got %v, want ErrUnreadable", err)
	}
	compareDSS(t, ca, rows, documents, nil)
}
