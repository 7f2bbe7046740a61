package tsp

import (
	"context"
	"crypto"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// A Request is a TimeStampReq (RFC 3161 2.4.1).
type Request struct {
	Hash         crypto.Hash
	Sum          []byte                // the hash of the data to be timestamped
	Policy       asn1.ObjectIdentifier // the requested policy; nil: the authority chooses
	Nonce        *big.Int              // nil: none
	Certificates bool                  // certReq: the token shall contain the authority's certificate
}

// Marshal returns the request in DER. The error of an unknown hash is [ades.ErrAlgorithm].
func (r Request) Marshal() ([]byte, error) {
	imprint, err := marshalImprint(r.Hash, r.Sum)
	if err != nil {
		return nil, err
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddBytes(imprint)
		if r.Policy != nil {
			b.AddASN1ObjectIdentifier(r.Policy)
		}
		if r.Nonce != nil {
			b.AddASN1BigInt(r.Nonce)
		}
		if r.Certificates { // DEFAULT FALSE
			b.AddASN1Boolean(true)
		}
	})
	return b.Bytes()
}

// Check reads the token of a response, compares it with every field that the request fixes
// (RFC 3161 2.4.2; [ErrMismatch]), and verifies it. The algorithm of its signature must be
// acceptable today ([ades.ErrAlgorithm]). The caller compares the time of the token with a clock.
func (r Request) Check(token []byte) (*Token, error) {
	t, err := ParseToken(token)
	if err != nil {
		return nil, err
	}
	if err := r.compare(t); err != nil {
		return nil, err
	}
	if err := t.VerifyOver(r.Sum); err != nil {
		return nil, err
	}
	key, err := ades.PublicKey(t.Certificate)
	if err != nil {
		return nil, err
	}
	if err := t.Algorithm.Check(key); err != nil {
		return nil, fmt.Errorf("tsp: signature of the token: %w", err)
	}
	return t, nil
}

// Obtain gets a timestamp token over sum from t and verifies it, so that a bad token is found
// before it is embedded in a document. The error is [ades.ErrTimestamp] for a bad token, or the
// error of t.
func Obtain(ctx context.Context, t ades.Timestamper, h crypto.Hash, sum []byte) (*Token, error) {
	der, err := t.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	token, err := ParseToken(der)
	switch {
	case err != nil:
	case token.Hash != h:
		err = fmt.Errorf("%w: the token's messageImprint is by another hash algorithm", ErrMismatch)
	default:
		err = token.VerifyOver(sum)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}

// ParseRequest reads a request. The error of an invalid request is a [StatusError] that the
// authority can send back. ParseRequest refuses a request with extensions, because it knows none
// (RFC 3161 2.4.1).
func ParseRequest(der []byte) (Request, error) {
	var r Request
	input := cryptobyte.String(der)
	var sequence, imprint cryptobyte.String
	var version int
	if len(der) > maxSize || !input.ReadASN1(&sequence, cbasn1.SEQUENCE) || !input.Empty() ||
		!sequence.ReadASN1Integer(&version) || !sequence.ReadASN1(&imprint, cbasn1.SEQUENCE) {
		return r, refuse(BadDataFormat, "the request is not a TimeStampReq in DER")
	}
	if version != 1 {
		return r, refuse(BadRequest, fmt.Sprintf("version %d is not known", version))
	}
	if err := r.readImprint(imprint); err != nil {
		return r, err
	}
	if err := r.readOptionalFields(&sequence); err != nil {
		return r, err
	}
	if sequence.PeekASN1Tag(tagContext0) {
		return r, refuse(UnacceptedExtension, "the request has extensions, and none is supported")
	}
	if !sequence.Empty() {
		return r, refuse(BadDataFormat, "the request has unknown fields after certReq")
	}
	return r, nil
}

func (r *Request) readImprint(imprint cryptobyte.String) error {
	var err error
	if r.Hash, r.Sum, err = parseImprint(imprint); err == nil {
		return nil
	}
	if errors.Is(err, ades.ErrAlgorithm) {
		return refuse(BadAlg, "hash of the imprint is not known")
	}
	return refuse(BadDataFormat, "imprint")
}

// readOptionalFields reads the fields between the imprint and the extensions.
func (r *Request) readOptionalFields(s *cryptobyte.String) error {
	if s.PeekASN1Tag(cbasn1.OBJECT_IDENTIFIER) && !s.ReadASN1ObjectIdentifier(&r.Policy) {
		return refuse(BadDataFormat, "policy")
	}
	if s.PeekASN1Tag(cbasn1.INTEGER) {
		r.Nonce = new(big.Int)
		if !s.ReadASN1Integer(r.Nonce) {
			return refuse(BadDataFormat, "nonce")
		}
		if r.Nonce.BitLen() > maxNonce {
			return refuse(BadRequest, "nonce too long")
		}
	}
	if s.PeekASN1Tag(cbasn1.BOOLEAN) && !s.ReadASN1Boolean(&r.Certificates) {
		return refuse(BadDataFormat, "certReq")
	}
	return nil
}

func (r Request) compare(t *Token) error {
	switch {
	case t.Hash != r.Hash:
		return fmt.Errorf("%w: the token's messageImprint is by another hash algorithm", ErrMismatch)
	case r.Policy != nil && !t.Policy.Equal(r.Policy):
		return fmt.Errorf("%w: the token has policy %v instead of %v", ErrMismatch, t.Policy, r.Policy)
	case r.Nonce != nil && (t.Nonce == nil || t.Nonce.Cmp(r.Nonce) != 0):
		return fmt.Errorf("%w: the token has another nonce than the request, or none", ErrMismatch)
	}
	return nil
}
