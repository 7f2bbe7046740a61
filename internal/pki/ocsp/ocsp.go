// Package ocsp reads and writes the messages of the Online Certificate Status Protocol (RFC 6960,
// with the nonce of RFC 9654), for clients and for responders. It opens no network connections;
// messages are byte slices.
//
// A client makes a request with [NewRequest], reads the response with [Parse], finds the status of
// its certificate with [Response.For], and relies on it after [Response.Verify]. A responder reads
// a request with [ParseRequest] and answers with [Create] or [Refuse].
//
//	response, err := ocsp.Parse(der)
//	single, ok := response.For(cert, issuer)
//	responder, err := response.Verify(issuer)
//
// The package checks neither whether a response is recent enough nor whether the responder's
// certificate was revoked. The caller does, because it knows the time of validation.
package ocsp

import (
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

const (
	// MaxSize is the maximum size of a message in bytes.
	MaxSize = 1 << 20
	// MaxNonce is the maximum length of a nonce in bytes (RFC 9654 2.1).
	MaxNonce = 128

	maxSingles      = 256 // certificates of a request, and single responses of a response
	maxCertificates = 16  // of a response
)

var (
	// ErrFormat: the bytes are not a message of the protocol.
	ErrFormat = errors.New("ocsp: malformed message")
	// ErrResponder: the response is not from a responder that is authorized to answer for the issuer.
	ErrResponder = errors.New("ocsp: responder is not authorized")
)

// A Status is the status of a certificate (RFC 6960 2.2).
type Status int

const (
	// Good: the certificate is not revoked. It may never have been issued.
	Good Status = iota
	// Revoked: the certificate is revoked, permanently or on hold.
	Revoked
	// Unknown: the responder does not know the certificate.
	Unknown
)

// String returns the name that RFC 6960 gives the status, such as "good".
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

var (
	oidBasic         = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 1}
	oidNonce         = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 2}
	oidArchiveCutoff = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 6}

	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
)

// The choices of CertStatus are implicitly tagged (RFC 6960 4.2.1).
var (
	tagGood    = cbasn1.Tag(0).ContextSpecific()
	tagRevoked = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagUnknown = cbasn1.Tag(2).ContextSpecific()
)

// readExplicitExtensions reads optional extensions under an explicit tag. It refuses a critical
// extension that is not in known (RFC 6960 4.4).
func readExplicitExtensions(s *cryptobyte.String, tag cbasn1.Tag, known ...asn1.ObjectIdentifier) ([]der.Extension, error) {
	var explicit cryptobyte.String
	var present bool
	if !s.ReadOptionalASN1(&explicit, &present, tag) {
		return nil, fmt.Errorf("%w: the extensions are malformed", ErrFormat)
	}
	if !present {
		return nil, nil
	}
	all, err := der.ReadExtensions(&explicit)
	if err != nil || !explicit.Empty() {
		return nil, fmt.Errorf("%w: the extensions are malformed", ErrFormat)
	}
	for _, e := range all {
		if e.Critical && !slices.ContainsFunc(known, e.ID.Equal) {
			return nil, fmt.Errorf("%w: it has the unknown critical extension %v", ErrFormat, e.ID)
		}
	}
	return all, nil
}

// extensionValue returns the value of an extension, and whether the extension is present.
func extensionValue(extensions []der.Extension, id asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	for _, e := range extensions {
		if e.ID.Equal(id) {
			return e.Value, true
		}
	}
	return nil, false
}

// appendExtension writes extensions with one extension under an explicit tag.
func appendExtension(b *cryptobyte.Builder, tag cbasn1.Tag, id asn1.ObjectIdentifier, value []byte) {
	b.AddASN1(tag, func(b *cryptobyte.Builder) {
		b.AddASN1(cbasn1.SEQUENCE, der.Extension{ID: id, Value: value}.Append)
	})
}

// readNonce returns the nonce, or nil if there is none. RFC 9654 2.1 encodes it as an OCTET STRING
// in the extension value. RFC 2560 did not state the encoding, so the value of an old message may
// be the bare bytes.
func readNonce(extensions []der.Extension) ([]byte, error) {
	value, ok := extensionValue(extensions, oidNonce)
	if !ok {
		return nil, nil
	}
	var nonce cryptobyte.String
	if inner := value; !inner.ReadASN1(&nonce, cbasn1.OCTET_STRING) || !inner.Empty() {
		nonce = value
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		return nil, fmt.Errorf("%w: the nonce has %d bytes, which are none or too many", ErrFormat, len(nonce))
	}
	return nonce, nil
}

// appendNonce writes extensions with the nonce alone, or nothing if nonce is nil.
func appendNonce(b *cryptobyte.Builder, tag cbasn1.Tag, nonce []byte) {
	if nonce == nil {
		return
	}
	if len(nonce) == 0 || len(nonce) > MaxNonce {
		b.SetError(fmt.Errorf("ocsp: the nonce has %d bytes, which are none or too many", len(nonce)))
		return
	}
	var value cryptobyte.Builder
	value.AddASN1OctetString(nonce)
	appendExtension(b, tag, oidNonce, value.BytesOrPanic()) // at most 131 bytes
}

// readVersion reads an optional version and accepts only v1, the default.
func readVersion(s *cryptobyte.String) bool {
	var explicit cryptobyte.String
	var present bool
	var version int
	if !s.ReadOptionalASN1(&explicit, &present, tagContext0) {
		return false
	}
	return !present || explicit.ReadASN1Integer(&version) && explicit.Empty() && version == 0
}

func readTime(s *cryptobyte.String, out *time.Time) bool {
	t, err := der.ReadTime(s, cbasn1.GeneralizedTime)
	*out = t
	return err == nil
}

func readOptionalTime(s *cryptobyte.String, tag cbasn1.Tag, out *time.Time) bool {
	var explicit cryptobyte.String
	var present bool
	return s.ReadOptionalASN1(&explicit, &present, tag) && (!present || readTime(&explicit, out) && explicit.Empty())
}

func generalizedTime(t time.Time) cryptobyte.BuilderContinuation {
	return func(b *cryptobyte.Builder) { b.AddASN1GeneralizedTime(t.UTC()) }
}
