package ades_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"fmt"
	"testing"

	"github.com/innsigli/innsigli/ades"
)

func TestLevelsInAnyCase(t *testing.T) {
	for text, want := range map[string]ades.Level{"B": ades.B, "t": ades.T, "Lt": ades.LT, "LTA": ades.LTA} {
		if got, err := ades.ParseLevel(text); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for _, text := range []string{"", "A", "LTAA", " B"} {
		if _, err := ades.ParseLevel(text); err == nil {
			t.Errorf("%q is taken for a level", text)
		}
	}
	if got := fmt.Sprint(ades.B, ades.LTA, ades.Level(9)); got != "B LTA Level(9)" {
		t.Error(got)
	}
}

// sha256With is an algorithm with SHA-256.
func sha256With(s ades.Scheme) ades.Algorithm { return ades.Algorithm{Hash: crypto.SHA256, Scheme: s} }

func TestAlgorithms(t *testing.T) {
	curve := func(c elliptic.Curve) crypto.Signer {
		key, err := ecdsa.GenerateKey(c, rand.Reader)
		if err != nil {
			t.Fatal(err)
		}
		return key
	}
	rsaKey, err := rsa.GenerateKey(rand.Reader, 2048)
	if err != nil {
		t.Fatal(err)
	}
	tests := []struct {
		name string
		key  crypto.Signer
		want ades.Algorithm
	}{
		{"RSA", rsaKey, sha256With(ades.PKCS1v15)},
		{"P-256", curve(elliptic.P256()), sha256With(ades.ECDSA)},
		{"P-384", curve(elliptic.P384()), ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}},
		{"P-521", curve(elliptic.P521()), ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.ECDSA}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			a, err := ades.DefaultAlgorithm(tt.key.Public())
			if err != nil || a != tt.want {
				t.Fatalf("%v, %v", a, err)
			}
			h := a.Hash.New()
			sum := h.Sum(nil)
			value, err := tt.key.Sign(rand.Reader, sum, a.Hash)
			if err != nil {
				t.Fatal(err)
			}
			if err := a.Verify(tt.key.Public(), sum, value); err != nil {
				t.Error(err)
			}
			if len(value) > a.MaxValueSize(tt.key.Public()) {
				t.Errorf("a value of %d bytes, said to be %d at most", len(value), a.MaxValueSize(tt.key.Public()))
			}
			sum[0] ^= 1
			if err := a.Verify(tt.key.Public(), sum, value); !errors.Is(err, ades.ErrValue) {
				t.Errorf("another digest: %v", err)
			}
		})
	}
}

func TestWhatIsNotSignedWith(t *testing.T) {
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p256, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for name, row := range map[string]struct {
		key crypto.PublicKey
		a   ades.Algorithm
	}{
		"Ed25519":         {edwards.Public(), ades.Algorithm{}},
		"P-224":           {p224.Public(), ades.Algorithm{}},
		"SHA-1":           {p256.Public(), ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}},
		"a scheme of RSA": {p256.Public(), sha256With(ades.PKCS1v15)},
	} {
		signer := ades.Signer{Certificate: &x509.Certificate{PublicKey: row.key}, Algorithm: row.a}
		if _, err := signer.Resolve(); !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%s: %v", name, err)
		}
		if err := row.a.Verify(row.key, make([]byte, sha256.Size), nil); err == nil {
			t.Errorf("%s: nothing verifies", name)
		}
	}
	if _, err := (ades.Signer{}).Resolve(); err == nil {
		t.Error("a signer without a certificate is one")
	}
}

func TestReportPassed(t *testing.T) {
	whole := ades.SignatureReport{Indication: ades.TotalPassed, Coverage: ades.WholeDocument}
	earlier := ades.SignatureReport{Indication: ades.Indeterminate, SubIndication: ades.TryLater, Coverage: ades.WholeRevision}
	failed := ades.SignatureReport{Indication: ades.TotalFailed, SubIndication: ades.HashFailure, Coverage: ades.WholeRevision}
	untrusted := ades.SignatureReport{Indication: ades.Indeterminate, SubIndication: ades.NoCertificateChainFound, Coverage: ades.WholeDocument}
	tests := []struct {
		name       string
		signatures []ades.SignatureReport
		want       bool
	}{
		{"none", nil, false},
		{"one over everything", []ades.SignatureReport{whole}, true},
		{"an earlier one too", []ades.SignatureReport{earlier, whole}, true},
		{"something appended after the last", []ades.SignatureReport{earlier}, false},
		{"an earlier one that failed", []ades.SignatureReport{failed, whole}, false},
		{"nobody trusted", []ades.SignatureReport{untrusted}, false},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if got := (&ades.Report{Signatures: tt.signatures}).Passed(); got != tt.want {
				t.Errorf("passed %v", got)
			}
		})
	}
}

// The first failed check decides; later ones are noted.
func TestFirstFailureDecides(t *testing.T) {
	var s ades.SignatureReport
	s.Fail(ades.TotalFailed, ades.HashFailure, "first")
	s.Fail(ades.Indeterminate, ades.TryLater, "second")
	if s.SubIndication != ades.HashFailure || len(s.Problems) != 2 {
		t.Errorf("%+v", s)
	}
}
