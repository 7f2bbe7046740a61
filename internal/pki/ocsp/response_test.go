package ocsp

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
	reference "golang.org/x/crypto/ocsp"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

// TestResponse reads responses with each status as they were written (RFC 6960 4.2.1), and has golang.org/x/crypto/ocsp
// read them.
func TestResponse(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	leaf := certtest.New(t, "leaf", ca).Cert
	responder := certtest.New(t, "responder", ca, certtest.Responder)
	id := newCertID(leaf, ca.Cert, crypto.SHA1)
	for _, want := range []Single{
		{ID: id, Status: Good, ThisUpdate: now},
		{ID: id, Status: Good, ThisUpdate: now, NextUpdate: now.Add(time.Minute), ArchiveCutoff: now.AddDate(-7, 0, 0)},
		{ID: id, Status: Revoked, RevokedAt: now.Add(-time.Hour), ThisUpdate: now},
		{ID: id, Status: Revoked, RevokedAt: now.Add(-time.Hour), Reason: 6, ThisUpdate: now, NextUpdate: now.Add(time.Minute)},
		{ID: id, Status: Unknown, ThisUpdate: now},
	} {
		t.Run(want.Status.String(), func(t *testing.T) {
			der := respond(t, leaf, ca, responder, func(r *Response) { r.Nonce, r.Singles = []byte("nonce"), []Single{want} })
			r, err := Parse(der)
			testenv.NoError(t, err)
			got, ok := r.For(leaf, ca.Cert)
			if !ok || !r.ProducedAt.Equal(now) || string(r.Nonce) != "nonce" || !bytes.Equal(r.Raw, der) {
				t.Fatalf("got %+v", r)
			}
			got.ID.algorithm = nil // only a CertID that was read has it
			compareBig := cmp.Comparer(func(a, b *big.Int) bool { return a.Cmp(b) == 0 })
			if diff := cmp.Diff(want, *got, cmp.AllowUnexported(CertID{}), compareBig); diff != "" {
				t.Errorf("-want +got:\n%s", diff)
			}
			if by, err := r.Verify(ca.Cert); err != nil || !by.Equal(responder.Cert) {
				t.Errorf("verified by %v: %v", by, err)
			}
			theirs, err := reference.ParseResponseForCert(der, leaf, ca.Cert)
			testenv.NoError(t, err)
			if theirs.Status != int(want.Status) || !theirs.ThisUpdate.Equal(want.ThisUpdate) ||
				!theirs.NextUpdate.Equal(want.NextUpdate) || !theirs.RevokedAt.Equal(want.RevokedAt) || theirs.RevocationReason != want.Reason {
				t.Errorf("golang.org/x/crypto/ocsp reads %+v, want %+v", theirs, want)
			}
		})
	}
}

// TestFor finds the status of a certificate by its serial number and issuer, in a response of golang.org/x/crypto/ocsp,
// which names the responder and has no nonce. Of several, the newest counts (RFC 6960 2.4).
func TestFor(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	leaf := certtest.New(t, "leaf", ca).Cert
	responder := certtest.New(t, "responder", ca, certtest.Responder)
	der, err := reference.CreateResponse(ca.Cert, responder.Cert, reference.Response{
		Status: reference.Revoked, SerialNumber: leaf.SerialNumber, RevokedAt: now.Add(-time.Minute), RevocationReason: reference.KeyCompromise,
		ThisUpdate: now, NextUpdate: now.Add(time.Hour), Certificate: responder.Cert, IssuerHash: crypto.SHA256,
	}, responder.Key)
	testenv.NoError(t, err)
	r, err := Parse(der)
	testenv.NoError(t, err)
	if _, err := r.Verify(ca.Cert); err != nil {
		t.Error(err)
	}
	single, ok := r.For(leaf, ca.Cert)
	if !ok || single.Status != Revoked || single.Reason != 1 || !single.RevokedAt.Equal(now.Add(-time.Minute)) {
		t.Fatalf("got %+v", single)
	}
	if _, ok := r.For(responder.Cert, ca.Cert); ok {
		t.Error("it has the status of a certificate with another serial number")
	}
	if _, ok := r.For(leaf, responder.Cert); ok {
		t.Error("it has the status of a certificate of another issuer")
	}
	older := Single{ID: single.ID, ThisUpdate: now.Add(-time.Hour)}
	r.Singles = []Single{older, *single, older}
	if single, ok := r.For(leaf, ca.Cert); !ok || single.Status != Revoked {
		t.Errorf("older responses beside it: got %+v", single)
	}
}

// TestVerify checks which responders are authorized to answer for an issuer (RFC 6960 4.2.2.2), and which certificates
// a response has to contain.
func TestVerify(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	below := certtest.New(t, "subordinate CA", ca, certtest.Authority)
	namesake := certtest.New(t, "CA", nil, certtest.Authority)
	leaf := certtest.New(t, "leaf", ca).Cert
	responder := certtest.New(t, "responder", ca, certtest.Responder)
	changed := func(change func(*x509.Certificate)) *certtest.Pair {
		return certtest.New(t, "responder", ca, certtest.Responder, change)
	}
	usages := func(all ...x509.ExtKeyUsage) *certtest.Pair {
		return changed(func(c *x509.Certificate) { c.ExtKeyUsage = all })
	}
	critical := pkix.Extension{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true, Value: []byte{0x30, 0}}
	contains := func(n int) func(*Response) {
		return func(r *Response) { r.Certificates = slices.Repeat(r.Certificates, n) }
	}
	for _, test := range []struct {
		name   string
		by     *certtest.Pair
		change func(*Response)
		want   error
	}{
		{"issuer", ca, contains(1), nil},
		{"issuer, renewed", certtest.NewForKey(t, "CA", ca.Key, nil, certtest.Authority), contains(1), nil},
		{"issuer, certificate absent", ca, contains(0), nil},
		{"responder", responder, contains(1), nil},
		{"responder, as many certificates as allowed", responder, contains(maxCertificates), nil},
		{"responder, more certificates than allowed", responder, contains(maxCertificates + 1), ErrFormat},
		{"responder, certificate absent", responder, contains(0), ErrResponder},
		{"responder without key usage", changed(func(c *x509.Certificate) { c.KeyUsage = 0 }), contains(1), nil},
		{"responder with a key usage without signatures",
			changed(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }), contains(1), ErrResponder},
		{"responder with a second purpose", usages(x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageOCSPSigning), contains(1), nil},
		{"certificate without purpose", usages(), contains(1), ErrResponder},
		{"certificate for any purpose", usages(x509.ExtKeyUsageAny), contains(1), ErrResponder},
		{"responder with an unknown critical extension", changed(certtest.Extended(critical)), contains(1), ErrResponder},
		{"responder of a subordinate authority", certtest.New(t, "responder", below, certtest.Responder), contains(1), ErrResponder},
		{"another authority with the issuer's name", namesake, contains(1), ErrResponder},
		{"responder of that authority", certtest.New(t, "responder", namesake, certtest.Responder), contains(1), ErrResponder},
		{"responder that expired before", changed(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }), contains(1), ades.ErrOutsideValidity},
		{"responder in its last second", changed(func(c *x509.Certificate) { c.NotAfter = now }), contains(1), nil},
		{"responder that is valid later", changed(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }), contains(1), ades.ErrOutsideValidity},
	} {
		t.Run(test.name, func(t *testing.T) {
			r, err := Parse(respond(t, leaf, ca, test.by, test.change))
			var by *x509.Certificate
			if err == nil {
				by, err = r.Verify(ca.Cert)
			}
			if !errors.Is(err, test.want) {
				t.Fatalf("got %v, want %v", err, test.want)
			}
			if err == nil && !bytes.Equal(by.RawSubjectPublicKeyInfo, test.by.Cert.RawSubjectPublicKeyInfo) {
				t.Errorf("verified with the key of %s", by.Subject)
			}
		})
	}
}

// TestChangedResponse changes each byte of a response, and cuts it at each byte.
func TestChangedResponse(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	whole := respond(t, ca.Cert, ca, ca, func(r *Response) { r.Nonce, r.Certificates = []byte("nonce"), nil })
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 0x01
		if r, err := Parse(changed); err == nil {
			if _, err := r.Verify(ca.Cert); err == nil {
				t.Errorf("byte %d of %d changed: the response verifies", i, len(whole))
			}
		}
		if _, err := Parse(whole[:i]); !errors.Is(err, ErrFormat) {
			t.Errorf("cut to %d bytes: got %v, want ErrFormat", i, err)
		}
	}
	for name, der := range map[string][]byte{"a byte after it": append(whole, 0), "larger than MaxSize": make([]byte, MaxSize+1)} {
		if _, err := Parse(der); !errors.Is(err, ErrFormat) {
			t.Errorf("%s: got %v, want ErrFormat", name, err)
		}
	}
}

// TestSHA1Signature checks that a response signed with SHA-1 does not verify (ETSI TS 119 312).
func TestSHA1Signature(t *testing.T) {
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	r, err := Parse(respond(t, ca.Cert, ca, ca, func(*Response) {}))
	testenv.NoError(t, err)
	r.signed.Algorithm = []byte{0x30, 0x09, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01} // ecdsa-with-SHA1
	if _, err := r.Verify(ca.Cert); !errors.Is(err, ades.ErrAlgorithm) {
		t.Errorf("got %v, want ErrAlgorithm", err)
	}
}

// TestRefuse reads each refusal as it was written, and has golang.org/x/crypto/ocsp read it (RFC 6960 4.2.1).
func TestRefuse(t *testing.T) {
	for _, why := range []Refusal{MalformedRequest, InternalError, TryLater, SigRequired, Unauthorized} {
		_, err := Parse(Refuse(why))
		var status *StatusError
		if !errors.As(err, &status) || status.Status != why {
			t.Errorf("got %v, want %v", err, why)
		}
		if _, err := reference.ParseResponse(Refuse(why), nil); !errors.As(err, new(reference.ResponseError)) {
			t.Errorf("%v: golang.org/x/crypto/ocsp reads %v", why, err)
		}
	}
}

// TestTimeWithFraction checks that a time may have a fraction of a second, which some responders write.
func TestTimeWithFraction(t *testing.T) {
	var b cryptobyte.Builder
	b.AddASN1(tagContext0, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.GeneralizedTime, func(b *cryptobyte.Builder) { b.AddBytes([]byte("20260228235908.25Z")) })
	})
	s := cryptobyte.String(b.BytesOrPanic())
	var got time.Time
	if want := time.Date(2026, 2, 28, 23, 59, 8, 250_000_000, time.UTC); !readOptionalTime(&s, tagContext0, &got) || !got.Equal(want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestForeignResponses reads the responses in signed XML files of the corpus. Most verify with a certificate that they
// contain. The others are signed with SHA-1, or the responder's certificate is absent.
func TestForeignResponses(t *testing.T) {
	read, verified := 0, 0
	testenv.EncapsulatedValues(t, "EncapsulatedOCSPValue", func(name string, der []byte) {
		r, err := Parse(der)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return
		}
		if read++; len(r.Singles) == 0 || r.ProducedAt.IsZero() {
			t.Errorf("%s: got %+v", name, r)
		}
		if slices.ContainsFunc(r.Certificates, func(c *x509.Certificate) bool { return r.matchesResponderID(c) && r.signed.Verify(c) == nil }) {
			verified++
		}
	})
	if read < 40 || verified < 35 {
		t.Errorf("got %d responses of which %d verify, want at least 40 and 35", read, verified)
	}
}

// FuzzParse checks the limits of a response, and that a revoked certificate has a time.
func FuzzParse(f *testing.F) {
	ca := certtest.New(f, "CA", nil, certtest.Authority)
	leaf := certtest.New(f, "leaf", ca).Cert
	f.Add(Refuse(TryLater))
	f.Add(respond(f, leaf, ca, ca, func(*Response) {}))
	f.Add(respond(f, leaf, ca, certtest.New(f, "responder", ca, certtest.Responder), func(r *Response) {
		r.Nonce = []byte("nonce")
		s := &r.Singles[0]
		s.Status, s.RevokedAt, s.Reason, s.ArchiveCutoff = Revoked, now, 1, now
	}))
	f.Fuzz(func(t *testing.T, der []byte) {
		r, err := Parse(der)
		if err != nil {
			return
		}
		if len(r.Singles) > maxSingles || len(r.Certificates) > maxCertificates || len(r.Nonce) > MaxNonce {
			t.Errorf("%d single responses, %d certificates, nonce of %d bytes", len(r.Singles), len(r.Certificates), len(r.Nonce))
		}
		r.For(leaf, ca.Cert)
		if _, err := r.Verify(ca.Cert); err != nil {
			return
		}
		for _, s := range r.Singles {
			if s.Status == Revoked && s.RevokedAt.IsZero() {
				t.Errorf("revoked without a time: %+v", s)
			}
		}
	})
}

// now is the time of the responses, in whole seconds.
var now = time.Now().UTC().Truncate(time.Second)

// respond creates a response with the status good of a certificate, in force for ten minutes. change edits it.
func respond(t testing.TB, about *x509.Certificate, issuer, by *certtest.Pair, change func(*Response)) []byte {
	t.Helper()
	r := Response{
		ProducedAt:   now,
		Certificates: []*x509.Certificate{by.Cert},
		Singles:      []Single{{ID: newCertID(about, issuer.Cert, crypto.SHA256), ThisUpdate: now, NextUpdate: now.Add(10 * time.Minute)}},
	}
	change(&r)
	der, err := Create(r, by.Cert, by.Key)
	testenv.NoError(t, err)
	return der
}
