package xades_test

import (
	"crypto"
	"encoding/asn1"
	"encoding/base64"
	"math/big"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// issuerSerial is that of RFC 5035 section 5.
func issuerSerial(t *testing.T, issuer []byte, serial *big.Int) string {
	t.Helper()
	directory := asn1.RawValue{Class: asn1.ClassContextSpecific, Tag: 4, IsCompound: true, Bytes: issuer}
	der, err := asn1.Marshal(struct {
		Issuer []asn1.RawValue
		Serial *big.Int
	}{[]asn1.RawValue{directory}, serial})
	if err != nil {
		t.Fatal(err)
	}
	return base64.StdEncoding.EncodeToString(der)
}

// EN 319 132-1 5.2.2: what SigningCertificate(V2) says of a certificate beside its digest is compared, and a reader
// is told when it is another's. Nothing else comes of it.
func TestIssuerSerial(t *testing.T) {
	t.Parallel()
	p := newPerson(t, newAuthority(t), p256(t))
	c := p.signer.Certificate
	other := new(big.Int).Add(c.SerialNumber, big.NewInt(1))
	v2 := func(der string) string { return "<xades:IssuerSerialV2>" + der + "</xades:IssuerSerialV2>" }
	v1 := func(number string) string {
		return "<xades:IssuerSerial><ds:X509IssuerName>CN=x</ds:X509IssuerName><ds:X509SerialNumber>" + number + "</ds:X509SerialNumber></xades:IssuerSerial>"
	}
	for name, test := range map[string]struct {
		said  string
		warns int
	}{
		"nothing":                  {"", 0},
		"V2":                       {v2(issuerSerial(t, c.RawIssuer, c.SerialNumber)), 0},
		"V2, another number":       {v2(issuerSerial(t, c.RawIssuer, other)), 1},
		"V2, another issuer":       {v2(issuerSerial(t, c.RawSubject, c.SerialNumber)), 1},
		"V2, not to be read":       {v2("AAAA"), 1},
		"first edition":            {v1(c.SerialNumber.String()), 0},
		"first, another number":    {v1(other.String()), 1},
		"first, no number":         {v1("one"), 1},
		"first, without an answer": {"<xades:IssuerSerial></xades:IssuerSerial>", 1},
	} {
		signed := sign(t, []byte("<a/>"), p, xades.Options{})
		was := sumOf(t, signed, crypto.SHA256, named("SignedProperties"))
		said := altered(t, signed, "</xades:CertDigest>", "</xades:CertDigest>"+test.said)
		got := verify(t, rewritten(t, said, p, was, sumOf(t, said, crypto.SHA256, named("SignedProperties"))), p.ca)[0]
		if len(got.Warnings) != test.warns || got.SubIndication != ades.TryLater || !got.Intact {
			t.Errorf("%s: %s, %q, %q", name, got.SubIndication, got.Warnings, got.Problems)
		}
	}
}
