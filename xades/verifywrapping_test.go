package xades_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// parts of signed documents of which attacks are made.
var (
	wholeSignature   = regexp.MustCompile(`(?s)<ds:Signature .*</ds:Signature>`)
	qualifying       = regexp.MustCompile(`(?s)<xades:QualifyingProperties .*</xades:QualifyingProperties>`)
	signedProperties = regexp.MustCompile(`(?s)<xades:SignedProperties .*</xades:SignedProperties>`)
	signedInfo       = regexp.MustCompile(`(?s)<ds:SignedInfo>.*</ds:SignedInfo>`)
	keyInfo          = regexp.MustCompile(`(?s)<ds:KeyInfo>.*</ds:KeyInfo>`)
	signedObject     = regexp.MustCompile(`(?s)<ds:Object Id=.*?</ds:Object>`)
	contained        = regexp.MustCompile(`(?s)<signed-document .*</signed-document>`)
	identifier       = regexp.MustCompile(` (Id|Target)="[^"]*"`)
)

const forged = `<contract xmlns="urn:example:contract" number="17"><price currency="ISK">1</price></contract>`

// replaced is a document with a part that something else is made of.
func replaced(t testing.TB, b []byte, part *regexp.Regexp, by func(part string) string) []byte {
	t.Helper()
	at := part.FindIndex(b)
	if at == nil {
		t.Fatalf("%v is not there", part)
	}
	return bytes.Join([][]byte{b[:at[0]], []byte(by(string(b[at[0]:at[1]]))), b[at[1]:]}, nil)
}

// attack is what somebody without the key makes of a signed document.
type attack struct {
	name    string
	packing packing
	attack  func(t *testing.T, b []byte) []byte
	want    ades.SubIndication // of the first signature
	covers  ades.Coverage
}

var (
	enveloped, enveloping, enveloping64, detached = packings[0], packings[1], packings[2], packings[3]

	// isTryLater is what a signature of level B comes to with which nothing is wrong.
	isTryLater = ades.TryLater
)

var wrappings = []attack{
	{"nothing", enveloped, func(_ *testing.T, b []byte) []byte { return b }, isTryLater, ades.WholeDocument},
	{"content changed", enveloped, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "250000", "250001")
	}, ades.HashFailure, ades.Partial},
	{"signature in another document", enveloped, func(t *testing.T, b []byte) []byte {
		return []byte("<contract>" + string(wholeSignature.Find(b)) + "</contract>")
	}, ades.HashFailure, ades.Partial},
	{"stylesheet before the root", enveloped, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "<contract ", `<?xml-stylesheet href="#"?><contract `)
	}, ades.HashFailure, ades.Partial},
	{"object beside what is signed", enveloped, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "</ds:Signature>", "<ds:Object>"+forged+"</ds:Object></ds:Signature>")
	}, isTryLater, ades.Partial},

	{"element around the document, signed one kept", detached, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, contained, func(s string) string {
			return "<signed-document>" + forged + "</signed-document><kept>" + s + "</kept>"
		})
	}, isTryLater, ades.Partial},
	{"another root around the container", detached, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, regexp.MustCompile(`(?s)<internally.*>`), func(s string) string { return "<root>" + forged + s + "</root>" })
	}, isTryLater, ades.Partial},
	{"text beside what is signed", detached, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "</signed-document>", "</signed-document>and ten more")
	}, isTryLater, ades.Partial},
	{"instruction beside what is signed", detached, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "</signed-document>", "</signed-document><?and ten more?>")
	}, isTryLater, ades.Partial},
	{"instruction before the container", detached, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "<internally-detached>", `<?xml-stylesheet href="#"?><internally-detached>`)
	}, isTryLater, ades.Partial},
	{"container that says something", detached, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "<internally-detached>", `<internally-detached price="1">`)
	}, isTryLater, ades.Partial},
	{"identifier twice", detached, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, contained, func(s string) string {
			return strings.Replace(s, string(signedContract.FindString(s)), forged, 1) + s
		})
	}, ades.FormatFailure, ades.Partial},
	{"identifier twice, by another name", detached, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, contained, func(s string) string {
			return strings.Replace(s[:strings.Index(s, ">")], " Id=", " xml:id=", 1) + ">" + forged + "</signed-document>" + s
		})
	}, ades.FormatFailure, ades.Partial},

	{"another object", enveloping, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedObject, func(s string) string { return "<ds:Object>" + forged + "</ds:Object>" + s })
	}, isTryLater, ades.Partial},
	{"signed object elsewhere", enveloping, func(t *testing.T, b []byte) []byte {
		object := string(signedObject.Find(b))
		b = replaced(t, b, signedObject, func(string) string { return "<ds:Object>" + forged + "</ds:Object>" })
		return replaced(t, b, wholeSignature, func(s string) string {
			return `<root xmlns:ds="http://www.w3.org/2000/09/xmldsig#">` + object + s + "</root>"
		})
	}, ades.SignedDataNotFound, ades.Partial},
	{"signature in a document", enveloping, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, wholeSignature, func(s string) string { return "<root>" + forged + s + "</root>" })
	}, isTryLater, ades.Partial},
	{"container with nothing in it", enveloping, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, wholeSignature, func(s string) string { return "<internally-detached>" + s + "</internally-detached>" })
	}, isTryLater, ades.Partial},
	{"stylesheet before the signature", enveloping, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "<ds:Signature ", `<?xml-stylesheet href="#"?><ds:Signature `)
	}, isTryLater, ades.Partial},
	{"content beside the properties", enveloping, func(t *testing.T, b []byte) []byte {
		return altered(t, b, "</xades:QualifyingProperties>", "</xades:QualifyingProperties>"+forged)
	}, isTryLater, ades.Partial},
	{"object that is referred to gone", enveloping, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedObject, func(string) string { return "" })
	}, ades.SignedDataNotFound, ades.Partial},
	{"element around the Base64", enveloping64, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedObject, func(s string) string {
			at := strings.Index(s, ">") + 1
			return s[:at] + "<b>" + strings.Replace(s[at:], "<", "</b><", 1)
		})
	}, isTryLater, ades.Partial},
	{"Base64 of something else", enveloping64, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedObject, func(s string) string { return s[:strings.Index(s, ">")+1] + "AAAA</ds:Object>" })
	}, ades.HashFailure, ades.Partial},

	{"another type of the object", enveloping64, func(t *testing.T, b []byte) []byte {
		return altered(t, b, `MimeType="text/xml"`, `MimeType="text/html"`)
	}, isTryLater, ades.Partial},

	{"properties twice, others first", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, qualifying, func(s string) string {
			return identifier.ReplaceAllString(strings.Replace(s, "Reykjavík", "Akureyri", 1), "") + s
		})
	}, ades.SignedDataNotFound, ades.Partial},
	{"properties twice, each for this signature", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, qualifying, func(s string) string { return s + "</ds:Object><ds:Object>" + strings.Replace(s, " Id=", " Other=", 1) })
	}, ades.SignedDataNotFound, ades.Partial},
	{"signed properties elsewhere", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, qualifying, func(s string) string {
			other := signedProperties.ReplaceAllStringFunc(s, func(p string) string { return identifier.ReplaceAllString(p, "") })
			kept := strings.Replace(signedProperties.FindString(s), " ", ` xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" `, 1)
			return other + "</ds:Object><ds:Object>" + kept
		})
	}, ades.SignedDataNotFound, ades.WholeDocument},
	{"signed properties twice", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedProperties, func(s string) string { return identifier.ReplaceAllString(s, "") + s })
	}, ades.SignedDataNotFound, ades.WholeDocument},
	{"properties for another signature", enveloped, func(t *testing.T, b []byte) []byte {
		return altered(t, b, `Target="#`, `Target="#other-`)
	}, ades.SignedDataNotFound, ades.Partial},
	{"signed properties gone", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedProperties, func(string) string { return "" })
	}, ades.SignedDataNotFound, ades.WholeDocument},
	{"SignedInfo twice", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, signedInfo, func(s string) string { return s + s })
	}, ades.FormatFailure, ades.Partial},
	{"certificate of somebody else", enveloped, func(t *testing.T, b []byte) []byte {
		other := newPerson(t, newAuthority(t), p256(t))
		theirs := keyInfo.FindString(string(sign(t, []byte(contract), other, xades.Options{})))
		return replaced(t, b, keyInfo, func(string) string { return theirs })
	}, ades.NoSigningCertificateFound, ades.WholeDocument},
	{"no certificate", enveloped, func(t *testing.T, b []byte) []byte {
		return replaced(t, b, keyInfo, func(string) string { return "" })
	}, ades.NoSigningCertificateFound, ades.WholeDocument},
	{"comment in the value", enveloped, func(t *testing.T, b []byte) []byte {
		return signatureValue.ReplaceAll(b, []byte("${0}<!-- AAAA -->"))
	}, isTryLater, ades.WholeDocument},
}

var signedContract = regexp.MustCompile(`(?s)<contract .*</contract>`)

// What is made of a signed document without the key says nothing that was not signed, or is noticed (section 3.3
// of XML Signature Best Practices; the attacks are those on SAML and on XAdES that are known).
func TestWrapping(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	signed := make(map[string][]byte)
	for _, k := range packings {
		o := k.options()
		o.City = "Reykjavík"
		signed[k.name] = sign(t, []byte(contract), p, o)
	}
	for _, a := range slices.Concat(wrappings, unsignedPlaces) {
		b := a.attack(t, bytes.Clone(signed[a.packing.name]))
		report, err := xades.Verify(t.Context(), document(b), ades.VerifyOptions{Roots: p.ca.Roots()})
		if err != nil || len(report.Signatures) == 0 {
			t.Errorf("%s: %v, %+v", a.name, err, report)
			continue
		}
		got := report.Signatures[0]
		if diff := cmp.Diff([]any{a.want, a.covers}, []any{got.SubIndication, got.Coverage}); diff != "" {
			t.Errorf("%s (-want +got):\n%s%q\n%s", a.name, diff, got.Problems, b)
		}
		if sound := a.want == isTryLater && a.covers == ades.WholeDocument; report.Passed() != sound {
			t.Errorf("%s: passed is %t", a.name, report.Passed())
		}
	}
}
