package ocsp

import (
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"os"
	"path/filepath"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// now is the time of these tests, in whole seconds as the protocol has them.
var now = time.Now().UTC().Truncate(time.Second)

// party is a certificate with its key.
type party struct {
	cert *x509.Certificate
	key  crypto.Signer
}

// certify issues a certificate that is valid from an hour ago to an hour from now;
// change edits the template. Without an issuer it is an authority's own.
func certify(t testing.TB, name string, by *party, change func(*x509.Certificate)) *party {
	t.Helper()
	template := x509.Certificate{Subject: pkix.Name{CommonName: name}, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageDigitalSignature}
	if change != nil {
		change(&template)
	}
	key := certtest.NewKey(t, elliptic.P256())
	if by == nil {
		by = &party{}
	}
	return &party{certtest.Issue(t, template, key, by.cert, by.key), key}
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
	return write(t, folder, name, certtest.PEM(certs...))
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
