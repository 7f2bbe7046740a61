package ca

import (
	"bytes"
	"crypto"
	"crypto/sha256"
	"crypto/x509"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	"github.com/innsigli/innsigli/internal/pki/tsp"
)

// A timestamp, and the revocation data of all certificates, of the same second.
func TestSourcesOfOneSecond(t *testing.T) {
	a := newAuthority(t)
	now := time.Now().Truncate(time.Second).Add(700 * time.Millisecond)
	s := a.Sources(func() time.Time { return now })
	cert, issuing, ctx := issueTest(t, a), a.Chain()[0], t.Context()
	sum := sha256.Sum256([]byte("value"))
	der, err := s.Time.Timestamp(ctx, crypto.SHA256, sum[:])
	if err != nil {
		t.Fatal(err)
	}
	token, err := tsp.ParseToken(der)
	if err != nil {
		t.Fatal(err)
	}
	if err := token.Verify(); err != nil || !bytes.Equal(token.Sum, sum[:]) || !token.Certificate.Equal(a.timestamping.certificate) {
		t.Errorf("%+v, %v", token, err)
	}
	for _, pair := range [][2]*x509.Certificate{{cert, issuing}, {token.Certificate, issuing}} {
		data, err := s.Revocation.Revocation(ctx, pair[0], pair[1], token.Time)
		if err != nil || data.CRL != nil {
			t.Fatal(err)
		}
		r, err := ocsp.Parse(data.OCSP)
		if err != nil {
			t.Fatal(err)
		}
		single, ok := r.For(pair[0], pair[1])
		if _, err := r.Verify(pair[1]); err != nil || !ok || single.Status != ocsp.Good || single.ThisUpdate.Before(token.Time.Truncate(time.Second)) {
			t.Errorf("%+v, %v", single, err)
		}
	}
	data, err := s.Revocation.Revocation(ctx, issuing, a.Root(), time.Time{})
	if err != nil || data.OCSP != nil {
		t.Fatal(err)
	}
	l, err := crl.Parse(data.CRL)
	if err != nil {
		t.Fatal(err)
	}
	if entry, err := l.Find(issuing); entry != nil || err != nil || l.Verify(a.Root()) != nil {
		t.Errorf("%+v, %v", entry, err)
	}
	if got, err := s.Issuers.Issuers(ctx, cert); err != nil || len(got) != 2 || !got[0].Equal(issuing) {
		t.Error(err)
	}
}

func TestSourcesErrors(t *testing.T) {
	a, other, now, ctx := newAuthority(t), newAuthority(t), time.Now(), t.Context()
	s := a.Sources(nil)
	cert, issuing := issueTest(t, a), a.Chain()[0]
	if _, err := s.Revocation.Revocation(ctx, cert, issuing, now.Add(time.Hour)); !errors.Is(err, ades.ErrNoRevocation) || !errors.Is(err, ades.ErrUnavailable) {
		t.Errorf("in the future: %v", err)
	}
	if _, err := s.Revocation.Revocation(ctx, issueTest(t, other), other.Chain()[0], now); !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("of another authority: %v", err)
	}
	if _, err := s.Revocation.Revocation(ctx, other.Chain()[0], a.Root(), now); !errors.Is(err, ades.ErrNoRevocation) {
		t.Errorf("of a root with the same name: %v", err)
	}
	if _, err := s.Time.Timestamp(ctx, crypto.SHA1, make([]byte, 20)); !errors.Is(err, ades.ErrTimestamp) {
		t.Errorf("an imprint by SHA-1: %v", err)
	}
	a.Revoke(cert.SerialNumber, now.Add(-time.Minute), 1)
	a.Revoke(issuing.SerialNumber, now.Add(-time.Hour), 2)
	for _, row := range []struct {
		cert, issuer *x509.Certificate
		at           time.Time
		reason       int
	}{{cert, issuing, now.Add(-time.Minute), 1}, {issuing, a.Root(), now.Add(-time.Hour), 2}} {
		data, err := s.Revocation.Revocation(ctx, row.cert, row.issuer, now)
		var revoked *ades.RevokedError
		if !errors.As(err, &revoked) || !errors.Is(err, ades.ErrRevoked) {
			t.Fatal(err)
		}
		if !revoked.At.Equal(row.at.Truncate(time.Second)) || revoked.Reason != row.reason || len(data.OCSP)+len(data.CRL) == 0 {
			t.Errorf("%+v", revoked)
		}
	}
}

// RFC 5280 4.2.2.1: the response of a caIssuers address.
func TestIssuers(t *testing.T) {
	a := newAuthority(t)
	der, err := a.Issuers()
	if err != nil {
		t.Fatal(err)
	}
	got, err := cms.Certificates(der)
	if err != nil || len(got) != 2 || !slices.ContainsFunc(got, a.Root().Equal) || !slices.ContainsFunc(got, a.Chain()[0].Equal) {
		t.Errorf("%d certificates, %v", len(got), err)
	}
}

// The list of the root is signed anew when its content changes, when it is a minute old, and for an earlier time or data
// that has to be newer.
func TestRootCRLIsKept(t *testing.T) {
	t.Parallel()
	now := time.Now().Truncate(time.Second)
	a, err := NewP256(now)
	if err != nil {
		t.Fatal(err)
	}
	var last []byte
	want := func(what string, kept bool, at, notBefore time.Time) {
		t.Helper()
		der, err := a.rootCRL(at, notBefore)
		if err != nil || bytes.Equal(der, last) != kept {
			t.Errorf("%s: kept %v, %v", what, bytes.Equal(der, last), err)
		}
		last = der
	}
	want("the first", false, now, time.Time{})
	want("later", true, now.Add(59*time.Second), time.Time{})
	want("earlier", false, now.Add(-time.Second), time.Time{})
	want("a minute later", false, now.Add(time.Minute), time.Time{})
	want("newer data", false, now.Add(90*time.Second), now.Add(61*time.Second))
	a.Revoke(a.Chain()[0].SerialNumber, now.Add(100*time.Second), 4)
	want("before the revocation", true, now.Add(99*time.Second), time.Time{})
	want("after the revocation", false, now.Add(100*time.Second), time.Time{})
	a.Revoke(a.Chain()[0].SerialNumber, now.Add(100*time.Second), 6)
	want("another reason", false, now.Add(101*time.Second), time.Time{})
}
