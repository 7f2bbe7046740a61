package validation

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"errors"
	"fmt"
	"math/big"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// rsaOf returns an RSA key of a length.
func rsaOf(bits uint) *rsa.PublicKey {
	return &rsa.PublicKey{N: new(big.Int).SetBit(big.NewInt(1), int(bits)-1, 1), E: 65537}
}

func curveOf(c elliptic.Curve) *ecdsa.PublicKey { return &ecdsa.PublicKey{Curve: c} }

// TestCheckAlgorithm checks until when algorithms and keys are accepted, and that an expiry which is only announced is
// not enforced (ETSI TS 119 312).
func TestCheckAlgorithm(t *testing.T) {
	alg := func(h crypto.Hash, s ades.Scheme) ades.Algorithm { return ades.Algorithm{Hash: h, Scheme: s} }
	for _, test := range []struct {
		a         ades.Algorithm
		pub       crypto.PublicKey
		at        time.Time
		accepted  bool
		announced time.Time
	}{
		{alg(crypto.SHA256, ades.ECDSA), curveOf(elliptic.P256()), dayOf(2045, 1, 1), true, time.Time{}},
		{alg(crypto.SHA1, ades.ECDSA), curveOf(elliptic.P256()), dayOf(2012, 7, 31), true, time.Time{}},
		{alg(crypto.SHA1, ades.ECDSA), curveOf(elliptic.P256()), dayOf(2012, 8, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.ECDSA), curveOf(elliptic.P224()), dayOf(2021, 9, 30), true, time.Time{}},
		{alg(crypto.SHA256, ades.ECDSA), curveOf(elliptic.P224()), dayOf(2021, 10, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(785), dayOf(2000, 1, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(786), dayOf(2010, 7, 31), true, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(1023), dayOf(2010, 8, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(1024), dayOf(2019, 9, 30), true, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(1899), dayOf(2019, 10, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PSS), rsaOf(1899), dayOf(2019, 10, 1), false, time.Time{}},
		{alg(crypto.SHA1, ades.PSS), rsaOf(2048), dayOf(2015, 1, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(2048), dayOf(2028, 12, 31), true, time.Time{}},
		{alg(crypto.SHA256, ades.PKCS1v15), rsaOf(4096), dayOf(2030, 1, 1), true, dayOf(2029, 1, 1)},
		{alg(crypto.SHA256, ades.PSS), rsaOf(2999), dayOf(2029, 1, 1), true, dayOf(2029, 1, 1)},
		{alg(crypto.SHA256, ades.PSS), rsaOf(3000), dayOf(2030, 1, 1), true, time.Time{}},
		{alg(crypto.SHA224, ades.PSS), rsaOf(3000), dayOf(2030, 1, 1), true, dayOf(2029, 1, 1)},
		{alg(crypto.SHA3_224, ades.PSS), rsaOf(3000), dayOf(2020, 1, 1), false, time.Time{}},
		{alg(crypto.MD5, ades.PKCS1v15), rsaOf(2048), dayOf(2003, 1, 1), false, time.Time{}},
		{alg(crypto.SHA512, ades.Ed25519), ed25519.PublicKey{}, dayOf(2026, 1, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.ECDSA), rsaOf(2048), dayOf(2026, 1, 1), false, time.Time{}},
		{alg(crypto.SHA256, ades.PSS), curveOf(elliptic.P256()), dayOf(2026, 1, 1), false, time.Time{}},
		{ades.Algorithm{}, nil, dayOf(2026, 1, 1), false, time.Time{}},
	} {
		name := fmt.Sprintf("%v with %v, %T of %d bits, at %s", test.a.Scheme, test.a.Hash, test.pub, keyBits(test.a.Scheme, test.pub), test.at.Format(time.DateOnly))
		err := CheckAlgorithm(test.a, test.pub, test.at)
		if (err == nil) != test.accepted || err != nil && !errors.Is(err, ades.ErrAlgorithm) {
			t.Errorf("%s: got %v, want accepted %t", name, err, test.accepted)
		}
		if got := AnnouncedExpiry(test.a, test.pub, test.at); err == nil && !got.Equal(test.announced) {
			t.Errorf("%s: got announced expiry %v, want %v", name, got, test.announced)
		}
	}
}

// TestNewSignaturesAreAccepted checks that every algorithm for new signatures is accepted today.
func TestNewSignaturesAreAccepted(t *testing.T) {
	accepted := 0
	for _, pub := range []crypto.PublicKey{rsaOf(2048), rsaOf(4096), curveOf(elliptic.P256()), curveOf(elliptic.P384()), curveOf(elliptic.P521())} {
		for _, h := range []crypto.Hash{crypto.SHA256, crypto.SHA384, crypto.SHA512} {
			for _, s := range []ades.Scheme{ades.PKCS1v15, ades.PSS, ades.ECDSA} {
				a := ades.Algorithm{Hash: h, Scheme: s}
				if a.Check(pub) != nil {
					continue
				}
				if accepted++; CheckAlgorithm(a, pub, time.Now()) != nil {
					t.Errorf("%v with %v and a key of %d bits is not accepted", s, h, keyBits(s, pub))
				}
			}
		}
	}
	if accepted < 15 { // RSA of two lengths with two schemes and three hashes, and three curves
		t.Errorf("got %d algorithms for new signatures, want at least 15", accepted)
	}
}

// TestDocumentedExpiry checks that docs/verifying.md has a row for each hash and each key size.
func TestDocumentedExpiry(t *testing.T) {
	until := func(at time.Time) string {
		switch {
		case at.IsZero():
			return "no end is set"
		case at.After(listDate):
			return at.Format(time.DateOnly) + ", announced"
		}
		return at.Format(time.DateOnly)
	}
	var rows []string
	for h, expiry := range hashExpiry {
		rows = append(rows, fmt.Sprintf("| %v | %s |", h, until(expiry)))
	}
	for _, s := range []ades.Scheme{ades.PKCS1v15, ades.PSS, ades.ECDSA} {
		for _, r := range schemeExpiry[s] {
			rows = append(rows, fmt.Sprintf("| %v, %d bits and more | %s |", s, r.bits, until(r.until)))
		}
	}
	page := string(testenv.ReadFile(t, filepath.Join(testenv.Root(t), "docs", "verifying.md")))
	for _, row := range rows {
		if !strings.Contains(page, row+"\n") {
			t.Errorf("docs/verifying.md lacks %q", row)
		}
	}
}
