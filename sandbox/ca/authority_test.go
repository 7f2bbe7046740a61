package ca

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

func issueTest(t *testing.T, a *Authority) *x509.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestChainLeadsToTheRoot(t *testing.T) {
	a, err := New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	cert := issueTest(t, a)
	chain, err := ades.Chain(cert, a.Chain(), a.Roots(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if len(chain) != 3 || !chain[2].Equal(a.Root()) {
		t.Errorf("chain of %d certificates", len(chain))
	}
	if cert.Subject.SerialNumber != "1203894569" || cert.Subject.CommonName != "Dæmi um nafn" {
		t.Errorf("subject %v", cert.Subject)
	}
	other, err := New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := ades.Chain(cert, a.Chain(), other.Roots(), time.Now()); err == nil {
		t.Error("another authority's root accepts the certificate")
	}
}

func TestStoredAuthorityIssuesUnderTheSameRoot(t *testing.T) {
	a, err := New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	b, err := a.MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	var again Authority
	if err := again.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if _, err := ades.Chain(issueTest(t, &again), again.Chain(), a.Roots(), time.Now()); err != nil {
		t.Error(err)
	}
	if err := again.UnmarshalBinary([]byte(`{"version":3}`)); err == nil {
		t.Error("an unknown version was read")
	}
}
