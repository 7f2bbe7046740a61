package ades

import (
	"crypto/x509"
	"errors"
	"time"
)

// Errors about documents, of the packages of both formats.
var (
	// ErrUnreadable: the document is not a file of the format, or exceeds a bound.
	ErrUnreadable = errors.New("ades: document cannot be read")
	// ErrForbidden: the document does not allow such a signature, or not in that place: a signature that it has forbids it
	// or would break.
	ErrForbidden = errors.New("ades: document does not allow such a signature")
	// ErrBroken: a signature that the document has is wrong by what the document itself shows, so that another one, or
	// validation data for it, would seem to confirm it.
	ErrBroken = errors.New("ades: signature of the document is broken")
	// ErrUnsigned: the document has no signature to extend.
	ErrUnsigned = errors.New("ades: document has no signature")
)

// VerifyOptions are what a verification goes by. The zero value trusts nobody and judges at the present time.
type VerifyOptions struct {
	// Roots are what the certificates of signers have to lead to.
	Roots *x509.CertPool
	// TimestampRoots are what the certificates of timestamp authorities have to lead to; nil: Roots.
	TimestampRoots *x509.CertPool
	// Time is the time at which certificates have to be valid; zero: now.
	Time time.Time
	// Revocation and Issuers are asked for what the document lacks, below the roots and about each certificate once;
	// package online has sources that ask over HTTP. nil: nobody is asked.
	Revocation Revocation
	Issuers    Issuers
}
