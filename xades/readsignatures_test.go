package xades

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// signedBy is a document with a signature of somebody else each time.
func signedBy(t testing.TB, ca *sandboxca.Authority, doc string, o Options) string {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	in := Document{strings.NewReader(doc), int64(len(doc))}
	pending, err := Prepare(t.Context(), in, ades.Signer{Certificate: cert, Chain: ca.Chain()}, o)
	if err != nil {
		t.Fatal(err)
	}
	r, err := pending.Sign(t.Context(), key, ca.Sources(nil).Time)
	if err != nil {
		t.Fatal(err)
	}
	next := in.With(r)
	var b bytes.Buffer
	if _, err := io.Copy(&b, io.NewSectionReader(next, 0, next.Size)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func newAuthority(t testing.TB) *sandboxca.Authority {
	t.Helper()
	ca, err := sandboxca.New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func readAll(t testing.TB, doc string) []signature {
	t.Helper()
	d, err := xmldoc.Parse([]byte(doc))
	if err != nil {
		t.Fatal(err)
	}
	all, err := readSignatures(t.Context(), d)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// reading is what is found of a signature.
type reading struct {
	Fault, Irregular bool
	Signed, Named    bool // there are properties that are signed, and they name the signer
	Signer           bool // is found
	Stamps           int
	Reason           string
}

func (s *signature) reading() reading {
	return reading{
		s.fault != nil, s.irregularity != nil, s.properties != none, s.signerNamed, s.signer != nil, len(s.signatureTimestamps), s.reason,
	}
}

var (
	properties = regexp.MustCompile(`<xades:SignedProperties.*</xades:SignedProperties>`)
	qualifying = regexp.MustCompile(`<xades:QualifyingProperties.*</xades:QualifyingProperties>`)
	keyInfos   = regexp.MustCompile(`<ds:KeyInfo>.*</ds:KeyInfo>`)
	firstCert  = regexp.MustCompile(`<ds:X509Certificate>[^<]*</ds:X509Certificate>`)
	identifier = regexp.MustCompile(` Id="[^"]*"`)
)

// Properties are those of a signature only where it signs them: wrapped, doubled and moved ones are not.
func TestReadProperties(t *testing.T) {
	t.Parallel()
	whole := signedBy(t, newAuthority(t), `<a>b</a>`, Options{Level: ades.T, Reason: "Samþykkt"})
	replace := func(old, new string) func(string) string {
		return func(s string) string { return strings.Replace(s, old, new, 1) }
	}
	elsewhere := identifier.ReplaceAllString(properties.FindString(whole), "")
	good := reading{Signed: true, Named: true, Signer: true, Stamps: 1, Reason: "Samþykkt"}
	unsigned := reading{Irregular: true, Signer: true, Stamps: 1}
	other := reading{Irregular: true, Stamps: 1} // the value is over another SignedInfo
	without := reading{Irregular: true, Signer: true}
	for name, row := range map[string]struct {
		change func(string) string
		want   reading
	}{
		"as it was signed":            {func(s string) string { return s }, good},
		"reference to elsewhere":      {replace(`URI="#signed-properties`, `URI="#reference`), other},
		"reference of another type":   {replace(`#SignedProperties"`, `#Other"`), other},
		"two references":              {func(s string) string { return doubled(s, `<ds:Reference Type="`, `</ds:Reference>`) }, other},
		"reference in Base64":         {func(s string) string { return inBase64(s) }, other},
		"target of another signature": {replace(`Target="#`, `Target="#x`), without},
		"signature without an Id":     {replace(` Id="signature-`, ` ID2="signature-`), without},
		"two QualifyingProperties": {func(s string) string {
			return strings.Replace(s, "</ds:Signature>", "<ds:Object>"+identifier.ReplaceAllString(qualifying.FindString(s), "")+"</ds:Object></ds:Signature>", 1)
		}, without},
		"two SignedProperties": {replace("<xades:SignedProperties", elsewhere+"<xades:SignedProperties"), unsigned},
		"two UnsignedProperties": {replace("<xades:UnsignedProperties", "<xades:UnsignedProperties/><xades:UnsignedProperties"),
			reading{Irregular: true, Signed: true, Named: true, Signer: true, Reason: "Samþykkt"}},
		"properties deeper in the object": {func(s string) string {
			return qualifying.ReplaceAllString(s, "<b>"+strings.ReplaceAll(qualifying.FindString(s), "$", "$$")+"</b>")
		}, without},
		"properties outside of the signature": {func(s string) string {
			return strings.Replace(strings.Replace(s, qualifying.FindString(s), "", 1), "<a>", `<a xmlns:ds="http://www.w3.org/2000/09/xmldsig#">`+qualifying.FindString(s), 1)
		}, without},
		"another certificate named": {replace("<xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"></ds:DigestMethod><ds:DigestValue>", "<xades:Cert><xades:CertDigest><ds:DigestMethod Algorithm=\"http://www.w3.org/2001/04/xmlenc#sha256\"></ds:DigestMethod><ds:DigestValue>AAAA"),
			reading{Signed: true, Signer: true, Stamps: 1, Reason: "Samþykkt"}},
		"no certificate": {func(s string) string { return keyInfos.ReplaceAllString(s, "") },
			reading{Signed: true, Stamps: 1, Reason: "Samþykkt"}},
		"signer's certificate behind others": {func(s string) string {
			first := firstCert.FindString(s)
			return strings.Replace(strings.Replace(s, first, "", 1), "</ds:X509Data>", first+"</ds:X509Data>", 1)
		}, good},
		"signature that cannot be read": {replace("<ds:SignedInfo>", "<ds:SignedInfo><b/>"), reading{Fault: true}},
	} {
		t.Run(name, func(t *testing.T) {
			changed := row.change(whole)
			if changed == whole && name != "as it was signed" {
				t.Fatal("nothing was changed")
			}
			all := readAll(t, changed)
			if len(all) != 1 {
				t.Fatalf("%d signatures", len(all))
			}
			if diff := cmp.Diff(row.want, all[0].reading()); diff != "" {
				t.Errorf("%v (-want +got):\n%s", all[0].irregularity, diff)
			}
		})
	}
}

// doubled repeats the part from begin to the next end.
func doubled(s, begin, end string) string {
	from := strings.Index(s, begin)
	to := from + strings.Index(s[from:], end) + len(end)
	return s[:to] + s[from:to] + s[to:]
}

// inBase64 has the signed properties decoded.
func inBase64(s string) string {
	at := strings.Index(s, `<ds:Reference Type="`)
	return s[:at] + strings.Replace(s[at:], "http://www.w3.org/2001/10/xml-exc-c14n#", "http://www.w3.org/2000/09/xmldsig#base64", 1)
}

// One signature that cannot be read hides no other.
func TestReadSignaturesBesideABrokenOne(t *testing.T) {
	ca := newAuthority(t)
	two := signedBy(t, ca, signedBy(t, ca, `<a>b</a>`, Options{}), Options{Reason: "Samþykkt"})
	all := readAll(t, strings.Replace(two, "<ds:SignedInfo>", "<ds:SignedInfo><b/>", 1))
	if len(all) != 2 || all[0].fault == nil || all[1].fault != nil || all[1].reason != "Samþykkt" {
		t.Errorf("%+v", all)
	}
}

// Enclosed is what is signed together with the place of its unsigned properties.
func TestEnclosed(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	enveloping, detached := Options{Packing: Enveloping}, Options{Packing: InternallyDetached}
	signed := func(options ...Options) string {
		doc := `<a>b</a>`
		for _, o := range options {
			doc = signedBy(t, ca, doc, o)
		}
		return doc
	}
	alone := func(s string) string { // the transform that leaves only the signature itself out
		filter := regexp.MustCompile(`<ds:Transform Algorithm="[^"]*filter2">.*?</ds:Transform>`)
		at := strings.LastIndex(s, "<ds:Signature ")
		return s[:at] + filter.ReplaceAllString(s[at:], `<ds:Transform Algorithm="http://www.w3.org/2000/09/xmldsig#enveloped-signature"/>`)
	}
	ofRoot := func(s string) string { // the filter of those that leaves out what is in the root alone
		return strings.ReplaceAll(s, "/descendant::ds:Signature", "/*/ds:Signature")
	}
	for name, row := range map[string]struct {
		doc  string
		want []bool
	}{
		"one":                            {signed(Options{}), []bool{false}},
		"enveloped beside each other":    {signed(Options{}, Options{}), []bool{false, false}},
		"detached beside each other":     {signed(detached, detached), []bool{false, false}},
		"enveloping":                     {signed(enveloping, enveloping), []bool{false, true}},
		"enveloping around detached":     {signed(detached, enveloping), []bool{false, true}},
		"detached beside an enveloping":  {signed(enveloping, detached), []bool{true, false}},
		"over the others but not itself": {alone(signed(Options{}, Options{})), []bool{true, false}},
		"without those in the root":      {ofRoot(signed(Options{}, Options{})), []bool{false, false}},
		"but with those further down":    {strings.Replace(ofRoot(signed(Options{})), "<a>", "<a>"+ofRoot(signed(Options{})), 1), []bool{true, false}},
		"over itself":                    {strings.Replace(signed(enveloping), `URI="#document-`, `URI="#signature-`, 1), []bool{true}},
	} {
		var got []bool
		for _, s := range readAll(t, row.doc) {
			got = append(got, s.enclosed)
		}
		if diff := cmp.Diff(row.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
