package online_test

import (
	"crypto/x509"
	"math/big"
	"slices"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/ades/online"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// largeList makes a CRL of the size given or a little more out of a small one with one
// entry, which it repeats.
func largeList(t *testing.T, issuer pair, size int, last *big.Int) []byte {
	t.Helper()
	number := new(big.Int).Lsh(big.NewInt(1), 120)
	small := list(t, issuer, x509.RevocationList{}, number, last)
	head, fields := splitList(t, small, cbasn1.INTEGER, cbasn1.SEQUENCE, cbasn1.SEQUENCE, cbasn1.UTCTime, cbasn1.UTCTime)
	var entries, first cryptobyte.String
	if !fields.ReadASN1(&entries, cbasn1.SEQUENCE) || !entries.ReadASN1Element(&first, cbasn1.SEQUENCE) {
		t.Fatal("no entries")
	}
	return signedList(t, issuer, func(b *cryptobyte.Builder) {
		b.AddBytes(head)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddBytes(slices.Repeat([]byte(first), size/len(first)))
			b.AddBytes(entries)
		})
		b.AddBytes(fields)
	})
}

// A CRL of 50 MB with more than a million entries is read, at the cost of its bytes.
func TestCRLOf50MB(t *testing.T) {
	testenv.Slow(t, "a list of 50 MB is read")
	w := newWorld(t)
	good, revoked := w.signer(t, nil, []string{"/crl"}), w.signer(t, nil, []string{"/crl"})
	large := largeList(t, w.root, 50<<20, revoked.cert.SerialNumber)
	w.mux.Handle("/crl", body(large))
	source := &online.Revocation{Client: local()}

	var proof ades.RevocationData
	var err error
	allocated := testenv.Allocated(func() {
		proof, err = source.Revocation(t.Context(), good.cert, w.root.cert, time.Time{})
	})
	if err != nil || len(proof.CRL) != len(large) {
		t.Fatalf("%d of %d bytes: %v", len(proof.CRL), len(large), err)
	}
	t.Logf("%d MB allocated", allocated>>20)
	if allocated > 310<<20 { // the list while it grows; the least for each entry would be 20 MB more
		t.Errorf("%d MB allocated", allocated>>20)
	}
	if _, err := source.Revocation(t.Context(), revoked.cert, w.root.cert, time.Time{}); err == nil {
		t.Error("the last entry was not found")
	}
	if n := len(w.requests()); n != 1 {
		t.Errorf("%d requests", n)
	}
}
