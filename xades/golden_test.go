package xades_test

import (
	"bytes"
	"crypto/rand"
	"crypto/x509"
	"encoding/json"
	"regexp"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
	"github.com/innsigli/innsigli/xades"
)

// golden is a signature that was prepared and stored by an earlier version, with what it takes to
// complete it.
type golden struct {
	Document []byte          `json:"document"`
	Pending  json.RawMessage `json:"pending"`
	Value    []byte          `json:"value"`
	Signed   []byte          `json:"signed"`
	Root     []byte          `json:"root"` // DER
	Time     time.Time       `json:"time"` // of the signature
}

const goldenFile = "testdata/pending-1.json"

func readGolden(t testing.TB) (g golden) {
	t.Helper()
	encoded := testenv.Golden(t, goldenFile, func() []byte { return makeGolden(t) })
	if err := json.Unmarshal(encoded, &g); err != nil {
		t.Fatal(err)
	}
	return g
}

// What version 1 stored is completed to the same bytes for good. The file is made when it is missing, once
// for each version of the encoding.
func TestStoredPendingStaysReadable(t *testing.T) {
	g := readGolden(t)
	var p xades.Pending
	if err := p.UnmarshalBinary(g.Pending); err != nil {
		t.Fatal(err)
	}
	var stored bytes.Buffer
	if err := json.Compact(&stored, g.Pending); err != nil {
		t.Fatal(err)
	}
	if again, err := p.MarshalBinary(); err != nil || !bytes.Equal(again, stored.Bytes()) {
		t.Errorf("it is encoded in another way than before: %v\n%s", err, again)
	}
	r, err := p.Complete(t.Context(), g.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	signed := apply(t, g.Document, r)
	if diff := cmp.Diff(string(g.Signed), string(signed)); diff != "" {
		t.Error(diff)
	}
	root, err := x509.ParseCertificate(g.Root)
	if err != nil {
		t.Fatal(err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	report, err := xades.Verify(t.Context(), document(signed), ades.VerifyOptions{Roots: roots, Time: g.Time})
	if err != nil || !report.Passed() {
		t.Errorf("%+v, %v", report, err)
	}
}

func makeGolden(t testing.TB) []byte {
	t.Helper()
	person := newPerson(t, newAuthority(t), p256(t))
	g := golden{Document: []byte(contract), Root: person.ca.Root().Raw, Time: time.Now().UTC().Truncate(time.Second)}
	o := xades.Options{City: "Reykjavík", Country: "Ísland", Reason: "Undirritun", Time: g.Time}
	p, err := xades.Prepare(t.Context(), document(g.Document), person.signer, o)
	if err != nil {
		t.Fatal(err)
	}
	if g.Pending, err = p.MarshalBinary(); err != nil {
		t.Fatal(err)
	}
	if g.Value, err = person.key.Sign(rand.Reader, p.Digest().Sum, p.Digest().Algorithm.Hash); err != nil {
		t.Fatal(err)
	}
	r, err := p.Complete(t.Context(), g.Value, nil)
	if err != nil {
		t.Fatal(err)
	}
	g.Signed = apply(t, g.Document, r)
	encoded, err := json.MarshalIndent(g, "", "\t")
	if err != nil {
		t.Fatal(err)
	}
	return encoded
}

// variable is what differs from one signature to the next: identifiers, digests, certificates, values.
var variable = regexp.MustCompile(`-[A-Z2-7]{26}|>[A-Za-z0-9+/]{40,}={0,2}<`)

// canonicalTransform is the transform of every reference to elements.
const canonicalTransform = `<ds:Transform Algorithm="http://www.w3.org/2001/10/xml-exc-c14n#"></ds:Transform>`

// TestText has all that is written, for each packing, with "-X" for identifiers and nothing for the rest.
func TestText(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 6, 17, 12, 30, 15, 0, time.UTC)
	p := newPersonAt(t, newAuthority(t), p256(t), at)
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
