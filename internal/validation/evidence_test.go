package validation

import (
	"crypto/x509"
	"math/big"
	"testing"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// EN 319 102-1 5.6.2.3: revocation data stands while those who signed it are in force, or longer where it is
// proven to be from before.
func TestEvidenceOfAnExpiredAuthority(t *testing.T) {
	now := time.Now()
	until := func(days int) *x509.Certificate {
		return &x509.Certificate{SerialNumber: big.NewInt(1), RawIssuer: []byte{1}, NotAfter: now.AddDate(0, 0, days)}
	}
	for _, test := range []struct {
		name                 string
		signer, issuer, root int // days that they are in force
		proven               int // days from now at which the data is known
		before, want         ades.SubIndication
	}{
		{"all in force", 1, 1, 1, 0, "", ""},
		{"signer expired", -1, 1, 1, 0, "", ""},
		{"root expired", 1, 1, -1, 0, "", ""},
		{"issuer expired", -1, -1, 1, 0, "", ades.OutOfBoundsNoPOE},
		{"issuer expired, and the data is from before", -1, -1, 1, -2, "", ""},
		{"nothing is as good as a failure", 1, -1, 1, 0, ades.HashFailure, ades.HashFailure},
	} {
		r := ades.SignatureReport{Chain: []*x509.Certificate{until(test.signer), until(test.issuer), until(test.root)}}
		if test.before != "" {
			r.Fail(ades.TotalFailed, test.before, "before")
		}
		Evidence(&r, now.AddDate(0, 0, test.proven))
		if r.SubIndication != test.want {
			t.Errorf("%s: %s, want %s", test.name, r.SubIndication, test.want)
		}
	}
}
