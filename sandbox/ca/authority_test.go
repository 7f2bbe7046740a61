package ca

import (
	"bytes"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"math/big"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

func issueTest(t *testing.T, a *Authority) *x509.Certificate {
	t.Helper()
	key := certtest.NewKey(t, elliptic.P256())
	cert, err := a.Issue("Dæmi um nafn", "1203894569", key.Public(), time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestChain(t *testing.T) {
	a := newAuthority(t)
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
	if _, err := ades.Chain(cert, a.Chain(), newAuthority(t).Roots(), time.Now()); err == nil {
		t.Error("another authority's root accepts the certificate")
	}
}

func TestMarshalBinary(t *testing.T) {
	a := newAuthority(t)
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

func newAuthority(t testing.TB) *Authority {
	t.Helper()
	a, err := New(time.Now())
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// ocspStatus returns the verified status of a certificate.
func ocspStatus(t *testing.T, a *Authority, cert, issuer *x509.Certificate, at time.Time) *ocsp.Single {
	t.Helper()
	request, err := ocsp.NewRequest(cert, issuer, crypto.SHA1, []byte("nonce")).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ocsp.Parse(a.OCSP(request, at))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Verify(issuer); err != nil || string(r.Nonce) != "nonce" || !r.ProducedAt.Equal(at.Truncate(time.Second)) {
		t.Errorf("produced at %v, nonce %q: %v", r.ProducedAt, r.Nonce, err)
	}
	single, ok := r.For(cert, issuer)
	if !ok || !single.ThisUpdate.Equal(at.Truncate(time.Second)) || !single.NextUpdate.After(at) {
		t.Fatalf("%+v", single)
	}
	return single
}

// RFC 6960 2.2: a revocation does not change answers as of an earlier time.
func TestRevoke(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	cert, issuing := issueTest(t, a), a.Chain()[0]
	a.Revoke(cert.SerialNumber, now, 1)
	a.Revoke(issuing.SerialNumber, now, 2)
	for _, row := range []struct {
		at   time.Time
		want ocsp.Status
	}{{now.Add(-time.Second), ocsp.Good}, {now, ocsp.Revoked}, {now.Add(time.Hour), ocsp.Revoked}} {
		for _, pair := range [][2]*x509.Certificate{{cert, issuing}, {issuing, a.Root()}} {
			if got := ocspStatus(t, a, pair[0], pair[1], row.at); got.Status != row.want {
				t.Errorf("%s at %v: %v", pair[0].Subject, row.at, got.Status)
			}
		}
		list := func(make func(time.Time) ([]byte, error), issuer, cert, other *x509.Certificate) {
			t.Helper()
			der, err := make(row.at)
			if err != nil {
				t.Fatal(err)
			}
			l, err := crl.Parse(der)
			if err != nil {
				t.Fatal(err)
			}
			if err := l.Verify(issuer); err != nil {
				t.Error(err)
			}
			if entry, err := l.Find(cert); err != nil || (entry != nil) != (row.want == ocsp.Revoked) {
				t.Errorf("%s in a list of %v: %+v, %v", cert.Subject, row.at, entry, err)
			}
			if theirs, err := x509.ParseRevocationList(der); err != nil || len(theirs.RevokedCertificateEntries) > 1 {
				t.Errorf("%d entries, %v", len(theirs.RevokedCertificateEntries), err)
			}
		}
		list(a.CRL, issuing, cert, issuing)
		list(a.RootCRL, a.Root(), issuing, cert)
	}
	if got := ocspStatus(t, a, cert, issuing, now); got.Reason != 1 || !got.RevokedAt.Equal(now.Truncate(time.Second)) {
		t.Errorf("%+v", got)
	}
	a.Revoke(cert.SerialNumber, now.Add(-time.Hour), 6)
	if got := ocspStatus(t, a, cert, issuing, now); got.Reason != 6 || !got.RevokedAt.Equal(now.Add(-time.Hour).Truncate(time.Second)) {
		t.Errorf("revoked again: %+v", got)
	}
}

// RFC 6960 2.2: the status of a certificate that the authority did not issue is unknown.
func TestUnknownCertificates(t *testing.T) {
	a, other := newAuthority(t), newAuthority(t)
	issuing := a.Chain()[0]
	for name, serial := range map[string]*big.Int{
		"another authority's": issueTest(t, other).SerialNumber,
		"the root's":          issuing.SerialNumber,
		"short":               big.NewInt(1),
		"negative":            new(big.Int).Neg(issueTest(t, a).SerialNumber),
		"one more":            new(big.Int).Add(issueTest(t, a).SerialNumber, big.NewInt(1)),
	} {
		if got := ocspStatus(t, a, &x509.Certificate{SerialNumber: serial}, issuing, time.Now()); got.Status != ocsp.Unknown {
			t.Errorf("%s serial number: %v", name, got.Status)
		}
	}
	// The status of a certificate of another issuer is unknown too.
	request, err := ocsp.NewRequest(issueTest(t, other), other.Chain()[0], crypto.SHA256, nil).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	r, err := ocsp.Parse(a.OCSP(request, time.Now()))
	if err != nil || r.Singles[0].Status != ocsp.Unknown {
		t.Errorf("%+v, %v", r, err)
	}
}

func TestMalformedRequests(t *testing.T) {
	a := newAuthority(t)
	for _, request := range [][]byte{nil, {0x30}, []byte("garbage"), make([]byte, ocsp.MaxSize+1)} {
		_, err := ocsp.Parse(a.OCSP(request, time.Now()))
		var status *ocsp.StatusError
		if !errors.As(err, &status) || status.Status != ocsp.MalformedRequest {
			t.Error(err)
		}
		if len(a.Timestamp(request, time.Now())) == 0 {
			t.Error("no answer to a timestamp request")
		}
	}
}

// RFC 5280 4.2.1.13 and 4.2.2.1.
func TestSetBaseURL(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	before := issueTest(t, a)
	if len(before.OCSPServer)+len(before.CRLDistributionPoints)+len(before.IssuingCertificateURL) != 0 {
		t.Error("addresses without a base URL")
	}
	if renewed, err := a.Renew(now); renewed || err != nil {
		t.Errorf("renewed without a reason: %v, %v", renewed, err)
	}
	a.SetBaseURL("http://ca.example/")
	if renewed, err := a.Renew(now); !renewed || err != nil {
		t.Errorf("not renewed for the address: %v", err)
	}
	if renewed, err := a.Renew(now); renewed || err != nil {
		t.Errorf("renewed twice: %v, %v", renewed, err)
	}
	after, issuing := issueTest(t, a), a.Chain()[0]
	for _, row := range []struct {
		got  []string
		want string
	}{
		{after.OCSPServer, "http://ca.example/ocsp"},
		{after.CRLDistributionPoints, "http://ca.example/crl"},
		{after.IssuingCertificateURL, "http://ca.example/issuers.p7c"},
		{issuing.CRLDistributionPoints, "http://ca.example/crl/root"},
		{issuing.IssuingCertificateURL, "http://ca.example/issuers.p7c"},
		{a.timestamping.certificate.OCSPServer, "http://ca.example/ocsp"},
	} {
		if diff := cmp.Diff([]string{row.want}, row.got); diff != "" {
			t.Error(diff)
		}
	}
	// The keys are the same, so certificates that were issued before the renewal are valid.
	for _, cert := range []*x509.Certificate{before, after} {
		if _, err := ades.Chain(cert, a.Chain(), a.Roots(), now); err != nil {
			t.Error(err)
		}
		if got := ocspStatus(t, a, cert, issuing, now); got.Status != ocsp.Good {
			t.Errorf("%v", got.Status)
		}
	}
}

// The responder's certificate is renewed before it expires, after a year.
func TestRenewBeforeExpiry(t *testing.T) {
	a, now := newAuthority(t), time.Now()
	cert := issueTest(t, a)
	later := now.AddDate(1, 0, -29)
	old := a.responder.certificate
	if renewed, err := a.Renew(later); !renewed || err != nil || a.responder.certificate.Equal(old) {
		t.Fatalf("%v, %v", renewed, err)
	}
	if got := ocspStatus(t, a, cert, a.Chain()[0], later.AddDate(0, 6, 0)); got.Status != ocsp.Good {
		t.Error(got.Status)
	}
}

// RFC 3161 2.3 and RFC 6960 4.2.2.2.1.
func TestServiceProfiles(t *testing.T) {
	a := newAuthority(t)
	critical := func(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
		i := slices.IndexFunc(c.Extensions, func(x pkix.Extension) bool { return x.Id.Equal(id) })
		return i >= 0 && c.Extensions[i].Critical
	}
	tsa, responder := a.timestamping.certificate, a.responder.certificate
	purpose, keyUsage, noCheck := asn1.ObjectIdentifier{2, 5, 29, 37}, asn1.ObjectIdentifier{2, 5, 29, 15}, ocspNoCheck.Id
	if !slices.Equal(tsa.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageTimeStamping}) || len(tsa.UnknownExtKeyUsage) != 0 ||
		!critical(tsa, purpose) || !critical(tsa, keyUsage) || tsa.KeyUsage != x509.KeyUsageDigitalSignature {
		t.Errorf("timestamping: %v, %v", tsa.ExtKeyUsage, tsa.KeyUsage)
	}
	if !slices.Equal(responder.ExtKeyUsage, []x509.ExtKeyUsage{x509.ExtKeyUsageOCSPSigning}) || critical(responder, purpose) ||
		!slices.ContainsFunc(responder.Extensions, func(x pkix.Extension) bool { return x.Id.Equal(noCheck) }) {
		t.Errorf("responder: %v", responder.ExtKeyUsage)
	}
	for _, c := range []*x509.Certificate{tsa, responder, issueTest(t, a)} {
		if c.IsCA || len(c.UnhandledCriticalExtensions) != 0 || len(c.AuthorityKeyId) == 0 || len(c.SubjectKeyId) == 0 {
			t.Errorf("%+v", c)
		}
	}
}

// A certificate is issued from a template that violates the profiles.
func TestIssueProfile(t *testing.T) {
	a := newAuthority(t)
	key := certtest.NewKey(t, elliptic.P256())
	template := &x509.Certificate{Subject: subject("expired"), NotBefore: time.Now().AddDate(-2, 0, 0), NotAfter: time.Now().AddDate(-1, 0, 0)}
	cert, err := a.IssueProfile(template, key.Public())
	if err != nil {
		t.Fatal(err)
	}
	if template.SerialNumber != nil || len(template.SubjectKeyId) != 0 {
		t.Error("the template was changed")
	}
	if _, err := ades.Chain(cert, a.Chain(), a.Roots(), time.Now()); !errors.Is(err, ades.ErrOutsideValidity) {
		t.Error(err)
	}
	if got := ocspStatus(t, a, cert, a.Chain()[0], time.Now()); got.Status != ocsp.Good {
		t.Errorf("the status is %v", got.Status)
	}
}

// An authority that version 2 stored is decoded and encoded without a change.
func TestVersion2(t *testing.T) {
	v2 := testenv.Golden(t, "testdata/version2.golden.json", func() []byte {
		a := newAuthority(t)
		a.Revoke(issueTest(t, a).SerialNumber, time.Date(2026, 3, 2, 10, 0, 0, 0, time.UTC), 1)
		encoded, err := a.MarshalBinary()
		if err != nil {
			t.Fatal(err)
		}
		return encoded
	})
	var a Authority
	if err := a.UnmarshalBinary(v2); err != nil {
		t.Fatal(err)
	}
	if again, err := a.MarshalBinary(); err != nil || !bytes.Equal(again, v2) {
		t.Errorf("%v\n%s", err, again)
	}
	if len(a.revoked) != 1 || a.serialKey == nil {
		t.Errorf("%d certificates are revoked, and the key of serial numbers is %x", len(a.revoked), a.serialKey)
	}
}

// An authority that version 1 stored has the root and the issuing authority only.
func TestVersion1(t *testing.T) {
	v1, err := os.ReadFile("testdata/version1.json")
	if err != nil {
		t.Fatal(err)
	}
	var a, again Authority
	if err := a.UnmarshalBinary(v1); err != nil {
		t.Fatal(err)
	}
	cert := issueTest(t, &a)
	now := time.Now()
	if got := ocspStatus(t, &a, cert, a.Chain()[0], now); got.Status != ocsp.Good {
		t.Errorf("%v", got.Status)
	}
	// It does not recognize the serial numbers that it issued.
	if got := ocspStatus(t, &a, &x509.Certificate{SerialNumber: big.NewInt(1)}, a.Chain()[0], now); got.Status != ocsp.Good {
		t.Errorf("an old serial number: %v", got.Status)
	}
	if got := ocspStatus(t, &a, a.Chain()[0], a.Root(), now); got.Status != ocsp.Good {
		t.Errorf("the issuing authority: %v", got.Status)
	}
	a.Revoke(cert.SerialNumber, now.Add(-time.Minute), 1)
	b, err := a.MarshalBinary()
	if err != nil || !strings.HasPrefix(string(b), `{"version":2,`) {
		t.Fatalf("%.20s, %v", b, err)
	}
	if err := again.UnmarshalBinary(b); err != nil {
		t.Fatal(err)
	}
	if got := ocspStatus(t, &again, cert, again.Chain()[0], now); got.Status != ocsp.Revoked || got.Reason != 1 {
		t.Errorf("%+v", got)
	}
	if !again.responder.certificate.Equal(a.responder.certificate) || !again.timestamping.certificate.Equal(a.timestamping.certificate) {
		t.Error("the services were not stored")
	}
}

// Incomplete encodings are refused.
func TestInvalidEncodings(t *testing.T) {
	b, err := newAuthority(t).MarshalBinary()
	if err != nil {
		t.Fatal(err)
	}
	whole := string(b)
	for _, encoded := range []string{"", "{}", `{"version":1}`, `{"version":3}`, strings.Replace(whole, `"responder"`, `"r"`, 1),
		strings.Replace(whole, `"timestampingKey":"M`, `"timestampingKey":"N`, 1)} {
		if err := new(Authority).UnmarshalBinary([]byte(encoded)); err == nil {
			t.Errorf("decoded: %.40s", encoded)
		}
	}
}
