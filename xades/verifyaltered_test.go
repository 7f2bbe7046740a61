package xades_test

import (
	"bytes"
	"encoding/base64"
	"regexp"
	"testing"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/xades"
)

// One thing altered decides as EN 319 102-1 orders the checks: the format (5.2.2), which certificate is the signer's
// (5.2.3.4), the chain (5.2.6), and the value (5.2.7.4).
func TestAltered(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	signed := signLevel(t, []byte(contract), p, ades.LT, xades.Options{})
	certificate := func(der []byte, at int) func([]byte) []byte {
		altered := bytes.Clone(der)
		altered[at] ^= 1
		return func(b []byte) []byte {
			return bytes.Replace(b, []byte(base64.StdEncoding.EncodeToString(der)), []byte(base64.StdEncoding.EncodeToString(altered)), 1)
		}
	}
	signer, issuer := p.signer.Certificate.Raw, p.signer.Chain[0].Raw
	reference := regexp.MustCompile(`(?s)<ds:Reference Type="http://uri.etsi.org/01903#SignedProperties".*?</ds:Reference>`)
	info := regexp.MustCompile(`(?s)<ds:KeyInfo>.*</ds:KeyInfo>`)
	signature := regexp.MustCompile(`(?s)<ds:Signature .*</ds:Signature>`)
	for name, test := range map[string]struct {
		alter func([]byte) []byte
		want  ades.SubIndication
	}{
		"nothing":                  {func(b []byte) []byte { return b }, ""},
		"value of the certificate": {certificate(signer, len(signer)-1), ades.NoSigningCertificateFound},
		"serial number":            {certificate(signer, bytes.Index(signer, p.signer.Certificate.SerialNumber.Bytes())), ades.NoSigningCertificateFound},
		"the certificates, and content": {func(b []byte) []byte {
			return info.ReplaceAll(bytes.Replace(b, []byte("250000"), []byte("250001"), 1), nil)
		}, ades.NoSigningCertificateFound},
		"value of the issuer":           {certificate(issuer, len(issuer)-1), ades.NoCertificateChainFound},
		"reference to the properties":   {func(b []byte) []byte { return reference.ReplaceAll(b, nil) }, ades.SigCryptoFailure},
		"the signature, which is twice": {func(b []byte) []byte { return signature.ReplaceAll(b, []byte("$0$0")) }, ades.FormatFailure},
	} {
		b := test.alter(signed)
		if bytes.Equal(b, signed) != (test.want == "") {
			t.Errorf("%s: altered %t", name, !bytes.Equal(b, signed))
		}
		for _, s := range verify(t, b, ca) {
			if s.SubIndication != test.want || (s.Indication == ades.TotalPassed) != (test.want == "") {
				t.Errorf("%s: %s %s, want %q: %q", name, s.Indication, s.SubIndication, test.want, s.Problems)
			}
		}
	}
}

// Validation data is true of a certificate in whichever signature it stands, but makes the level of its own.
func TestDataOfAnotherSignature(t *testing.T) {
	t.Parallel()
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	if s := verify(t, signLevel(t, []byte(contract), p, ades.B, xades.Options{}), ca)[0]; s.SubIndication != ades.TryLater {
		t.Errorf("alone: %s %s", s.Indication, s.SubIndication)
	}
	both := signLevel(t, signLevel(t, []byte(contract), p, ades.LT, xades.Options{}), p, ades.B, xades.Options{})
	for i, s := range verify(t, both, ca) {
		if want := []string{"XAdES-BASELINE-LT", "XAdES-BASELINE-B"}[i]; s.Indication != ades.TotalPassed || s.Format != want {
			t.Errorf("%s %s %s, want %s: %q", s.Format, s.Indication, s.SubIndication, want, s.Problems)
		}
	}
}
