package crl

import (
	"bytes"
	"crypto/x509"
	"encoding/binary"
	"math/big"
	"testing"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// large is a list of about 50 MB: more entries than the largest in use.
func large(t testing.TB) (der []byte, issuer, last *x509.Certificate) {
	t.Helper()
	const entries = 1_350_000
	ca := certify(t, "CA", nil, isAuthority)
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, entry(1<<40, now, 1))
	one := b.BytesOrPanic()
	all := bytes.Repeat(one, entries)
	for i := range entries { // the serial number follows two headers and 0x01
		binary.BigEndian.PutUint32(all[i*len(one)+6:], uint32(i))
	}
	der = assembleDER(t, ca, 1, all)
	return der, ca.cert, &x509.Certificate{RawIssuer: ca.cert.RawSubject, SerialNumber: big.NewInt(1<<40 + entries - 1)}
}

// However long a list is, reading it takes a fixed amount of memory beside it.
func TestLargeList(t *testing.T) {
	der, issuer, last := large(t)
	if len(der) < 50<<20 || len(der) > MaxSize {
		t.Fatalf("a list of %d bytes", len(der))
	}
	absent := &x509.Certificate{RawIssuer: last.RawIssuer, SerialNumber: big.NewInt(1)}
	allocated := testing.AllocsPerRun(1, func() {
		l, err := Parse(der)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Verify(issuer); err != nil {
			t.Fatal(err)
		}
		if e, err := l.Find(last); err != nil || e == nil || e.Reason != 1 {
			t.Errorf("the last entry: %+v, %v", e, err)
		}
		if e, err := l.Find(absent); err != nil || e != nil {
			t.Errorf("absent: %+v, %v", e, err)
		}
	})
	if allocated > 500 {
		t.Errorf("%v allocations for %d bytes", allocated, len(der))
	}
	if _, err := Parse(make([]byte, MaxSize+1)); err == nil {
		t.Error("a longer one is read")
	}
}

// BenchmarkLargeList is what one look into a list of 50 MB costs; BenchmarkStandardLibrary
// is the same by crypto/x509.
func BenchmarkLargeList(b *testing.B) {
	der, issuer, last := large(b)
	b.SetBytes(int64(len(der)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := Parse(der)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.Verify(issuer); err != nil {
			b.Fatal(err)
		}
		if e, err := l.Find(last); err != nil || e == nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkStandardLibrary(b *testing.B) {
	der, issuer, last := large(b)
	b.SetBytes(int64(len(der)))
	b.ReportAllocs()
	for b.Loop() {
		l, err := x509.ParseRevocationList(der)
		if err != nil {
			b.Fatal(err)
		}
		if err := l.CheckSignatureFrom(issuer); err != nil {
			b.Fatal(err)
		}
		found := time.Time{}
		for _, e := range l.RevokedCertificateEntries {
			if e.SerialNumber.Cmp(last.SerialNumber) == 0 {
				found = e.RevocationTime
			}
		}
		if found.IsZero() {
			b.Fatal("not found")
		}
	}
}
