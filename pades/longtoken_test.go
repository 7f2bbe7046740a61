package pades_test

import (
	"bytes"
	"context"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/tsp"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/pades"
	sandboxca "github.com/innsigli/innsigli/sandbox/ca"
)

// unit is a timestamp authority with a unit of its own.
type unit struct{ tsp.Unit }

func (u unit) Timestamp(_ context.Context, h crypto.Hash, sum []byte) ([]byte, error) {
	return u.Create(tsp.Request{Hash: h, Sum: sum, Certificates: true}, time.Now())
}

// longWinded is a timestamp authority whose certificate has 20 KB of its own in it.
func longWinded(t *testing.T, ca *sandboxca.Authority) ades.Timestamper {
	t.Helper()
	key := p256(t)
	purpose, err := asn1.Marshal([]asn1.ObjectIdentifier{{1, 3, 6, 1, 5, 5, 7, 3, 8}}) // id-kp-timeStamping
	if err != nil {
		t.Fatal(err)
	}
	cert, err := ca.IssueProfile(&x509.Certificate{
		Subject: pkix.Name{CommonName: "Long-winded"}, NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour),
		KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		ExtraExtensions: []pkix.Extension{
			{Id: asn1.ObjectIdentifier{2, 5, 29, 37}, Critical: true, Value: purpose},
			{Id: asn1.ObjectIdentifier{1, 2, 3, 4}, Value: bytes.Repeat([]byte{4, 0}, 10_000)},
		},
	}, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	return unit{tsp.Unit{Certificate: cert, Chain: ca.Chain(), Key: key, Policy: asn1.ObjectIdentifier{1, 2, 3}}}
}

// A token that has no place in the signature is no reason to sign again: a document
// timestamp, whose place is made to measure, is one over the signature too (EN 319 142-1
// 6.3).
func TestTokenLongerThanItsPlace(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	s := ca.Sources(nil)
	s.Time = longWinded(t, ca)
	for level := ades.T; level <= ades.LTA; level++ {
		b := pdftest.Build(pdftest.Options{})
		pending, err := pades.Prepare(t.Context(), document(b), p.signer, pades.Options{Level: level})
		if err != nil {
			t.Fatal(err)
		}
		r, err := pending.Sign(t.Context(), p.key, s.Time)
		if err != nil {
			t.Fatal(err)
		}
		b = appendAll(t, b, []pades.Revision{r})
		revisions, err := pades.Extender{Sources: s}.ExtendLast(t.Context(), document(b), level)
		if err != nil {
			t.Fatal(err)
		}
		b = appendAll(t, b, revisions)
		if got := verify(t, b, ca)[0]; got.Format != "PAdES-BASELINE-"+level.String() || level >= ades.LT && !got.Passed() {
			t.Errorf("%v: %+v", level, got)
		}
	}
}

// Sign does the same: what it returns has the level that was asked for.
func TestSignWithLongToken(t *testing.T) {
	ca := newAuthority(t)
	p := newPerson(t, ca, p256(t))
	s := ca.Sources(nil)
	s.Time = longWinded(t, ca)
	b := pdftest.Build(pdftest.Options{})
	r, err := pades.Sign(t.Context(), document(b), p.key, p.signer, pades.Options{Level: ades.T}, s)
	if err != nil {
		t.Fatal(err)
	}
	if got := verify(t, append(bytes.Clone(b), r.Bytes...), ca)[0]; got.Format != "PAdES-BASELINE-T" {
		t.Errorf("%s %v", got.Format, got.Problems)
	}
}
