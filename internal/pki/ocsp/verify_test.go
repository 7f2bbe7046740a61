package ocsp

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"slices"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// RFC 6960 4.2.2.2: who may answer for an issuer.
func TestWhoMayAnswer(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	sub := certify(t, "CA below", ca, isAuthority)
	other := certify(t, "another CA", nil, isAuthority)
	namesake := certify(t, "CA", nil, isAuthority)
	leaf := certify(t, "leaf", ca, nil)
	renewed := renew(t, ca)
	edited := func(change func(*x509.Certificate)) *party {
		return certify(t, "responder", ca, func(c *x509.Certificate) { isResponder(c); change(c) })
	}
	for _, row := range []struct {
		name string
		by   *party
		want error
	}{
		{"the issuer", ca, nil},
		{"the issuer under a renewed certificate", renewed, nil},
		{"a responder of the issuer", certify(t, "responder", ca, isResponder), nil},
		{"a responder without key usage", edited(func(c *x509.Certificate) { c.KeyUsage = 0 }), nil},
		{"a responder for other things too", edited(func(c *x509.Certificate) { c.ExtKeyUsage = append(c.ExtKeyUsage, x509.ExtKeyUsageServerAuth) }), nil},
		{"a certificate without the purpose", certify(t, "responder", ca, nil), ErrResponder},
		{"a certificate for any purpose", edited(func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageAny} }), ErrResponder},
		{"a responder that may not sign", edited(func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }), ErrResponder},
		{"a responder with a critical extension", edited(func(c *x509.Certificate) {
			c.ExtraExtensions = []pkix.Extension{{Id: asn1.ObjectIdentifier{2, 5, 29, 16}, Critical: true, Value: []byte{0x30, 0}}}
		}), ErrResponder},
		{"a responder of an authority below", certify(t, "responder", sub, isResponder), ErrResponder},
		{"a responder of another authority", certify(t, "responder", other, isResponder), ErrResponder},
		{"another authority", other, ErrResponder},
		{"another authority of the same name", namesake, ErrResponder},
		{"a responder of that", certify(t, "responder", namesake, isResponder), ErrResponder},
		{"the certificate itself", leaf, ErrResponder},
		{"a responder that expired", edited(func(c *x509.Certificate) { c.NotAfter = now.Add(-time.Second) }), ades.ErrOutsideValidity},
		{"a responder that is not valid yet", edited(func(c *x509.Certificate) { c.NotBefore = now.Add(time.Second) }), ades.ErrOutsideValidity},
		{"a responder whose last second it is", edited(func(c *x509.Certificate) { c.NotAfter = now }), nil},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := Parse(answer(t, leaf.cert, ca, row.by, nil))
			if err != nil {
				t.Fatal(err)
			}
			by, err := r.Verify(ca.cert)
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Fatalf("%v, want %v", err, row.want)
			}
			if err == nil && !bytes.Equal(by.RawSubjectPublicKeyInfo, row.by.cert.RawSubjectPublicKeyInfo) {
				t.Errorf("signed by %s", by.Subject)
			}
		})
	}
}

// renew makes a certificate for the same name and key.
func renew(t *testing.T, p *party) *party {
	t.Helper()
	return &party{certtest.Issue(t, *p.cert, p.key, nil, nil), p.key}
}

// A responder's certificate that is not carried is not known; the issuer's is.
func TestCertificatesCarried(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	responder := certify(t, "responder", ca, isResponder)
	none := func(r *Response) { r.Certificates = nil }
	many := func(r *Response) { r.Certificates = slices.Repeat(r.Certificates, maxCertificates) }
	tooMany := func(r *Response) { r.Certificates = slices.Repeat(r.Certificates, maxCertificates+1) }
	for _, row := range []struct {
		name   string
		by     *party
		change func(*Response)
		want   error
	}{
		{"none, by the issuer", ca, none, nil},
		{"none, by a responder", responder, none, ErrResponder},
		{"many", responder, many, nil},
		{"too many", responder, tooMany, ErrFormat},
	} {
		t.Run(row.name, func(t *testing.T) {
			r, err := Parse(answer(t, ca.cert, ca, row.by, row.change))
			if err == nil {
				_, err = r.Verify(ca.cert)
			}
			if !errors.Is(err, row.want) || (err == nil) != (row.want == nil) {
				t.Errorf("%v, want %v", err, row.want)
			}
		})
	}
}

// Every byte of a response but the certificates' is protected.
func TestChangedResponses(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	whole := answer(t, ca.cert, ca, ca, func(r *Response) { r.Nonce, r.Certificates = []byte("nonce"), nil })
	for i := range whole {
		changed := slices.Clone(whole)
		changed[i] ^= 0x01
		r, err := Parse(changed)
		if err != nil {
			continue
		}
		if _, err := r.Verify(ca.cert); err == nil {
			t.Errorf("byte %d of %d may be changed", i, len(whole))
		}
	}
}

// What was signed with SHA-1 can be forged (ETSI TS 119 312).
func TestWeakSignature(t *testing.T) {
	ca := certify(t, "CA", nil, isAuthority)
	r, err := Parse(answer(t, ca.cert, ca, ca, nil))
	if err != nil {
		t.Fatal(err)
	}
	r.signed.Algorithm = []byte{0x30, 0x09, 0x06, 0x07, 0x2a, 0x86, 0x48, 0xce, 0x3d, 0x04, 0x01} // ecdsa-with-SHA1
	if _, err := r.Verify(ca.cert); !errors.Is(err, ades.ErrAlgorithm) {
		t.Error(err)
	}
}
