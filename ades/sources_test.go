package ades

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"errors"
	"fmt"
	"math/big"
	"testing"
	"time"
)

// RFC 5280 5.3.1 names the reasons; the others are said by their number.
func TestRevokedErrorSaysWhenAndWhy(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.FixedZone("", 3600))
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(0x3f), Issuer: pkix.Name{CommonName: "Issuing"},
		RawIssuer: []byte("Issuing"), RawSubject: []byte("Signer"),
	}
	for reason, want := range map[int]string{
		0: "unspecified", 1: "keyCompromise", 6: "certificateHold", 10: "aACompromise",
		7: "reason 7", 11: "reason 11", -1: "reason -1",
	} {
		err := fmt.Errorf("signing: %w", &RevokedError{Certificate: cert, At: at, Reason: reason})
		if want = "signing: ades: certificate revoked: certificate 0x3f issued by CN=Issuing since 2026-05-04T02:02:01Z, " + want; err.Error() != want {
			t.Errorf("%v, want %s", err, want)
		}
		var revoked *RevokedError
		if !errors.Is(err, ErrRevoked) || errors.Is(err, ErrNoRevocation) || !errors.As(err, &revoked) || revoked.Reason != reason {
			t.Errorf("%#v", err)
		}
	}
}
