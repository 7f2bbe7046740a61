package online_test

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	"github.com/innsigli/innsigli/internal/authority"
)

// The sandbox's authority behind HTTP gives all that a signature at level LT needs to
// a client that knows its root alone.
func TestSandboxAuthority(t *testing.T) {
	start := time.Now()
	a, err := authority.New(start)
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	a.At(w.url)
	if _, err := a.Renew(start); err != nil { // the issuing authority's certificate gets its addresses
		t.Fatal(err)
	}
	w.mux.Handle(authority.PathTimestamp, answering(func(request []byte) []byte { return a.Timestamp(request, time.Now()) }))
	ocsp := http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		request, err := readOCSP(r)
		if err != nil {
			t.Error(err)
		}
		rw.Write(a.OCSP(request, time.Now()))
	})
	w.mux.Handle(authority.PathOCSP, ocsp)
	w.mux.Handle(authority.PathOCSP+"/", ocsp)
	for path, make := range map[string]func() ([]byte, error){
		authority.PathCRL:     func() ([]byte, error) { return a.CRL(time.Now()) },
		authority.PathRootCRL: func() ([]byte, error) { return a.RootCRL(time.Now()) },
		authority.PathIssuers: a.Issuers,
	} {
		w.mux.HandleFunc(path, func(rw http.ResponseWriter, _ *http.Request) {
			content, err := make()
			if err != nil {
				t.Error(err)
			}
			rw.Write(content)
		})
	}
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), start)
	if err != nil {
		t.Fatal(err)
	}

	client := local()
	token, err := (&online.TSA{URL: w.url + authority.PathTimestamp, Roots: a.Roots()}).Timestamp(t.Context(), crypto.SHA256, imprint[:])
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
