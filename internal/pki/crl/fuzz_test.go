package crl

import (
	"crypto/x509"
	"math/big"
	"testing"

	"golang.org/x/crypto/cryptobyte"
)

// What is read agrees with crypto/x509, where that reads it too.
func FuzzParse(f *testing.F) {
	ca := certify(f, "CA", nil, isAuthority)
	f.Add(create(f, ca, nil, certify(f, "revoked", ca, nil)), int64(1))
	f.Add(assemble(f, ca, 0, nil), int64(0))
	f.Add(assemble(f, ca, 1, []cryptobyte.BuilderContinuation{entry(5, now, 0), entry(6, now, 6)}), int64(6))
	f.Fuzz(func(t *testing.T, der []byte, serial int64) {
		l, err := Parse(der)
		if err != nil {
			return
		}
		l.Verify(ca.cert)
		cert := &x509.Certificate{RawIssuer: l.issuer, SerialNumber: big.NewInt(serial)}
		e, err := l.Find(cert)
		theirs, theirErr := x509.ParseRevocationList(der)
		if err != nil || theirErr != nil {
			return
		}
		var want *x509.RevocationListEntry
		for i := range theirs.RevokedCertificateEntries {
			if theirs.RevokedCertificateEntries[i].SerialNumber.Cmp(cert.SerialNumber) == 0 {
				want = &theirs.RevokedCertificateEntries[i]
			}
		}
		if (e == nil) != (want == nil) || e != nil && (!e.RevokedAt.Equal(want.RevocationTime) || e.Reason != want.ReasonCode) {
			t.Errorf("%+v, crypto/x509 has %+v", e, want)
		}
	})
}
