package ocsp

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"math/big"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// now is the time of these tests, in whole seconds as the protocol has them.
var now = time.Now().UTC().Truncate(time.Second)

// party is a certificate with its key.
type party struct {
	cert *x509.Certificate
	key  crypto.Signer
}

func newKey(t testing.TB) crypto.Signer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// certify issues a certificate that is valid from an hour ago to an hour from now;
// change edits the template. Without an issuer it is an authority's own.
func certify(t testing.TB, name string, by *party, change func(*x509.Certificate)) *party {
	t.Helper()
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<60))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: name},
		NotBefore: now.Add(-time.Hour), NotAfter: now.Add(time.Hour), BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageDigitalSignature,
	}
	if change != nil {
		change(template)
	}
	p := &party{key: newKey(t)}
	parent, key := template, p.key
	if by != nil {
		parent, key = by.cert, by.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, parent, p.key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if p.cert, err = x509.ParseCertificate(der); err != nil {
		t.Fatal(err)
	}
	return p
}

func isAuthority(c *x509.Certificate) {
	c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign|x509.KeyUsageDigitalSignature
}

func isResponder(c *x509.Certificate) {
	c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}
}

// answer makes a response about cert that is good for ten minutes.
func answer(t testing.TB, about *x509.Certificate, issuer, by *party, change func(*Response)) []byte {
	t.Helper()
	r := Response{
		ProducedAt:   now,
		Certificates: []*x509.Certificate{by.cert},
		Singles:      []Single{{ID: newCertID(about, issuer.cert, crypto.SHA256), ThisUpdate: now, NextUpdate: now.Add(10 * time.Minute)}},
	}
	if change != nil {
		change(&r)
	}
	der, err := Create(r, by.cert, by.key)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// writePEM writes certificates for a program to read.
func writePEM(t testing.TB, folder, name string, certs ...*x509.Certificate) string {
	t.Helper()
	var out []byte
	for _, c := range certs {
		out = append(out, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	return write(t, folder, name, out)
}

func writeKey(t testing.TB, folder, name string, key crypto.Signer) string {
	t.Helper()
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return write(t, folder, name, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))
}

func write(t testing.TB, folder, name string, content []byte) string {
	t.Helper()
	path := filepath.Join(folder, name)
	if err := os.WriteFile(path, content, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}
