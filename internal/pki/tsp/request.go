package tsp

import (
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
