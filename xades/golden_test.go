package xades_test

import (
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/adestest"
	catest "github.com/innsigli/innsigli/internal/test/ca"
)

const goldenFile = "testdata/pending-1.json"

// readGolden reads the signature that version 1 stored.
func readGolden(t testing.TB) adestest.Stored { return adestest.ReadStored(t, goldenFile) }

// variable matches what differs from one signature to the next: identifiers, digests, certificates,
// values.
var variable = regexp.MustCompile(`-[A-Z2-7]{26}|>[A-Za-z0-9+/]{40,}={0,2}<`)

// canonicalTransform is the transform of every reference to elements.
const canonicalTransform = `<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform>`

// The whole text of a signature in each packing is as written here, with "-X" for identifiers and
// nothing for digests, certificates and values.
func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 17, 12, 30, 15, 0, time.UTC)
	p := newPersonAt(t, catest.New(t), p256(t), at)
	const (
		decode = `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#base64"></ds:Transform>`
		object = ` Type="http://www.w3.org/2000/09/xmldsig#Object"`
	)
	for name, tt := range map[string]struct {
		packing packing
		level   ades.Level
		want    string
	}{
		"enveloped": {packings[0], ades.B, `<a>` + wantSignature("", "", filterTransform+canonicalTransform, "", "") + endOfSignature + `</a>`},
		"enveloping": {packings[1], ades.B, wantSignature(object, "#document-X", canonicalTransform, "", "") +
			`<ds:Object Id="document-X"><a></a></ds:Object>` + endOfSignature},
		"enveloping base64": {packings[2], ades.B, declaration +
			wantSignature(object, "#document-X", decode, `<xades:Encoding>http://www.w3.org/2000/09/xmldsig#base64</xades:Encoding>`, "") +
			`<ds:Object Id="document-X" MimeType="text/xml" Encoding="http://www.w3.org/2000/09/xmldsig#base64">PGE+PC9hPg==</ds:Object>` + endOfSignature},
		"internally detached": {packings[3], ades.B, `<internally-detached><signed-document Id="document-X"><a></a></signed-document>` +
			wantSignature("", "#document-X", canonicalTransform, "", "") + endOfSignature + `</internally-detached>`},
		"timestamp": {packings[0], ades.T, `<a>` + wantSignature("", "", filterTransform+canonicalTransform, "", `<xades:UnsignedProperties><xades:UnsignedSignatureProperties>`+
			`<xades:SignatureTimeStamp Id="signature-timestamp-X"><ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:CanonicalizationMethod><xades:EncapsulatedTimeStamp></xades:EncapsulatedTimeStamp></xades:SignatureTimeStamp>`+
			`</xades:UnsignedSignatureProperties></xades:UnsignedProperties>`) + endOfSignature + `</a>`},
	} {
		o := tt.packing.options()
		o.Time, o.City, o.Country, o.Reason = at, "Höfn", "Ísland", "Undirritun"
		signed := signFor(t, []byte("<a></a>"), p, tt.level, o)
		got := variable.ReplaceAllStringFunc(string(signed), func(s string) string {
			if s[0] == '-' {
				return "-X"
			}
			return "><"
		})
		if diff := cmp.Diff(tt.want, got); diff != "" {
			t.Errorf("%s: %s", name, diff)
		}
	}
}

const endOfSignature = `</ds:Signature>`

// wantSignature is a signature up to its end tag, or the document's object.
func wantSignature(kind, uri, transforms, encoding, unsigned string) string {
	const digest = `<ds:DigestMethod Algorithm="http://www.w3.org/2001/04/xmlenc#sha256"></ds:DigestMethod><ds:DigestValue></ds:DigestValue>`
	return `<ds:Signature xmlns:ds="http://www.w3.org/2000/09/xmldsig#" Id="signature-X"><ds:SignedInfo>` +
		`<ds:CanonicalizationMethod Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:CanonicalizationMethod>` +
		`<ds:SignatureMethod Algorithm="http://www.w3.org/2001/04/xmldsig-more#ecdsa-sha256"></ds:SignatureMethod>` +
		`<ds:Reference Id="reference-X"` + kind + ` URI="` + uri + `"><ds:Transforms>` + transforms + `</ds:Transforms>` + digest + `</ds:Reference>` +
		`<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties" URI="#signed-properties-X"><ds:Transforms>` + canonicalTransform + `</ds:Transforms>` + digest + `</ds:Reference>` +
		`</ds:SignedInfo><ds:SignatureValue Id="value-X"></ds:SignatureValue>` +
		`<ds:KeyInfo><ds:X509Data><ds:X509Certificate></ds:X509Certificate><ds:X509Certificate></ds:X509Certificate><ds:X509Certificate></ds:X509Certificate></ds:X509Data></ds:KeyInfo>` +
		`<ds:Object><xades:QualifyingProperties xmlns:xades="http://uri.etsi.org/01903/v1.3.2#" Target="#signature-X">` +
		`<xades:SignedProperties Id="signed-properties-X"><xades:SignedSignatureProperties>` +
		`<xades:SigningTime>2026-06-17T12:30:15Z</xades:SigningTime>` +
		`<xades:SigningCertificateV2><xades:Cert><xades:CertDigest>` + digest + `</xades:CertDigest></xades:Cert></xades:SigningCertificateV2>` +
		`<xades:SignatureProductionPlaceV2><xades:City>H&#xF6;fn</xades:City><xades:CountryName>&#xCD;sland</xades:CountryName></xades:SignatureProductionPlaceV2>` +
		`</xades:SignedSignatureProperties><xades:SignedDataObjectProperties>` +
		`<xades:DataObjectFormat ObjectReference="#reference-X"><xades:MimeType>text/xml</xades:MimeType>` + encoding + `</xades:DataObjectFormat>` +
		`<xades:CommitmentTypeIndication><xades:CommitmentTypeId><xades:Identifier>http://uri.etsi.org/01903/v1.2.2#ProofOfApproval</xades:Identifier>` +
		`<xades:Description>Undirritun</xades:Description></xades:CommitmentTypeId><xades:AllSignedDataObjects></xades:AllSignedDataObjects></xades:CommitmentTypeIndication>` +
		`</xades:SignedDataObjectProperties></xades:SignedProperties>` + unsigned + `</xades:QualifyingProperties></ds:Object>`
}
