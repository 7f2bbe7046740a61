package dsig

import (
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// change replaces the first occurrence of a text in a signed document.
type change struct{ old, new string }

// TestTampering signs two elements, changes the document, and checks the error of the verification. Each
// change of a row is made alone.
func TestTampering(t *testing.T) {
	const secondInfo = `<ds:SignedInfo><ds:CanonicalizationMethod Algorithm="` + exclusive + `"/></ds:SignedInfo>`
	const method, digestMethod = more2001 + "ecdsa-sha256", xmlenc + "sha256"
	uris := func(uris ...string) (changes []change) {
		for _, uri := range uris {
			changes = append(changes, change{`URI="#x"`, `URI="` + uri + `"`})
		}
		return changes
	}
	transforms := func(all ...string) (changes []change) {
		for _, one := range all {
			changes = append(changes, change{excC14N, one})
		}
		return changes
	}
	expression := func(text string) string { return transform(transformXPath, `<ds:XPath>`+text+`</ds:XPath>`) }
	after := func(tag, content string) change { return change{tag, tag + content} }
	before := func(tag, content string) change { return change{tag, content + tag} }
	rows := []struct {
		name    string
		want    error
		changes []change
	}{
		// Signed content
		{"signed content changed", ErrDigest, []change{{">text<", ">test<"}, {`Id="x">`, `Id="x" c="d">`}}},
		{"identifiers swapped", ErrDigest, []change{{`<b Id="x">text</b><b Id="y">`, `<b Id="y">text</b><b Id="x">`}}},
		{"content added that is not signed", nil, []change{{">text<", "><!-- comment -->text<"}, after(`<a>`, `<c/>`)}},
		{"identifier of two elements", ErrReference, []change{after(`<a>`, `<c ID="x"/>`), after(`</ds:KeyInfo>`, `<ds:Object><b Id="x">text</b></ds:Object>`)}},
		{"signed element removed", ErrReference, []change{{`<b Id="x">text</b>`, ``}}},

		// Structure (xmldsig-core1 4)
		{"two SignedInfo elements", ErrFormat, []change{before(`<ds:SignedInfo>`, secondInfo), after(`</ds:SignedInfo>`, secondInfo)}},
		{"SignedInfo of another namespace", ErrFormat, []change{before(`<ds:SignedInfo>`, `<SignedInfo/>`), {`<ds:SignedInfo>`, `<ds:SignedInfo xmlns:ds="urn:c">`}}},
		{"elements of a Signature twice or in another order", ErrFormat, []change{
			after(`</ds:SignatureValue>`, `<ds:SignatureValue/>`), after(`</ds:KeyInfo>`, `<ds:KeyInfo/>`), before(`<ds:KeyInfo>`, `<ds:Object/>`),
		}},
		{"unknown element or text", ErrFormat, []change{
			after(`</ds:KeyInfo>`, `<c/>`), after(`</ds:KeyInfo>`, `c`), before(`</ds:SignedInfo>`, `<c/>`), before(`</ds:SignedInfo>`, `c`),
		}},
		{"elements of SignedInfo twice", ErrFormat, []change{
			before(`<ds:CanonicalizationMethod`, `<ds:CanonicalizationMethod Algorithm=""/>`), before(`<ds:SignatureMethod`, `<ds:SignatureMethod Algorithm=""/>`),
		}},
		{"elements of a Reference twice", ErrFormat, []change{
			before(`<ds:DigestMethod`, `<ds:DigestMethod Algorithm=""/>`), after(`</ds:DigestValue>`, `<ds:DigestValue/>`), after(`</ds:Transforms>`, `<ds:Transforms/>`),
		}},
		{"no Transform", ErrFormat, []change{{`<ds:Transforms>` + excC14N + `</ds:Transforms>`, `<ds:Transforms/>`}}},
		{"parameter of a method", ErrFormat, []change{
			{method + `"/>`, method + `"><ds:HMACOutputLength>1</ds:HMACOutputLength></ds:SignatureMethod>`}, {digestMethod + `"/>`, digestMethod + `"><c/></ds:DigestMethod>`},
		}},
		{"unknown canonicalization", ErrTransform, []change{{`<ds:CanonicalizationMethod Algorithm="`, `<ds:CanonicalizationMethod Algorithm="urn:`}}},
		{"white space, comment or Object added", nil, []change{
			after(`</ds:KeyInfo>`, "\n\t "), before(`</ds:SignedInfo>`, `<!-- c -->`), after(`</ds:KeyInfo>`, `<ds:Object>`+secondInfo+`</ds:Object>`),
		}},
		{"instruction in SignedInfo", ades.ErrValue, []change{before(`</ds:SignedInfo>`, `<?c?>`)}},
		{"too many elements", ErrLimit, []change{
			before(`<ds:Reference `, strings.Repeat(`<ds:Reference/>`, maxReferences+1)), before(excC14N, strings.Repeat(enveloped, maxTransforms)),
			after(`<ds:X509Data>`, strings.Repeat(`<ds:X509Certificate/>`, maxCertificates)),
		}},

		// References (4.4.3)
		{"reference without a URI", ErrReference, []change{{` URI="#x"`, ``}}},
		{"reference out of the document", ErrReference, uris("https://example.com/b", "file:///etc/passwd", "b.xml#x")},
		{"reference to no element, or by an unknown pointer", ErrReference, uris("#z", "#", "#xpointer(//b)", "#xpointer(id('x'))xpointer(id('y'))")},
		{"reference to other content", ErrDigest, uris("#y", "")},
		{"same reference in another form", ades.ErrValue, uris("#xpointer(id('x'))")},
		{"reference into the signature, without signatures", ErrReference, []change{{`URI="#x"><ds:Transforms>`, `URI="#sig"><ds:Transforms>` + filter2}}},

		// Transforms (6.6)
		{"unknown transform", ErrTransform, transforms(transform("http://www.w3.org/TR/1999/REC-xslt-19991116"), transform("urn:c"), `<ds:Transform/>`)},
		{"unknown expression", ErrTransform, transforms(expression("self::text()"), expression("not(ancestor-or-self::ds:Signature) and 1"), filter("subtract", "//b"))},
		{"expression with a prefix of another namespace or with none", ErrTransform, transforms(
			transform(transformXPath, `<ds:XPath xmlns:c="urn:c">not(ancestor-or-self::c:Signature)</ds:XPath>`), expression("not(ancestor-or-self::c:Signature)"),
			transform(transformXPath, `<ds:XPath xmlns="`+Namespace+`">not(ancestor-or-self:::Signature)</ds:XPath>`))},
		{"filter that intersects", ErrTransform, transforms(filter("intersect", "/descendant::ds:Signature"))},
		{"transform after one that returns octets", ErrTransform, transforms(excC14N+enveloped, excC14N+excC14N)},
		{"malformed parameters", ErrFormat, transforms(transform(transformXPath, `<ds:XPath/><ds:XPath/>`), transform(transformFilter2),
			expression(`not(ancestor-or-self::ds:Signature)<c/>`), transform(transformEnveloped, `<c/>`),
			strings.Replace(inclusivePrefixes("p"), exclusive, c14n10, 1), strings.Replace(filter2, "</ds:Transform>", "<c/></ds:Transform>", 1))},
		{"too many prefixes", ErrLimit, transforms(inclusivePrefixes(strings.Repeat("p ", maxPrefixes+1)))},
		{"enveloped-signature of an element without the signature", ErrReference, transforms(enveloped)},
		{"base64 of another text", ErrDigest, transforms(decode)},
		{"another canonicalization with the same result", ades.ErrValue, transforms(transform(c14n10))},

		// Digests, values and certificates
		{"malformed base64", ErrFormat, []change{after("<ds:DigestValue>", "*"), after("<ds:SignatureValue>", "*"), before("</ds:DigestValue>", "<c/>")}},
		{"empty digest of a further reference", ErrDigest, []change{before(`<ds:Reference `, reference("#x", excC14N))}},
		{"white space in a digest", ades.ErrValue, []change{after("<ds:DigestValue>", "\n ")}},
		{"another digest method", ErrDigest, []change{{digestMethod, xmlenc + "sha512"}, {digestMethod, Namespace + "sha1"}}},
		{"unknown digest method", ades.ErrAlgorithm, []change{{digestMethod, Namespace + "md5"}}},
		{"unknown signature method", ades.ErrAlgorithm, []change{{method, "urn:c"}, {method, more2001 + "hmac-sha256"}, {method, Namespace + "dsa-sha1"}}},
		{"signature method for another key", ades.ErrAlgorithm, []change{{method, more2001 + "rsa-sha256"}}},
		{"signature method with SHA-1", ades.ErrValue, []change{{method, more2001 + "ecdsa-sha1"}}},
		{"longer value", ades.ErrValue, []change{after("<ds:SignatureValue>", "AAAA")}},
		{"white space or comments in base64", nil, []change{
			after("<ds:SignatureValue>", "\r\n\t "), {"=</ds:DigestValue>", "<!-- c -->=</ds:DigestValue>"}, {"<ds:X509Certificate>MI", "<ds:X509Certificate>M<!-- c -->I"},
		}},
		{"malformed certificate before that of the signer", nil, []change{after("<ds:X509Data>", "<ds:X509Certificate>AAAA</ds:X509Certificate>")}},
	}
	k := newECDSASigner(t)
	signed := k.sign(t, `<a><b Id="x">text</b><b Id="y">other</b>`+k.signature(t, reference("#x", excC14N)+reference("#y", excC14N))+`</a>`)
	if err := verify(t.Context(), signed); err != nil {
		t.Fatal(err)
	}
	for _, row := range rows {
		t.Run(row.name, func(t *testing.T) {
			for _, c := range row.changes {
				if !strings.Contains(signed, c.old) {
					t.Fatalf("the document has no %q", c.old)
				}
				if err := verify(t.Context(), strings.Replace(signed, c.old, c.new, 1)); !errors.Is(err, row.want) {
					t.Errorf("%.200q: got %v, want %v", c.new, err, row.want)
				}
			}
		})
	}
}
