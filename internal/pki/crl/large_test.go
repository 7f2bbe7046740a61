package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/binary"
	"testing"
	"time"

	certtest "github.com/innsigli/innsigli/internal/test/cert"
	testenv "github.com/innsigli/innsigli/internal/test/env"
)

const (
	largeEntries = 1_350_000
	firstSerial  = 1 << 40
	lastSerial   = firstSerial + largeEntries - 1
)

// large returns a list of about 50 MB, which has more entries than any list in use, and its issuer.
func large(t testing.TB) (der []byte, issuer *x509.Certificate) {
	t.Helper()
	ca := certtest.New(t, "CA", nil, certtest.Authority)
	one := entry(firstSerial, reason(1))
	all := bytes.Repeat(one, largeEntries)
	for i := range largeEntries { // the serial number follows two headers and 0x01
		binary.BigEndian.PutUint32(all[i*len(one)+6:], uint32(i))
	}
	return assemble(t, ca, 1, all), ca.Cert
}

// findLast reads and verifies a list, and looks for the certificate of the last entry.
func findLast(t testing.TB, der []byte, issuer *x509.Certificate) *List {
	t.Helper()
	l, err := Parse(der)
	testenv.NoError(t, err)
	testenv.NoError(t, l.Verify(issuer))
	if e, err := l.Find(certificate(issuer, lastSerial)); err != nil || e == nil || e.Reason != 1 {
		t.Fatalf("last entry: got %+v, %v", e, err)
	}
	return l
}

// TestLargeList checks that the memory for reading a list does not grow with its length.
func TestLargeList(t *testing.T) {
	der, issuer := large(t)
	if len(der) < 50<<20 || len(der) > MaxSize {
		t.Fatalf("got a list of %d bytes, want 50 MB or more", len(der))
	}
	allocated := testing.AllocsPerRun(1, func() {
		l := findLast(t, der, issuer)
		if e, err := l.Find(certificate(issuer, 1)); err != nil || e != nil {
			t.Errorf("certificate without entry: got %+v, %v", e, err)
		}
	})
	if allocated > 500 {
		t.Errorf("got %v allocations for %d bytes, want at most 500", allocated, len(der))
	}
	if _, err := Parse(make([]byte, MaxSize+1)); err == nil {
		t.Error("a list longer than MaxSize is read")
	}
}

// BenchmarkLargeList reads and verifies a list of 50 MB, and looks for one certificate.
func BenchmarkLargeList(b *testing.B) {
	der, issuer := large(b)
	b.SetBytes(int64(len(der)))
	b.ReportAllocs()
	for b.Loop() {
		findLast(b, der, issuer)
	}
}

// BenchmarkStandardLibrary does the same as BenchmarkLargeList with crypto/x509.
func BenchmarkStandardLibrary(b *testing.B) {
	der, issuer := large(b)
	b.SetBytes(int64(len(der)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := x509.ParseRevocationList(der)
		testenv.NoError(b, err)
		testenv.NoError(b, l.CheckSignatureFrom(issuer))
		found := time.Time{}
		for _, e := range l.RevokedCertificateEntries {
			if e.SerialNumber.Cmp(certificate(issuer, lastSerial).SerialNumber) == 0 {
				found = e.RevocationTime
			}
		}
		if found.IsZero() {
			b.Fatal("not found")
		}
	}
}
