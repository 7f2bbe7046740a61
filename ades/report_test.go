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

// TestReportPassed checks the verdict on a document by its signatures.
func TestReportPassed(t *testing.T) {
	whole := SignatureReport{Indication: TotalPassed, Coverage: WholeDocument}
	earlier := SignatureReport{Indication: Indeterminate, SubIndication: TryLater, Coverage: WholeRevision}
	failed := SignatureReport{Indication: TotalFailed, SubIndication: HashFailure, Coverage: WholeRevision}
	untrusted := SignatureReport{Indication: Indeterminate, SubIndication: NoCertificateChainFound, Coverage: WholeDocument}
	for name, row := range map[string]struct {
		signatures []SignatureReport
		want       bool
	}{
		"no signature":                     {nil, false},
		"signature of the whole document":  {[]SignatureReport{whole}, true},
		"earlier signature without data":   {[]SignatureReport{earlier, whole}, true},
		"content after the last signature": {[]SignatureReport{earlier}, false},
		"earlier signature failed":         {[]SignatureReport{failed, whole}, false},
		"no certificate chain to a root":   {[]SignatureReport{untrusted}, false},
	} {
		if got := (&Report{Signatures: row.signatures}).Passed(); got != row.want {
			t.Errorf("%s: got %t, want %t", name, got, row.want)
		}
	}
}

// TestFirstFailureDecides checks that a later failure adds a problem and changes no indication.
func TestFirstFailureDecides(t *testing.T) {
	var s SignatureReport
	s.Fail(TotalFailed, HashFailure, "first")
	s.Fail(Indeterminate, TryLater, "second")
	if s.Indication != TotalFailed || s.SubIndication != HashFailure || len(s.Problems) != 2 {
		t.Errorf("got %+v", s)
	}
}

// TestRevokedError checks the message, with the names of the reasons of RFC 5280 5.3.1 or their numbers.
func TestRevokedError(t *testing.T) {
	at := time.Date(2026, 5, 4, 3, 2, 1, 0, time.FixedZone("", 3600))
	cert := &x509.Certificate{
		SerialNumber: big.NewInt(0x3f), Issuer: pkix.Name{CommonName: "Issuing"},
		RawIssuer: []byte("Issuing"), RawSubject: []byte("Signer"),
	}
	for reason, want := range map[int]string{0: "unspecified", 1: "keyCompromise", 10: "aACompromise", 7: "reason 7", 11: "reason 11", -1: "reason -1"} {
		err := fmt.Errorf("signing: %w", &RevokedError{Certificate: cert, At: at, Reason: reason})
		if want = "signing: ades: certificate revoked: certificate 0x3f issued by CN=Issuing since 2026-05-04T02:02:01Z, " + want; err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
		if !errors.Is(err, ErrRevoked) || errors.Is(err, ErrNoRevocation) {
			t.Errorf("%v is not only %v", err, ErrRevoked)
		}
	}
}
