// Package ocsp makes and reads the messages of the Online Certificate Status
// Protocol (RFC 6960, with the nonce of RFC 9654), on both sides of it. It opens
// no connection: a message is bytes.
//
// A client asks with [NewRequest], reads the answer with [Parse], finds what it
// asked for with [Response.For] and relies on it after [Response.Verify]. A
// responder reads with [ParseRequest] and answers with [Create] or [Refuse].
//
//	response, err := ocsp.Parse(der)
//	single, ok := response.For(cert, issuer)
//	responder, err := response.Verify(issuer)
//
// Whether an answer is recent enough, and whether the responder's own certificate
// was revoked, is left to the caller, who knows the time that matters.
package ocsp

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"time"

	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

const (
	// MaxSize is the length in bytes that no message may exceed.
	MaxSize = 1 << 20
	// MaxNonce is the length in bytes of the longest nonce (RFC 9654 2.1).
	MaxNonce = 128

	maxSingles      = 256
	maxCertificates = 16
)

var (
	// ErrFormat: the bytes are no message of the protocol.
	ErrFormat = errors.New("ocsp: malformed message")
	// ErrResponder: nobody who may answer for the issuer signed the response.
	ErrResponder = errors.New("ocsp: responder is not authorized")
)

// Status is what a response says of a certificate (RFC 6960 2.2).
type Status int

const (
	// Good: not revoked. It does not say that the certificate was ever issued.
	Good Status = iota
	// Revoked, for good or on hold.
	Revoked
	// Unknown: the responder knows nothing about the certificate.
	Unknown
)

// String returns the status as RFC 6960 writes it: "good".
func (s Status) String() string {
	switch s {
	case Good:
		return "good"
	case Revoked:
		return "revoked"
	case Unknown:
		return "unknown"
	}
	return fmt.Sprintf("Status(%d)", int(s))
}

// Response is a response with an answer (RFC 6960 4.2.1).
type Response struct {
	Raw          []byte // DER OCSPResponse, as validation data carries it
	ProducedAt   time.Time
	Nonce        []byte // nil when absent
	Certificates []*x509.Certificate
	Singles      []Single

	signed        der.Signed
	responderName []byte // DER Name: who signed, by name
	responderKey  []byte // or by the SHA-1 of the key
}

// Single is the answer about one certificate. Times have whole seconds.
type Single struct {
	ID            CertID
	Status        Status
	RevokedAt     time.Time // zero unless Revoked
	Reason        int       // CRLReason (RFC 5280 5.3.1); 0 when not said
	ThisUpdate    time.Time
	NextUpdate    time.Time // zero: newer information is available all the time
	ArchiveCutoff time.Time // zero when absent (RFC 6960 4.4.4)
}

// Refusal is why a responder gives no answer (RFC 6960 4.2.1, OCSPResponseStatus).
type Refusal int

const (
	MalformedRequest Refusal = 1
	InternalError    Refusal = 2
	TryLater         Refusal = 3
	SigRequired      Refusal = 5
	Unauthorized     Refusal = 6
)

// String returns the refusal as RFC 6960 writes it: "tryLater".
func (r Refusal) String() string {
	switch r {
	case MalformedRequest:
		return "malformedRequest"
	case InternalError:
		return "internalError"
	case TryLater:
		return "tryLater"
	case SigRequired:
		return "sigRequired"
	case Unauthorized:
		return "unauthorized"
	}
	return fmt.Sprintf("Refusal(%d)", int(r))
}

// StatusError is a response without an answer.
type StatusError struct{ Status Refusal }

func (e *StatusError) Error() string { return "ocsp: responder refuses: " + e.Status.String() }

var (
	oidBasic         = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 1}
	oidNonce         = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 2}
	oidArchiveCutoff = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 6}

	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
)
