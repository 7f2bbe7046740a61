package validation_test

import (
	"context"
	"crypto"
	"crypto/elliptic"
	"crypto/x509"
	"crypto/x509/pkix"
	"math/big"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/validation"
	certtest "github.com/innsigli/innsigli/internal/test/cert"
)

// silent keeps everybody waiting, and counts them.
type silent struct {
	takes time.Duration
	asked int
}

func (s *silent) Revocation(ctx context.Context, cert, _ *x509.Certificate, _ time.Time) (ades.RevocationData, error) {
	return ades.RevocationData{}, s.answer(ctx)
}

func (s *silent) Issuers(ctx context.Context, _ *x509.Certificate) ([]*x509.Certificate, error) {
	return nil, s.answer(ctx)
}

func (s *silent) answer(ctx context.Context) error {
	s.asked++
	select {
	case <-ctx.Done():
	case <-time.After(s.takes): // time: virtual, in the bubble of the only test
	}
	return ades.ErrUnavailable
}

// A document may have any number of certificates with addresses: only some are asked about, each once, and
// only for so long.
func TestAskingIsBounded(t *testing.T) {
	key, own := certtest.NewKey(t, elliptic.P256()), certtest.NewKey(t, elliptic.P256())
	for _, test := range []struct {
		name string
		// takes is how long an answer takes.
		takes, most time.Duration
		asked       int
	}{
		{"number", 0, 0, 64},
		{"time", 7 * time.Second, time.Minute, 9},
	} {
		for _, stranger := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				root := certtest.Issue(t, x509.Certificate{SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "Root"}, IsCA: true, BasicConstraintsValid: true}, key, nil, nil)
				roots := x509.NewCertPool()
				source := &silent{takes: test.takes}
				sources := ades.Sources{Roots: roots, Revocation: source}
				if stranger {
					sources = ades.Sources{Roots: roots, Issuers: source}
				} else {
					roots.AddCert(root)
				}
				known := validation.NewKnown(t.Context(), sources)
				judge := validation.Judge{Data: new(validation.Data).ShareLimit(known), Time: time.Now(), Online: validation.NewOnline(t.Context(), sources)}
				began := time.Now()
				var cert *x509.Certificate
				for i := range 200 {
					if i%2 == 0 {
						cert = certtest.Issue(t, x509.Certificate{SerialNumber: big.NewInt(int64(i + 2))}, own, root, key)
					}
					r := ades.SignatureReport{Certificate: cert, ClaimedTime: time.Now(), Algorithm: ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}}
					judge.Signer(&r, known)
					if len(r.Warnings) != 1 || r.Indication != ades.Indeterminate {
						t.Fatalf("%+v", r)
					}
				}
				if took := time.Since(began); took > test.most || source.asked != test.asked {
					t.Errorf("%s, stranger %t: asked %d times in %v", test.name, stranger, source.asked, took)
				}
			})
		}
	}
}
