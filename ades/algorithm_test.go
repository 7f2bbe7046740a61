package ades_test

import (
	"crypto"
	"crypto/ed25519"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"math"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

func ed25519Key(t *testing.T) crypto.Signer {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func rsaKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// signMessage signs as code outside of this package has to.
func signMessage(t *testing.T, key crypto.Signer, a ades.Algorithm, message string) (d ades.Digest, value []byte) {
	t.Helper()
	d = a.Digest([]byte(message))
	value, err := key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	return d, value
}

func TestAlgorithmsThatAreAskedFor(t *testing.T) {
	pss, edwards := rsaKey(t), ed25519Key(t)
	for name, row := range map[string]struct {
		key crypto.Signer
		a   ades.Algorithm
	}{
		"PSS SHA-256": {pss, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PSS}},
		"PSS SHA-384": {pss, ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PSS}},
		"PSS SHA-512": {pss, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PSS}},
		"Ed25519":     {edwards, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}},
	} {
		t.Run(name, func(t *testing.T) {
			pub := row.key.Public()
			signer, err := ades.Signer{Certificate: &x509.Certificate{PublicKey: pub}, Algorithm: row.a}.Resolve()
			if refused := row.a.Scheme == ades.Ed25519; (err != nil) != refused || signer.Algorithm != row.a {
				t.Fatalf("%v, %v", signer.Algorithm, err)
			}
			d, value := signMessage(t, row.key, row.a, "what is signed")
			if err := row.a.Verify(pub, d.Sum, value); err != nil {
				t.Error(err)
			}
			if len(value) > row.a.MaxValueSize(pub) {
				t.Errorf("a value of %d bytes, said to be %d at most", len(value), row.a.MaxValueSize(pub))
			}
			other := row.a.Digest([]byte("something else"))
			if err := row.a.Verify(pub, other.Sum, value); !errors.Is(err, ades.ErrValue) {
				t.Errorf("another message: %v", err)
			}
			value[len(value)/2] ^= 1
			if err := row.a.Verify(pub, d.Sum, value); !errors.Is(err, ades.ErrValue) {
				t.Errorf("another value: %v", err)
			}
		})
	}
}

// An RSA key signs by both schemes, and neither is taken for the other.
func TestSchemesOfRSAAreToldApart(t *testing.T) {
	key := rsaKey(t)
	old, pss := sha256With(ades.PKCS1v15), sha256With(ades.PSS)
	for _, row := range []struct{ made, claimed ades.Algorithm }{{old, pss}, {pss, old}} {
		d, value := signMessage(t, key, row.made, "x")
		if err := row.claimed.Verify(key.Public(), d.Sum, value); !errors.Is(err, ades.ErrValue) {
			t.Errorf("%v as %v: %v", row.made.Scheme, row.claimed.Scheme, err)
		}
	}
}

// RFC 8017 9.1.2 step 10: the salt has the length that was stated.
func TestSaltOfPSS(t *testing.T) {
	key := rsaKey(t)
	own := sha256With(ades.PSS)
	longest := own
	longest.Salt = key.Size() - own.Hash.Size() - 2
	for _, row := range []struct {
		made, claimed ades.Algorithm
		want          error
	}{
		{own, own, nil},
		{longest, longest, nil},
		{longest, own, ades.ErrValue},
		{own, longest, ades.ErrValue},
	} {
		d, value := signMessage(t, key, row.made, "x")
		if err := row.claimed.Verify(key.Public(), d.Sum, value); !errors.Is(err, row.want) {
			t.Errorf("a salt of %d as one of %d: %v", row.made.Salt, row.claimed.Salt, err)
		}
	}
	d, value := signMessage(t, key, own, "x")
	for _, salt := range []int{-2, -1, key.Size(), math.MaxInt, math.MinInt} {
		own.Salt = salt
		if err := own.Verify(key.Public(), d.Sum, value); !errors.Is(err, ades.ErrValue) {
			t.Errorf("a salt of %d: %v", salt, err)
		}
		signer := ades.Signer{Certificate: &x509.Certificate{PublicKey: key.Public()}, Algorithm: own}
		if _, err := signer.Resolve(); !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("signing with a salt of %d: %v", salt, err)
		}
	}
}

func TestAlgorithmAndKeyHaveToFit(t *testing.T) {
	key, edwards := rsaKey(t), ed25519Key(t)
	sum := make([]byte, 32)
	for name, row := range map[string]struct {
		key crypto.PublicKey
		a   ades.Algorithm
	}{
		"Ed25519 with SHA-256":      {edwards.Public(), sha256With(ades.Ed25519)},
		"PSS with an Ed25519 key":   {edwards.Public(), sha256With(ades.PSS)},
		"Ed25519 with an RSA key":   {key.Public(), ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}},
		"PSS without a hash":        {key.Public(), ades.Algorithm{Scheme: ades.PSS}},
		"PSS with SHA-1":            {key.Public(), ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PSS}},
		"a scheme that is none":     {key.Public(), sha256With(99)},
		"PSS without a key":         {nil, sha256With(ades.PSS)},
		"Ed25519, half of a key":    {edwards.Public().(ed25519.PublicKey)[:16], sha256With(ades.Ed25519)},
		"Ed25519, a pointer to one": {new(ed25519.PublicKey), ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}},
	} {
		if err := row.a.Check(row.key); !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%s: %v", name, err)
		}
		if err := row.a.Verify(row.key, sum, make([]byte, 64)); err == nil {
			t.Errorf("%s: something verifies", name)
		}
	}
}

// ETSI TS 119 312 does not list Ed25519: no signature is made with it.
func TestEd25519IsRefused(t *testing.T) {
	a, pub := ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}, ed25519Key(t).Public()
	if err := a.Check(pub); !errors.Is(err, ades.ErrAlgorithm) || !strings.Contains(err.Error(), "Ed25519") {
		t.Error(err)
	}
}

// RFC 4055 section 1.2: id-RSASSA-PSS as the type of a key restricts it to that scheme.
func TestKeyRestrictedToPSSIsRefusedByName(t *testing.T) {
	openssl := testenv.Program(t, "openssl")
	folder := t.TempDir()
	path := filepath.Join(folder, "cert.pem")
	command := exec.Command(openssl, "req", "-x509", "-newkey", "rsa-pss", "-pkeyopt", "rsa_keygen_bits:2048", "-noenc", "-addext", "basicConstraints=critical,CA:FALSE",
		"-subj", "/CN=PSS", "-keyout", filepath.Join(folder, "key.pem"), "-out", path)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("openssl: %v\n%s", err, out)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	block, _ := pem.Decode(text)
	cert, err := x509.ParseCertificate(block.Bytes)
	if err != nil {
		t.Fatal(err)
	}
	_, err = ades.Signer{Certificate: cert, Algorithm: sha256With(ades.PSS)}.Resolve()
	if !errors.Is(err, ades.ErrAlgorithm) || !strings.Contains(err.Error(), "id-RSASSA-PSS") {
		t.Error(err)
	}
}

// A key of two million bits, which fits a certificate, is not calculated with.
func TestOversizedKeyIsRefused(t *testing.T) {
	const bits = 2 << 20
	n := new(big.Int).Lsh(big.NewInt(1), bits-1)
	key := &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: math.MaxInt32}
	for _, scheme := range []ades.Scheme{ades.PKCS1v15, ades.PSS} {
		if err := sha256With(scheme).Verify(key, make([]byte, 32), make([]byte, bits/8)); !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%v: %v", scheme, err)
		}
	}
}

func TestSchemeNames(t *testing.T) {
	for scheme, want := range map[ades.Scheme]string{
		ades.PKCS1v15: "RSASSA-PKCS1-v1_5", ades.ECDSA: "ECDSA", ades.PSS: "RSASSA-PSS", ades.Ed25519: "Ed25519",
		0: "Scheme(0)", 200: "Scheme(200)",
	} {
		if got := scheme.String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
