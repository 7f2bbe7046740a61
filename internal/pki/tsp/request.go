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
	"github.com/innsigli/innsigli/internal/pki/cms"
)

// Request is a TimeStampReq (RFC 3161 2.4.1).
type Request struct {
	Hash         crypto.Hash
	Sum          []byte                // the hash of what is to be timestamped
	Policy       asn1.ObjectIdentifier // asked for; nil: the authority's choice
	Nonce        *big.Int              // nil: none
	Certificates bool                  // the token shall carry the authority's certificate
}

// Marshal returns the request in DER; [ades.ErrAlgorithm] for a hash that is not
// known here.
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

// ParseRequest reads a request. What is wrong with it is a [StatusError], fit to be
// sent back. A request with extensions is refused, since none is known here
// (RFC 3161 2.4.1).
func ParseRequest(der []byte) (Request, error) {
	var r Request
	input := cryptobyte.String(der)
	var sequence, imprint cryptobyte.String
	var version int
	if len(der) > maxSize || !input.ReadASN1(&sequence, cbasn1.SEQUENCE) || !input.Empty() ||
		!sequence.ReadASN1Integer(&version) || !sequence.ReadASN1(&imprint, cbasn1.SEQUENCE) {
		return r, refuse(BadDataFormat, "no TimeStampReq in DER")
	}
	if version != 1 {
		return r, refuse(BadRequest, fmt.Sprintf("version %d is not known", version))
	}
	if err := r.readImprint(imprint); err != nil {
		return r, err
	}
	if err := r.readOptions(&sequence); err != nil {
		return r, err
	}
	if sequence.PeekASN1Tag(tagContext0) {
		return r, refuse(UnacceptedExtension, "no extension is known")
	}
	if !sequence.Empty() {
		return r, refuse(BadDataFormat, "fields after the last")
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

// readOptions reads the fields after the imprint.
func (r *Request) readOptions(s *cryptobyte.String) error {
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

// marshalImprint returns a MessageImprint.
func marshalImprint(h crypto.Hash, sum []byte) ([]byte, error) {
	identifier, err := cms.MarshalHash(h)
	if err != nil {
		return nil, fmt.Errorf("tsp: imprint: %w", err)
	}
	if len(sum) != h.Size() {
		return nil, fmt.Errorf("tsp: imprint of %d bytes by %v", len(sum), h)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(identifier)
		b.AddASN1OctetString(sum)
	})
	return b.Bytes()
}

// Check reads the token that answers the request, compares every field that the
// request fixes (RFC 3161 2.4.2; [ErrMismatch]), and verifies the token, whose
// algorithm has to be one of today ([ades.ErrAlgorithm]). The time is the caller's to
// compare with a clock.
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

func (r Request) compare(t *Token) error {
	switch {
	case t.Hash != r.Hash:
		return fmt.Errorf("%w: a digest by another hash", ErrMismatch)
	case r.Policy != nil && !t.Policy.Equal(r.Policy):
		return fmt.Errorf("%w: policy %v instead of %v", ErrMismatch, t.Policy, r.Policy)
	case r.Nonce != nil && (t.Nonce == nil || t.Nonce.Cmp(r.Nonce) != 0):
		return fmt.Errorf("%w: another nonce or none", ErrMismatch)
	}
	return nil
}

// Obtain gets a token over a sum that goes into a document, and makes sure that it is one: what would be
// found out by whoever validates the document is found out here. [ades.ErrTimestamp] and the errors of t.
func Obtain(ctx context.Context, t ades.Timestamper, h crypto.Hash, sum []byte) (*Token, error) {
	der, err := t.Timestamp(ctx, h, sum)
	if err != nil {
		return nil, err
	}
	token, err := ParseToken(der)
	switch {
	case err != nil:
	case token.Hash != h:
		err = fmt.Errorf("%w: a digest by another hash", ErrMismatch)
	default:
		err = token.VerifyOver(sum)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ades.ErrTimestamp, err)
	}
	return token, nil
}
