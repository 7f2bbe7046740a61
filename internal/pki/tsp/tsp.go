// Package tsp reads and makes the messages of the Time-Stamp Protocol (RFC 3161,
// with RFC 5816 and the profile of EN 319 422): requests, responses and tokens, on
// both sides. It does no I/O of its own and reads no clock.
//
// A client marshals a [Request], hands the answer to [ParseResponse] and the token
// in it to [Request.Check]:
//
//	der, err := request.Marshal()
//	...                                     // POST it as application/timestamp-query
//	token, err := tsp.ParseResponse(answer)
//	checked, err := request.Check(token)
//
// Where the client is an [ades.Timestamper], [Obtain] does what is left.
//
// A token met in a document goes through [ParseToken] and [Token.Verify]. Neither
// way looks for a chain from the authority's certificate to a root, nor at
// revocation.
//
// An authority is a [Unit], whose Respond answers whatever it is sent.
package tsp

import (
	"encoding/asn1"
	"errors"

	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	// ErrFormat: the bytes are no message of the protocol.
	ErrFormat = errors.New("tsp: malformed")
	// ErrMismatch: the token does not answer the request.
	ErrMismatch = errors.New("tsp: token does not answer the request")
	// ErrCertificate: the certificate is not one to sign this token with.
	ErrCertificate = errors.New("tsp: not a timestamp authority's certificate")
)

const (
	// maxSize bounds a message in bytes. Tokens take 3 to 10 KB; some carry CRLs.
	maxSize = 4 << 20
	// maxNonce bounds a nonce in bits; clients draw 64 to 256.
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
