package ades

import (
	"crypto/x509"
	"time"
)

// TimestampType says what a timestamp is over.
type TimestampType string

const (
	// SignatureTimestamp is over a signature's value and carried by the signature
	// (EN 319 122-1 5.3).
	SignatureTimestamp TimestampType = "SIGNATURE_TIMESTAMP"
	// DocumentTimestamp is over a document with all signatures in it (ISO 32000-2 12.8.5).
	DocumentTimestamp TimestampType = "DOCUMENT_TIMESTAMP"
	// ArchiveTimestamp is over a signature with what it signs and its validation data, and carried
	// by the signature (EN 319 132-1 5.5.2).
	ArchiveTimestamp TimestampType = "ARCHIVE_TIMESTAMP"
)

// TimestampReport is the result for one timestamp.
type TimestampReport struct {
	Type      TimestampType
	Name      string    // of the signature field of a document timestamp, else empty
	Time      time.Time // zero when the token cannot be read
	Intact    bool      // it is over what it stands for, and its value verifies
	Trusted   bool      // and its authority could be relied upon, so that it proves its time
	Authority *x509.Certificate
	// Path is from Authority to a trusted root, as of JudgedAt; empty when there is none.
	Path []CertificateStatus
	// JudgedAt is the time at which the timestamp is known to have existed, by which Authority was judged; zero
	// when it did not come to that.
	JudgedAt time.Time
	Problems []string // what keeps it from being trusted, in sentences
}

// Fail records what keeps the timestamp from being trusted.
func (t *TimestampReport) Fail(problem string) { t.Problems = append(t.Problems, problem) }
