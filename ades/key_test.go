package ades_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/hex"
	"errors"
	"io"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// longKey is an RSA key beyond 8192 bits. Its modulus has many small primes, or finding
// them would take minutes.
type longKey struct {
	public  rsa.PublicKey
	private *big.Int // the exponent
}

func newLongKey(t *testing.T) longKey {
	t.Helper()
	one, e := big.NewInt(1), big.NewInt(65537)
	n, order := big.NewInt(1), big.NewInt(1)
	for n.BitLen() <= 8192 {
		p, err := rand.Prime(rand.Reader, 512)
		if err != nil {
			t.Fatal(err)
		}
		n.Mul(n, p)
		order.Mul(order, p.Sub(p, one))
	}
	private := new(big.Int).ModInverse(e, order)
	if private == nil {
		t.Fatal("65537 divides a prime less one")
	}
	return longKey{rsa.PublicKey{N: n, E: int(e.Int64())}, private}
}

func (k longKey) Public() crypto.PublicKey { return &k.public }

// Sign is RSASSA-PKCS1-v1_5 with SHA-256 (RFC 8017 8.2.1 and 9.2).
func (k longKey) Sign(_ io.Reader, digest []byte, _ crypto.SignerOpts) ([]byte, error) {
	encoded, err := hex.DecodeString("003031300d060960864801650304020105000420")
	if err != nil {
		return nil, err
	}
	encoded = append(encoded, digest...)
	padded := make([]byte, k.public.Size())
	for i := range padded {
		padded[i] = 0xff
	}
	padded[0], padded[1] = 0, 1
	copy(padded[len(padded)-len(encoded):], encoded)
	value := new(big.Int).Exp(new(big.Int).SetBytes(padded), k.private, k.public.N)
	return value.FillBytes(padded), nil
}

// newIssuer makes the certificate of an authority; without an issuer it is its own.
func newIssuer(t *testing.T, name string, key crypto.PublicKey, issuer *x509.Certificate, by crypto.Signer) *x509.Certificate {
	t.Helper()
	template := &x509.Certificate{
		SerialNumber: big.NewInt(int64(len(name))), Subject: pkix.Name{CommonName: name},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		IsCA: true, BasicConstraintsValid: true, KeyUsage: x509.KeyUsageCertSign,
	}
	if issuer == nil {
		issuer = template
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, key, by)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// A chain over a key that is longer than any in use is right in every respect, and not
// calculated.
func TestLongKeysIssueNothing(t *testing.T) {
	rootKey, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	long := newLongKey(t)
	root := newIssuer(t, "Root", rootKey.Public(), nil, rootKey)
	above := newIssuer(t, "Above", long.Public(), root, rootKey)
	below := newIssuer(t, "Below", rootKey.Public(), above, long)
	if err := below.CheckSignatureFrom(above); err != nil {
		t.Fatalf("to crypto/x509 too: %v", err)
	}
	roots := x509.NewCertPool()
	roots.AddCert(root)
	if chain, err := ades.Chain(above, nil, roots, time.Now()); err != nil || len(chain) != 2 {
		t.Errorf("for the long key itself: %v", err)
	}
	if _, err := ades.Chain(below, []*x509.Certificate{above}, roots, time.Now()); !errors.Is(err, ades.ErrNoChain) {
		t.Errorf("a chain over it: %v", err)
	}
	for _, row := range []struct {
		name         string
		cert, issuer *x509.Certificate
		want         error
	}{
		{"a long key", below, above, ades.ErrAlgorithm},
		{"its own, of usual size", above, root, nil},
		{"another name", below, root, ades.ErrNoChain},
		{"another key", below, newIssuer(t, "Above", rootKey.Public(), root, rootKey), ades.ErrNoChain},
	} {
		if err := ades.CheckIssuer(row.cert, row.issuer); !errors.Is(err, row.want) {
			t.Errorf("%s: %v, want %v", row.name, err, row.want)
		}
	}
}

func TestKeySize(t *testing.T) {
	for bits, want := range map[uint]error{1024: nil, 8192: nil, 8193: ades.ErrAlgorithm, 1 << 21: ades.ErrAlgorithm} {
		if err := ades.CheckKeySize(&rsa.PublicKey{N: new(big.Int).Lsh(big.NewInt(1), bits-1), E: 3}); !errors.Is(err, want) {
			t.Errorf("%d bits: %v", bits, err)
		}
	}
	if err := ades.CheckKeySize(nil); err != nil {
		t.Errorf("a key that cannot be read is another question: %v", err)
	}
}
