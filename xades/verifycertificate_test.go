package xades_test

import (
	"crypto"
	"crypto/x509"
	"encoding/base64"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

var signingCertificate = regexp.MustCompile(`<xades:SigningCertificateV2>.*</xades:SigningCertificateV2>`)

// unnamed is a signature that names no certificate.
func unnamed(t *testing.T, signed []byte, p person) []byte {
	t.Helper()
	was := sumOf(t, signed, crypto.SHA256, named("SignedProperties"))
	other := signingCertificate.ReplaceAll(signed, nil)
	return rewritten(t, other, p, was, sumOf(t, other, crypto.SHA256, named("SignedProperties")))
}

// encoded are certificates, each in an element.
func encoded(element string, all ...*x509.Certificate) (s string) {
	for _, c := range all {
		s += "<" + element + ">" + base64.StdEncoding.EncodeToString(c.Raw) + "</" + element + ">"
	}
	return s
}

// The signer's certificate is in KeyInfo or among the validation data, and the one that is named. One that is not there
// cannot show that the value is wrong (EN 319 102-1 5.2.3).
func TestWhereCertificatesAre(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	own, others, chain := p.signer.Certificate, q.signer.Certificate, ca.Chain()
	plain := sign(t, []byte("<a/>"), p, xades.Options{})
	without := unnamed(t, plain, p)
	data := func(all ...*x509.Certificate) string {
		return "<ds:X509Data>" + encoded("ds:X509Certificate", all...) + "</ds:X509Data>"
	}
	keys := func(b []byte, content string) []byte {
		return keyInfo.ReplaceAll(b, []byte("<ds:KeyInfo>"+content+"</ds:KeyInfo>"))
	}
	values := func(b []byte, all ...*x509.Certificate) []byte {
		return unsignedProperty("<xades:CertificateValues>"+encoded("xades:EncapsulatedX509Certificate", all...)+"</xades:CertificateValues>")(t, b)
	}
	object := func(b []byte, content string) []byte {
		return altered(t, b, endOfElement, "<ds:Object>"+content+"</ds:Object>"+endOfElement)
	}
	const found, missing, loose = ades.TryLater, ades.NoSigningCertificateFound, ades.SigConstraintsFailure
	var files []string
	var judged []ades.SubIndication // by EU DSS
	folder := t.TempDir()
	for name, test := range map[string]struct {
		b           []byte
		want, other ades.SubIndication // here, and by EU DSS where that is another one
	}{
		"in KeyInfo":                                {plain, found, ""},
		"in CertificateValues":                      {values(keys(plain, data(chain...)), own), found, missing},
		"in CertificateValues, not named":           {values(keys(without, data(chain...)), own), loose, missing},
		"not there":                                 {keys(plain, data(chain...)), missing, ""},
		"not there, nor named":                      {keys(without, data(chain...)), missing, ""},
		"none":                                      {keys(plain, "<ds:KeyName>p</ds:KeyName>"), missing, ""},
		"another person's":                          {keys(plain, data(others)), missing, ""},
		"another person's, none named":              {keys(without, data(others)), missing, ""},
		"not the one that is named":                 {naming(t, plain, p), missing, ""},
		"not named":                                 {without, loose, found},
		"in an Object":                              {object(keys(plain, data(chain...)), data(own)), missing, ""},
		"in a KeyInfo in an Object":                 {object(keys(plain, ""), "<ds:KeyInfo>"+data(own)+"</ds:KeyInfo>"), missing, ""},
		"behind a RetrievalMethod, in an Object":    {object(keys(plain, `<ds:RetrievalMethod URI="#x" Type="http://www.w3.org/2000/09/xmldsig#X509Data"/>`), `<ds:X509Data Id="x">`+encoded("ds:X509Certificate", own)+"</ds:X509Data>"), missing, ""},
		"there, and the value is of something else": {signatureValue.ReplaceAll(plain, []byte("${1}"+firstValue(t, without, p))), ades.SigCryptoFailure, ""},
	} {
		got := verify(t, test.b, ca)[0]
		if got.SubIndication != test.want || got.Intact != (test.want == found || test.want == loose || name == "not the one that is named") {
			t.Errorf("%s: %s, intact %t, %q, want %s", name, got.SubIndication, got.Intact, got.Problems, test.want)
		}
		path := filepath.Join(folder, name+".xml")
		writeFile(t, path, test.b)
		if test.other == "" {
			test.other = test.want
		}
		files, judged = append(files, path), append(judged, test.other)
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}, RevocationOptional: true}, files...) {
		theirs := ades.SubIndication(r.Signatures[0].SubIndication)
		if theirs == "" {
			theirs = found // which does not ask for revocation data
		}
		if theirs != judged[i] {
			t.Errorf("%s: EU DSS says %s, not %s", files[i], theirs, judged[i])
		}
	}
}
