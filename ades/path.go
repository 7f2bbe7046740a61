package ades

import (
	"crypto/x509"
	"time"
)

// RevocationStatus reports whether a certificate was revoked at the time by which it is judged.
type RevocationStatus string

const (
	// RevocationGood: it was not revoked then. RevokedAt says if it was later.
	RevocationGood RevocationStatus = "GOOD"
	// RevocationRevoked: it was revoked, for good.
	RevocationRevoked RevocationStatus = "REVOKED"
	// RevocationOnHold: it was suspended, which may end or become a revocation (RFC 5280 5.3.1).
	RevocationOnHold RevocationStatus = "ON_HOLD"
	// RevocationUnknown: nothing that may be relied upon says.
	RevocationUnknown RevocationStatus = "UNKNOWN"
	// RevocationNotNeeded: nobody has to say. It is a trust anchor, or one that is issued without revocation:
	// short-lived (EN 319 412-1 5.2), or with noRevAvail (RFC 9608) or ocsp-nocheck (RFC 6960 4.2.2.2.1).
	RevocationNotNeeded RevocationStatus = "NOT_NEEDED"
)

// RevocationSource is the kind of [RevocationData].
type RevocationSource string

const (
	SourceOCSP RevocationSource = "OCSP" // an OCSP response (RFC 6960)
	SourceCRL  RevocationSource = "CRL"  // a certificate revocation list (RFC 5280 5)
)

// CertificateStatus is a certificate of a path, and what was found about its revocation. All but Certificate and
// Revocation are of the revocation data that says so, and zero without any.
type CertificateStatus struct {
	Certificate *x509.Certificate
	Revocation  RevocationStatus
	RevokedAt   time.Time // also of one that is good, and was revoked after the time by which it is judged
	Reason      int       // why it was revoked: CRLReason (RFC 5280 5.3.1)
	Source      RevocationSource
	ProducedAt  time.Time // when the data was signed; of a CRL its ThisUpdate
	ThisUpdate  time.Time // the time that the data is about
	Fetched     bool      // the data was asked for, and is not in the document
}
