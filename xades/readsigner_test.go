package xades_test

import (
	"crypto/x509"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"regexp"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/xades"
)

// TestSigningCertificate checks that Verify finds the signer's certificate in KeyInfo or in the validation data, and that
// SigningCertificateV2 has to name it. A missing certificate does not make the value wrong (EN 319 102-1 5.2.3).
func TestSigningCertificate(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p, q := newPerson(t, ca, p256(t)), newPerson(t, ca, p256(t))
	own, others := p.signer.Certificate, q.signer.Certificate
	data := func(certificates ...*x509.Certificate) string {
		return "<ds:X509Data>" + encodedIn("ds:X509Certificate", certificates...) + "</ds:X509Data>"
	}
	keys := func(content string) change { return substitute(keyInfo, "<ds:KeyInfo>"+content+"</ds:KeyInfo>") }
	issuers := keys(data(ca.Chain()...))
	values := inUnsignedProperty("<xades:CertificateValues>" + encodedIn("xades:EncapsulatedX509Certificate", own) + "</xades:CertificateValues>")
	object := func(content string) change {
		return before(signatureEnd, "<ds:Object>"+content+"</ds:Object>")
	}
	unnamed := signs(substitute(signingCertificate, ""))
	const (
		loose        = "SIG_CONSTRAINTS_FAILURE WHOLE_DOCUMENT intact"
		missingLoose = "NO_SIGNING_CERTIFICATE_FOUND PARTIAL"
	)
	rows := []changedDocument{
		{"in KeyInfo", enveloped, unchanged, passes},
		{"in CertificateValues", enveloped, all(values, issuers), passes},
		{"in CertificateValues, not named", enveloped, all(unnamed, values, issuers), loose},
		{"missing", enveloped, issuers, noSigner},
		{"missing, not named", enveloped, all(unnamed, issuers), noSigner},
		{"KeyInfo without certificates", enveloped, keys("<ds:KeyName>p</ds:KeyName>"), noSigner},
		{"certificate of another person", enveloped, keys(data(others)), noSigner},
		{"certificate of another person, not named", enveloped, all(unnamed, keys(data(others))), noSigner},
		{"another certificate is named", enveloped, signs(nameAnother), noSigner + " intact"},
		{"not named", enveloped, unnamed, loose},
		{"in an Object", enveloped, all(issuers, object(data(own))), missingLoose},
		{"in a KeyInfo in an Object", enveloped, all(keys(""), object("<ds:KeyInfo>"+data(own)+"</ds:KeyInfo>")), missingLoose},
		{"in an Object, with a RetrievalMethod", enveloped, all(keys(`<ds:RetrievalMethod URI="#x" Type="http://www.w3.org/2000/09/xmldsig#X509Data"/>`),
			object(`<ds:X509Data Id="x">`+encodedIn("ds:X509Certificate", own)+"</ds:X509Data>")), missingLoose},
	}
	documents := checkChanges(t, p, ades.B, "<a/>", rows)
	compareDSS(t, ca, rows, documents, map[string]string{
		"in CertificateValues": noSigner, "in CertificateValues, not named": noSigner, "not named": passes,
	})
}

// nameAnother changes the digest by which SigningCertificateV2 names the certificate.
func nameAnother(t testing.TB, p person, b []byte) []byte {
	return after("<xades:Cert><xades:CertDigest>"+sha256Method+"<ds:DigestValue>", "AAAA")(t, p, b)
}

// encodedIn returns certificates in Base64, each in an element of that name.
func encodedIn(name string, certificates ...*x509.Certificate) (s string) {
	for _, c := range certificates {
		s += "<" + name + ">" + base64.StdEncoding.EncodeToString(c.Raw) + "</" + name + ">"
	}
	return s
}

// TestIssuerSerial checks that Verify warns if SigningCertificate(V2) gives another issuer or serial number beside the
// digest (EN 319 132-1 5.2.2). The verdict stays the same.
func TestIssuerSerial(t *testing.T) {
	t.Parallel()
	p := newPerson(t, catest.New(t), p256(t))
	c := p.signer.Certificate
	another := new(big.Int).Add(c.SerialNumber, big.NewInt(1))
	says := func(s string) change { return signs(after("</xades:CertDigest>", s)) }
	v2 := func(issuer []byte, serial *big.Int) change { // RFC 5035 section 5
		der, err := asn1.Marshal(struct {
			Issuer []asn1.RawValue
			Serial *big.Int
		}{[]asn1.RawValue{{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true, Bytes: issuer}}, serial})
		if err != nil {
			t.Fatal(err)
		}
		return says("<xades:IssuerSerialV2>" + base64.StdEncoding.EncodeToString(der) + "</xades:IssuerSerialV2>")
	}
	v1 := func(number string) change {
		return says("<xades:IssuerSerial><ds:X509IssuerName>CN=x</ds:X509IssuerName><ds:X509SerialNumber>" + number + "</ds:X509SerialNumber></xades:IssuerSerial>")
	}
	const warned = "TRY_LATER WHOLE_DOCUMENT intact warning, passes"
	checkChanges(t, p, ades.B, "<a/>", []changedDocument{
		{"IssuerSerialV2", enveloped, v2(c.RawIssuer, c.SerialNumber), passes},
		{"IssuerSerialV2 with another number", enveloped, v2(c.RawIssuer, another), warned},
		{"IssuerSerialV2 with another issuer", enveloped, v2(c.RawSubject, c.SerialNumber), warned},
		{"IssuerSerialV2 that is no DER", enveloped, says("<xades:IssuerSerialV2>AAAA</xades:IssuerSerialV2>"), warned},
		{"IssuerSerial", enveloped, v1(c.SerialNumber.String()), passes},
		{"IssuerSerial with another number", enveloped, v1(another.String()), warned},
		{"IssuerSerial without a number", enveloped, v1("one"), warned},
		{"empty IssuerSerial", enveloped, says("<xades:IssuerSerial></xades:IssuerSerial>"), warned},
	})
}

// TestSigningTime checks that the signing time has to be within the validity period of the certificate (EN 319 102-1
// 5.2.8), without and with validation data, as EU DSS does. A time without a zone is UTC.
func TestSigningTime(t *testing.T) {
	t.Parallel()
	ca := catest.New(t)
	p := newPerson(t, ca, p256(t))
	signed := sign(t, []byte(contract), p, xades.Options{})
	now := time.Now().UTC().Truncate(time.Second)
	var documents [][]byte // for EU DSS, which may read an xsd:date
	var verdicts []ades.SignatureReport
	for _, test := range []struct {
		name, text string
		time       time.Time
		want       ades.SubIndication
	}{
		{"now", now.Format(time.RFC3339), now, ""},
		{"in another zone", now.In(time.FixedZone("", 7200)).Format(time.RFC3339), now, ""},
		{"with fractions of a second", now.Format("2006-01-02T15:04:05") + ".25Z", now.Add(time.Second / 4), ""},
		{"without a zone", now.Format("2006-01-02T15:04:05"), now, ""},
		{"before the certificate", "2001-01-01T00:00:00Z", time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC), ades.SigConstraintsFailure},
		{"after the certificate", "2090-01-01T00:00:00Z", time.Date(2090, 1, 1, 0, 0, 0, 0, time.UTC), ades.SigConstraintsFailure},
		{"without a time of day", now.Format("2006-01-02"), time.Time{}, ades.SigConstraintsFailure},
		{"missing", "", time.Time{}, ades.SigConstraintsFailure},
	} {
		property := regexp.MustCompile(`<xades:SigningTime>[^<]*</xades:SigningTime>`)
		element := "<xades:SigningTime>" + test.text + "</xades:SigningTime>"
		if test.text == "" {
			element = ""
		}
		b := signs(substitute(property, element))(t, p, signed)
		if s := verify(t, b, ca)[0]; s.Passed() != (test.want == "") || !s.ClaimedTime.Equal(test.time) {
			t.Errorf("%s, level B: got %s %v, want %s %v: %q", test.name, s.SubIndication, s.ClaimedTime, test.want, test.time, s.Problems)
		}
		b = extend(t, b, ades.LT, ca.Sources(nil))
		got := verify(t, b, ca)[0]
		if got.SubIndication != test.want || !got.Intact {
			t.Errorf("%s, level LT: got %s, intact %t, want %s: %q", test.name, got.SubIndication, got.Intact, test.want, got.Problems)
		}
		if test.name != "without a time of day" {
			documents, verdicts = append(documents, b), append(verdicts, got)
		}
	}
	for i, r := range validators.DSS(t, validators.DSSOptions{Roots: []*x509.Certificate{ca.Root()}}, writeFiles(t, documents)...) {
		if s := r.Signatures[0]; s.Indication != string(verdicts[i].Indication) || s.SubIndication != string(verdicts[i].SubIndication) {
			t.Errorf("%v: EU DSS: got %s %s, want %s %s", verdicts[i].ClaimedTime, s.Indication, s.SubIndication, verdicts[i].Indication, verdicts[i].SubIndication)
		}
	}
}
