package online_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	catest "github.com/innsigli/innsigli/internal/test/ca"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// The sandbox's authority behind HTTP gives all that a signature at level LT needs to
// a client that knows its root alone.
func TestSandboxAuthority(t *testing.T) {
	start := time.Now()
	a, err := sandboxca.New(start)
	if err != nil {
		t.Fatal(err)
	}
	url := catest.Serve(t, a)
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), start)
	if err != nil {
		t.Fatal(err)
	}

	client := local()
	token, err := (&online.TSA{URL: url + sandboxca.PathTimestamp, Roots: a.Roots()}).Timestamp(t.Context(), crypto.SHA256, imprint[:])
	checkToken(t, token, err)
	found, err := (&online.Issuers{Client: client}).Issuers(t.Context(), cert)
	if err != nil {
		t.Fatal(err)
	}
	chain, err := ades.Chain(cert, found, a.Roots(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	source := &online.Revocation{Client: client}
	proof, err := source.Revocation(t.Context(), chain[0], chain[1], start)
	checkProof(t, proof, err, chain[0], chain[1])
	if proof, err = source.Revocation(t.Context(), chain[1], chain[2], time.Time{}); err != nil || proof.CRL == nil && proof.OCSP == nil {
		t.Error(err)
	}
	a.Revoke(cert.SerialNumber, start, 1)
	if _, err = source.Revocation(t.Context(), chain[0], chain[1], start); !errors.Is(err, ades.ErrRevoked) {
		t.Error(err)
	}
}
