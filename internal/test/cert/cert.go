// Package cert issues single certificates for tests, of any form. Tests use it where they want a
// certificate that the authority of sandbox/ca does not issue, and in the packages that sandbox/ca
// imports.
package cert

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"testing"
	"time"
)

// NewKey returns a new key on a curve.
func NewKey(t testing.TB, curve elliptic.Curve) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(curve, rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// NewRSAKey returns a new RSA key with a modulus of so many bits.
func NewRSAKey(t testing.TB, bits int) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, bits)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Issue makes a certificate for a key, signed with that of its issuer; without an issuer
// it is its own. What the template leaves out is filled in: validity from an hour ago to an
// hour from now, and a random serial number.
func Issue(t testing.TB, template x509.Certificate, key crypto.Signer, issuer *x509.Certificate, by crypto.Signer) *x509.Certificate {
	t.Helper()
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(time.Hour)
	}
	if issuer == nil {
		issuer, by = &template, key
	}
	der, err := x509.CreateCertificate(rand.Reader, &template, issuer, key.Public(), by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// PEM encodes certificates one after the other.
func PEM(certs ...*x509.Certificate) []byte {
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return out
}
