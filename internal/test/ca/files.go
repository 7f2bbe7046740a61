package ca

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// New returns a new authority.
func New(t testing.TB) *sandboxca.Authority {
	t.Helper()
	return NewAt(t, time.Now())
}

// NewAt returns an authority that was made at a time.
func NewAt(t testing.TB, at time.Time) *sandboxca.Authority {
	t.Helper()
	a, err := sandboxca.New(at)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// IssueSigner returns the identity of a signer: a certificate for a key, issued at a time, and its chain.
func IssueSigner(t testing.TB, a *sandboxca.Authority, key crypto.Signer, at time.Time) ades.SignerIdentity {
	t.Helper()
	certificate, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), at)
	if err != nil {
		t.Fatal(err)
	}
	return ades.SignerIdentity{Certificate: certificate, Chain: a.Chain()}
}

// SignerFiles returns files of a new authority and two signers, by their names: root.pem, and the chain and key of a signer
// with each kind of key, such as p256-chain.pem and rsa3072-key.pem.
func SignerFiles() (map[string][]byte, error) {
	a, err := sandboxca.New(time.Now())
	if err != nil {
		return nil, err
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	rsa3072, rsaErr := rsa.GenerateKey(rand.Reader, 3072)
	if err := errors.Join(err, rsaErr); err != nil {
		return nil, err
	}
	files := map[string][]byte{"root.pem": a.RootPEM()}
	for name, key := range map[string]crypto.Signer{"p256": p256, "rsa3072": rsa3072} {
		if files[name+"-chain.pem"], files[name+"-key.pem"], err = signer(a, key); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// signer returns the certificates and the key of a signer, in PEM.
func signer(a *sandboxca.Authority, key crypto.Signer) (chain, private []byte, err error) {
	certificate, err := a.Issue("Local Signer", "0101302989", key.Public(), time.Now())
	if err != nil {
		return nil, nil, err
	}
	for _, c := range append([]*x509.Certificate{certificate}, a.Chain()...) {
		chain = append(chain, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: c.Raw})...)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	return chain, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}), err
}

// WriteSigner writes chain.pem and key.pem of a new signer of the authority, and its root.pem, to a folder.
func WriteSigner(t testing.TB, folder string, a *sandboxca.Authority) {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	chain, private, err := signer(a, key)
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, map[string][]byte{"chain.pem": chain, "key.pem": private, "root.pem": a.RootPEM()})
}

// WriteTLS writes tls.pem and tls.key to a folder: a certificate of a host, which is a name or an IPv4 address, that expires at
// a time and that its own key has signed.
func WriteTLS(t testing.TB, folder, host string, until time.Time) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	serial, err := rand.Int(rand.Reader, big.NewInt(1<<62))
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: serial, Subject: pkix.Name{CommonName: host}, DNSNames: []string{host}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Now().Add(-time.Hour), NotAfter: until,
	}
	if address := net.ParseIP(host); address != nil {
		template.DNSNames, template.IPAddresses = nil, []net.IP{address}
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	certificate, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	write(t, folder, map[string][]byte{"tls.pem": pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), "tls.key": certtest.PEMKey(t, key)})
	return certificate
}

func write(t testing.TB, folder string, files map[string][]byte) {
	t.Helper()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(folder, name), content, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}
