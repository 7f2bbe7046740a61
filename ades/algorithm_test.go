package ades

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/x509"
	"errors"
	"math"
	"math/big"
	"testing"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

var (
	sha256PKCS1   = Algorithm{Hash: crypto.SHA256, Scheme: PKCS1v15}
	sha256PSS     = Algorithm{Hash: crypto.SHA256, Scheme: PSS}
	sha256ECDSA   = Algorithm{Hash: crypto.SHA256, Scheme: ECDSA}
	sha512Ed25519 = Algorithm{Hash: crypto.SHA512, Scheme: Ed25519}
)

// TestAlgorithms signs with each algorithm as a caller does, and verifies the value. No signature is made
// with Ed25519, which ETSI TS 119 312 does not list.
func TestAlgorithms(t *testing.T) {
	for name, row := range map[string]struct {
		key     crypto.Signer
		a, want Algorithm
		resolve error
	}{
		"RSA, default":   {newRSAKey(t), Algorithm{}, sha256PKCS1, nil},
		"P-256, default": {certtest.NewKey(t, elliptic.P256()), Algorithm{}, sha256ECDSA, nil},
		"P-384, default": {certtest.NewKey(t, elliptic.P384()), Algorithm{}, Algorithm{Hash: crypto.SHA384, Scheme: ECDSA}, nil},
		"P-521, default": {certtest.NewKey(t, elliptic.P521()), Algorithm{}, Algorithm{Hash: crypto.SHA512, Scheme: ECDSA}, nil},
		"PSS SHA-256":    {newRSAKey(t), sha256PSS, sha256PSS, nil},
		"PSS SHA-512":    {newRSAKey(t), Algorithm{Hash: crypto.SHA512, Scheme: PSS}, Algorithm{Hash: crypto.SHA512, Scheme: PSS}, nil},
		"Ed25519":        {newEd25519Key(t), sha512Ed25519, sha512Ed25519, ErrAlgorithm},
	} {
		t.Run(name, func(t *testing.T) {
			pub := row.key.Public()
			signer, err := SignerIdentity{Certificate: &x509.Certificate{PublicKey: pub}, Algorithm: row.a}.Resolve()
			if a := signer.Algorithm; a != row.want || !errors.Is(err, row.resolve) {
				t.Fatalf("got %v, %v; want %v, %v", a, err, row.want, row.resolve)
			}
			d, value := signMessage(t, row.key, row.want)
			if err := row.want.Verify(pub, d.Sum, value); err != nil {
				t.Error(err)
			}
			if most := row.want.MaxValueSize(pub); len(value) > most {
				t.Errorf("value of %d bytes, want at most %d", len(value), most)
			}
			other := row.want.Digest([]byte("another message"))
			if err := row.want.Verify(pub, other.Sum, value); !errors.Is(err, ErrValue) {
				t.Errorf("another message: got %v, want %v", err, ErrValue)
			}
			value[len(value)/2] ^= 1
			if err := row.want.Verify(pub, d.Sum, value); !errors.Is(err, ErrValue) {
				t.Errorf("another value: got %v, want %v", err, ErrValue)
			}
		})
	}
}

// TestRSASchemes checks that a value verifies only with the scheme and the salt length with which it was
// made (RFC 8017 9.1.2 step 10), and that no signature is made with another salt length than the default.
func TestRSASchemes(t *testing.T) {
	key := newRSAKey(t)
	salt := func(n int) Algorithm { return Algorithm{Hash: crypto.SHA256, Scheme: PSS, Salt: n} }
	longest := salt(key.Size() - crypto.SHA256.Size() - 2)
	for _, row := range []struct {
		made, claimed Algorithm
		want          error
	}{
		{sha256PKCS1, sha256PSS, ErrValue},
		{sha256PSS, sha256PKCS1, ErrValue},
		{longest, longest, nil},
		{longest, sha256PSS, ErrValue},
		{sha256PSS, longest, ErrValue},
		{sha256PSS, salt(-2), ErrValue},
		{sha256PSS, salt(-1), ErrValue},
		{sha256PSS, salt(key.Size()), ErrValue},
		{sha256PSS, salt(math.MaxInt), ErrValue},
		{sha256PSS, salt(math.MinInt), ErrValue},
	} {
		d, value := signMessage(t, key, row.made)
		if err := row.claimed.Verify(key.Public(), d.Sum, value); !errors.Is(err, row.want) {
			t.Errorf("%+v verified as %+v: got %v, want %v", row.made, row.claimed, err, row.want)
		}
		signer := SignerIdentity{Certificate: &x509.Certificate{PublicKey: key.Public()}, Algorithm: row.claimed}
		if _, err := signer.Resolve(); errors.Is(err, ErrAlgorithm) != (row.claimed.Salt != 0) {
			t.Errorf("signing with %+v: got %v", row.claimed, err)
		}
	}
}

// TestUnsupportedAlgorithms checks keys and algorithms with which no signature is made.
func TestUnsupportedAlgorithms(t *testing.T) {
	rsaKey, edwards, p256 := newRSAKey(t).Public(), newEd25519Key(t).Public(), certtest.NewKey(t, elliptic.P256()).Public()
	for name, row := range map[string]struct {
		key crypto.PublicKey
		a   Algorithm
	}{
		"Ed25519":                    {edwards, sha512Ed25519},
		"Ed25519 with SHA-256":       {edwards, Algorithm{Hash: crypto.SHA256, Scheme: Ed25519}},
		"half of an Ed25519 key":     {edwards.(ed25519.PublicKey)[:16], sha512Ed25519},
		"pointer to an Ed25519 key":  {new(ed25519.PublicKey), sha512Ed25519},
		"Ed25519 with an RSA key":    {rsaKey, sha512Ed25519},
		"PSS with an Ed25519 key":    {edwards, sha256PSS},
		"PSS without a hash":         {rsaKey, Algorithm{Scheme: PSS}},
		"PSS with SHA-1":             {rsaKey, Algorithm{Hash: crypto.SHA1, Scheme: PSS}},
		"PSS without a key":          {nil, sha256PSS},
		"PKCS1v15 with an ECDSA key": {p256, sha256PKCS1},
		"ECDSA with SHA-1":           {p256, Algorithm{Hash: crypto.SHA1, Scheme: ECDSA}},
		"P-224":                      {&certtest.NewKey(t, elliptic.P224()).PublicKey, sha256ECDSA},
		"RSA key of 2047 bits":       {newPublicRSAKey(2047), sha256PKCS1},
		"RSA key of 4097 bits":       {newPublicRSAKey(4097), sha256PKCS1},
		"unknown scheme":             {rsaKey, Algorithm{Hash: crypto.SHA256, Scheme: 99}},
	} {
		if err := row.a.Check(row.key); !errors.Is(err, ErrAlgorithm) {
			t.Errorf("%s: got %v, want %v", name, err, ErrAlgorithm)
		}
		if err := row.a.Verify(row.key, make([]byte, 32), make([]byte, 64)); err == nil {
			t.Errorf("%s: a value of zeros verifies", name)
		}
	}
	for name, pub := range map[string]crypto.PublicKey{"Ed25519": edwards, "P-224": &ecdsa.PublicKey{Curve: elliptic.P224()}} {
		if _, err := DefaultAlgorithm(pub); !errors.Is(err, ErrAlgorithm) {
			t.Errorf("default for %s: got %v, want %v", name, err, ErrAlgorithm)
		}
	}
}

// TestKeySize checks the longest key with which values are verified.
func TestKeySize(t *testing.T) {
	for bits, want := range map[int]error{1024: nil, 8192: nil, 8193: ErrAlgorithm, 2 << 20: ErrAlgorithm} {
		if err := CheckKeySize(newPublicRSAKey(bits)); !errors.Is(err, want) {
			t.Errorf("%d bits: got %v, want %v", bits, err, want)
		}
	}
	for _, a := range []Algorithm{sha256PKCS1, sha256PSS} {
		if err := a.Verify(newPublicRSAKey(2<<20), make([]byte, 32), make([]byte, 2<<20/8)); !errors.Is(err, ErrAlgorithm) {
			t.Errorf("%v with two million bits: got %v, want %v", a.Scheme, err, ErrAlgorithm)
		}
	}
	if err := CheckKeySize(nil); err != nil {
		t.Errorf("unknown key: %v", err)
	}
}

// TestNames checks the names of schemes and levels, and that levels are parsed in any case.
func TestNames(t *testing.T) {
	for value, want := range map[interface{ String() string }]string{
		PKCS1v15: "RSASSA-PKCS1-v1_5", ECDSA: "ECDSA", PSS: "RSASSA-PSS", Ed25519: "Ed25519", Scheme(0): "Scheme(0)", Scheme(200): "Scheme(200)",
		B: "B", LTA: "LTA", Level(9): "Level(9)", Level(-1): "Level(-1)",
	} {
		if got := value.String(); got != want {
			t.Errorf("got %s, want %s", got, want)
		}
	}
	for text, want := range map[string]Level{"B": B, "t": T, "Lt": LT, "LTA": LTA} {
		if got, err := ParseLevel(text); err != nil || got != want {
			t.Errorf("%q: got %v, %v; want %v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "A", "LTAA", " B"} {
		if got, err := ParseLevel(text); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
}

func signMessage(t *testing.T, key crypto.Signer, a Algorithm) (d Digest, value []byte) {
	t.Helper()
	d = a.Digest([]byte("message"))
	value, err := key.Sign(rand.Reader, d.Sum, d.Algorithm.SignerOpts())
	if err != nil {
		t.Fatal(err)
	}
	return d, value
}

func newRSAKey(t *testing.T) *rsa.PrivateKey {
	t.Helper()
	key := certtest.NewRSAKey(t, 2048)
	return key
}

// newPublicRSAKey returns a key of a length without a private key.
func newPublicRSAKey(bits int) *rsa.PublicKey {
	n := new(big.Int).Lsh(big.NewInt(1), uint(bits-1))
	return &rsa.PublicKey{N: n.SetBit(n, 0, 1), E: math.MaxInt32}
}

func newEd25519Key(t *testing.T) ed25519.PrivateKey {
	t.Helper()
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}
