package ades_test

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

// Which certificates are for signing documents (RFC 5280 4.2.1.3, 4.2.1.9 and 4.2.1.12, RFC 9336, EN 319 412-2 4.3.2).
func TestCheckPurpose(t *testing.T) {
	const digitalSignature, nonRepudiation = x509.KeyUsageDigitalSignature, x509.KeyUsageContentCommitment
	usages := func(all ...x509.ExtKeyUsage) []x509.ExtKeyUsage { return all }
	for name, test := range map[string]struct {
		certificate x509.Certificate
		refused     string // a part of the reason
		commits     bool
	}{
		"no extensions":                        {x509.Certificate{}, "", true},
		"nonRepudiation":                       {x509.Certificate{KeyUsage: nonRepudiation}, "", true},
		"both":                                 {x509.Certificate{KeyUsage: nonRepudiation | digitalSignature}, "", true},
		"digitalSignature":                     {x509.Certificate{KeyUsage: digitalSignature}, "", false},
		"an empty key usage":                   {x509.Certificate{Extensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 15}}}}, "key usage has neither", false},
		"an empty extended key usage":          {x509.Certificate{Extensions: []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 37}}}}, "extended key usage", true},
		"keyEncipherment":                      {x509.Certificate{KeyUsage: x509.KeyUsageKeyEncipherment}, "key usage has neither", false},
		"a certification authority":            {x509.Certificate{IsCA: true, KeyUsage: nonRepudiation | x509.KeyUsageCertSign}, "-addext basicConstraints", true},
		"anyExtendedKeyUsage":                  {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageAny)}, "", true},
		"emailProtection":                      {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageClientAuth, x509.ExtKeyUsageEmailProtection)}, "", true},
		"documentSigning":                      {x509.Certificate{UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 36}}}, "", true},
		"document signing of Microsoft":        {x509.Certificate{UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 3, 6, 1, 4, 1, 311, 10, 3, 12}}}, "", true},
		"authentic documents of Adobe":         {x509.Certificate{UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 2, 840, 113583, 1, 1, 5}}}, "", true},
		"a purpose that is not known":          {x509.Certificate{UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 2, 3}}}, "extended key usage", true},
		"a TLS server":                         {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageServerAuth)}, "extended key usage", true},
		"a TLS client":                         {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageClientAuth)}, "extended key usage", true},
		"an OCSP responder":                    {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageOCSPSigning)}, "extended key usage", true},
		"a timestamp authority":                {x509.Certificate{ExtKeyUsage: usages(x509.ExtKeyUsageTimeStamping)}, "extended key usage", true},
		"documentSigning, but keyEncipherment": {x509.Certificate{KeyUsage: x509.KeyUsageKeyEncipherment, UnknownExtKeyUsage: []asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 36}}}, "key usage has neither", false},
	} {
		err := ades.CheckPurpose(&test.certificate)
		if refused := errors.Is(err, ades.ErrPurpose); refused != (test.refused != "") || refused && !strings.Contains(err.Error(), test.refused) {
			t.Errorf("%s: %v", name, err)
		}
		if got := ades.AllowsNonRepudiation(&test.certificate); got != test.commits {
			t.Errorf("%s: commits: %v", name, got)
		}
	}
}

// Resolve refuses a certificate that was issued for something else.
func TestSignerWithAnotherPurpose(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ades.Signer{Certificate: &x509.Certificate{PublicKey: key.Public(), ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth}}}.Resolve()
	if !errors.Is(err, ades.ErrPurpose) {
		t.Error(err)
	}
}
