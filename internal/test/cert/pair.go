package cert

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"testing"
	"time"
)

// A Pair is a certificate with its key.
type Pair struct {
	Cert *x509.Certificate
	Key  crypto.Signer
}

// New issues a certificate with a common name for a new P-256 key. The issuer signs it, or its own key if there is no
// issuer. Each change edits the template. [Issue] states the validity and the serial number.
func New(t testing.TB, name string, issuer *Pair, changes ...func(*x509.Certificate)) *Pair {
	t.Helper()
	return NewForKey(t, name, NewKey(t, elliptic.P256()), issuer, changes...)
}

// NewForKey is [New] for a given key.
func NewForKey(t testing.TB, name string, key crypto.Signer, issuer *Pair, changes ...func(*x509.Certificate)) *Pair {
	t.Helper()
	template := x509.Certificate{Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true}
	for _, change := range changes {
		change(&template)
	}
	if issuer == nil {
		issuer = new(Pair)
	}
	return &Pair{Issue(t, template, key, issuer.Cert, issuer.Key), key}
}

// Authority makes a template that of a certification authority, which signs certificates and revocation lists.
func Authority(c *x509.Certificate) {
	c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign
}

// Responder makes a template that of an OCSP responder (RFC 6960 4.2.2.2).
func Responder(c *x509.Certificate) {
	c.KeyUsage, c.ExtKeyUsage = x509.KeyUsageDigitalSignature, []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
}

// Extended returns a change that adds extensions to a template.
func Extended(extensions ...pkix.Extension) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtraExtensions = append(c.ExtraExtensions, extensions...) }
}

// Valid returns a change that sets the validity of a template.
func Valid(from, to time.Time) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.NotBefore, c.NotAfter = from, to }
}

// Pool returns a pool of certificates.
func Pool(certs ...*x509.Certificate) *x509.CertPool {
	pool := x509.NewCertPool()
	for _, c := range certs {
		pool.AddCert(c)
	}
	return pool
}

// PEMKey returns a private key in PEM (PKCS #8).
func PEMKey(t testing.TB, key crypto.Signer) []byte {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})
}
