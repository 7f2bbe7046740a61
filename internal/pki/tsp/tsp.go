// Package tsp reads and writes the messages of the Time-Stamp Protocol (RFC 3161, with RFC 5816 and
// the profile of EN 319 422): requests, responses and timestamp tokens, for clients and for
// time-stamping authorities. It does no network I/O and reads no clock.
//
// A client marshals a [Request], passes the response to [ParseResponse], and its token to
// [Request.Check]:
//
//	der, err := request.Marshal()
//	...                                     // POST it as application/timestamp-query
//	token, err := tsp.ParseResponse(answer)
//	checked, err := request.Check(token)
//
// With an [ades.Timestamper], [Obtain] returns a verified token.
//
// A verifier reads a token in a document with [ParseToken] and verifies it with [Token.Verify].
// Neither [Request.Check] nor [Token.Verify] builds the chain from the authority's certificate to a
// root or checks revocation.
//
// An authority is a [Unit]: its Respond method answers any request, also a malformed one.
package tsp

import (
	"crypto"
	"encoding/asn1"
	"errors"
	"fmt"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/cms"
	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	// ErrFormat: the bytes are not a message of the protocol.
	ErrFormat = errors.New("tsp: malformed message")
	// ErrMismatch: the token does not answer the request.
	ErrMismatch = errors.New("tsp: token does not answer the request")
	// ErrCertificate: the certificate is not for timestamps, not valid at the time of the token, or
	// not that of the authority in the field tsa.
	ErrCertificate = errors.New("tsp: not a timestamp authority's certificate")
)

const (
	// maxSize bounds a message in bytes. Tokens have 3 to 10 KB, and more if they contain CRLs.
	maxSize = 4 << 20
	// maxNonce bounds a nonce in bits. Clients use 64 to 256.
	maxNonce = 1024
)

var (
	oidTSTInfo = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 1, 4} // id-ct-TSTInfo

	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext4 = cbasn1.Tag(4).ContextSpecific().Constructed()
	tagMillis   = cbasn1.Tag(0).ContextSpecific() // primitive, in Accuracy
	tagMicros   = cbasn1.Tag(1).ContextSpecific()
)

// marshalImprint returns a MessageImprint in DER.
func marshalImprint(h crypto.Hash, sum []byte) ([]byte, error) {
	identifier, err := cms.MarshalHash(h)
	if err != nil {
		return nil, fmt.Errorf("tsp: hashAlgorithm of the messageImprint: %w", err)
	}
	if len(sum) != h.Size() {
		return nil, fmt.Errorf("tsp: the messageImprint has %d bytes, which is not the length of %v", len(sum), h)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(identifier)
		b.AddASN1OctetString(sum)
	})
	return b.Bytes()
}

// parseImprint reads the fields of a MessageImprint. The error of an unknown hash is
// [ades.ErrAlgorithm].
func parseImprint(imprint cryptobyte.String) (crypto.Hash, []byte, error) {
	var identifier, sum cryptobyte.String
	if !imprint.ReadASN1Element(&identifier, cbasn1.SEQUENCE) || !imprint.ReadASN1(&sum, cbasn1.OCTET_STRING) || !imprint.Empty() {
		return 0, nil, fmt.Errorf("%w: the messageImprint is not an algorithm and a digest", ErrFormat)
	}
	h, err := cms.ParseHash(identifier)
	if err != nil {
		return 0, nil, fmt.Errorf("tsp: hashAlgorithm of the messageImprint: %w", err)
	}
	if len(sum) != h.Size() {
		return 0, nil, fmt.Errorf("%w: the messageImprint has %d bytes, which is not the length of %v", ErrFormat, len(sum), h)
	}
	return h, sum, nil
}

func readTime(s *cryptobyte.String, tag cbasn1.Tag) (time.Time, error) {
	t, err := der.ReadTime(s, tag)
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	return t, nil
}
