package dsig

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"hash"
	"math/big"

	"github.com/innsigli/innsigli/ades"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// VerifyReference compares the digest of a reference. [ErrReference], [ErrTransform], [ErrDigest], [ErrLimit],
// [ades.ErrAlgorithm], the context's error, and [xmldoc.ErrNamespace] where there is no canonical form.
func (s *Signature) VerifyReference(ctx context.Context, r Reference) error {
	if !r.Hash.Available() {
		return fmt.Errorf("xmldsig: %w: digest method", ades.ErrAlgorithm)
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	sum, err := s.digest(ctx, r)
	if err != nil {
		return err
	}
	if subtle.ConstantTimeCompare(sum, r.Digest) != 1 {
		return ErrDigest
	}
	return nil
}

// digest is that of what a reference leads to; nodes are octets by Canonical XML 1.0 where no transform
// says otherwise (xmldsig-core1 4.4.3.2).
func (s *Signature) digest(ctx context.Context, r Reference) ([]byte, error) {
	h, err := s.Hash(ctx, r.Hash, r, xmldoc.Canonicalization{Method: xmldoc.C14N10})
	if err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// Hash returns a hash of what [Signature.Process] writes, which takes more. Its state is remembered: the
// references of parallel signatures, and the timestamps that begin with one of them, go through a document
// once. Errors are those of Process, and the context's.
func (s *Signature) Hash(ctx context.Context, of crypto.Hash, r Reference, c xmldoc.Canonicalization) (hash.Hash, error) {
	sel, own, err := s.selects(r)
	if err != nil {
		return nil, err
	}
	if own != nil {
		c = *own
	}
	what := keyOf(sel, c, of)
	if known, ok := s.work.hashes[what]; ok {
		return known.Clone()
	}
	h := of.New()
	if err := s.write(&contextWriter{ctx: ctx, w: h}, sel, c); err != nil {
		return nil, err
	}
	return h, s.work.remember(what, h)
}

// VerifyValue checks the value over SignedInfo. [ades.ErrValue], [ades.ErrAlgorithm], [ErrLimit],
// [xmldoc.ErrNamespace].
func (s *Signature) VerifyValue(cert *x509.Certificate) error {
	key, err := ades.PublicKey(cert)
	if err != nil {
		return err
	}
	if !s.Algorithm.Hash.Available() {
		return fmt.Errorf("xmldsig: %w: %v", ades.ErrAlgorithm, s.Algorithm.Hash)
	}
	if err := checkWidth(key, s.octets); err != nil {
		return err
	}
	sum, err := s.signedSum()
	if err != nil {
		return err
	}
	return s.Algorithm.Verify(key, sum, s.Value)
}

// signedSum is what the key signs: the digest of SignedInfo, or with Ed25519 itself.
func (s *Signature) signedSum() ([]byte, error) {
	part := xmldoc.Subset{Apex: s.SignedInfo}
	if s.Algorithm.Scheme == ades.Ed25519 {
		var message bytes.Buffer
		err := s.Canonicalize(&message, s.Canonicalization, part)
		return message.Bytes(), err
	}
	h := s.Algorithm.Hash.New()
	err := s.Canonicalize(h, s.Canonicalization, part)
	return h.Sum(nil), err
}

// pair is an ECDSA value in DER (RFC 3279 2.2.3).
type pair struct{ R, S *big.Int }

// EncodeValue is a signature value as XML has it: of ECDSA, which comes in DER, r and s side by side
// (xmldsig-core1 6.4.3). [ades.ErrValue].
func EncodeValue(a ades.Algorithm, pub crypto.PublicKey, value []byte) ([]byte, error) {
	if a.Scheme != ades.ECDSA {
		return value, nil
	}
	key, ok := pub.(*ecdsa.PublicKey)
	if !ok {
		return nil, fmt.Errorf("xmldsig: %w: %v with key %T", ades.ErrAlgorithm, a.Scheme, pub)
	}
	var p pair
	rest, err := asn1.Unmarshal(value, &p)
	if err != nil || len(rest) > 0 || !inOrder(p.R, key) || !inOrder(p.S, key) {
		return nil, fmt.Errorf("xmldsig: %w: not r and s of the curve in DER", ades.ErrValue)
	}
	out := make([]byte, 2*width(key))
	p.R.FillBytes(out[:width(key)])
	p.S.FillBytes(out[width(key):])
	return out, nil
}

// inOrder says whether an integer is one of a value: from 1 to below the order of the curve's base point.
func inOrder(x *big.Int, key *ecdsa.PublicKey) bool {
	return x.Sign() > 0 && x.Cmp(key.Params().N) < 0
}

// width is how many octets r and s each have, by the order of the base point.
func width(key *ecdsa.PublicKey) int { return (key.Params().N.BitLen() + 7) / 8 }

// maxWidth is that of P-521, the widest curve.
const maxWidth = 66

// decodeValue is a value of a signature as [ades.Algorithm.Verify] takes it; nil when it is none of the
// algorithm.
func decodeValue(a ades.Algorithm, octets []byte) []byte {
	if a.Scheme != ades.ECDSA {
		return octets
	}
	half := len(octets) / 2
	if len(octets)%2 != 0 || half == 0 || half > maxWidth {
		return nil
	}
	der, err := asn1.Marshal(pair{new(big.Int).SetBytes(octets[:half]), new(big.Int).SetBytes(octets[half:])})
	if err != nil {
		return nil
	}
	return der
}

// checkWidth refuses a value of ECDSA that is not as wide as its curve: one in DER, or with zeros left
// away, which others read as something else.
func checkWidth(pub crypto.PublicKey, octets []byte) error {
	if key, ok := pub.(*ecdsa.PublicKey); ok && len(octets) != 2*width(key) {
		return fmt.Errorf("xmldsig: %w: %d octets, not r and s of the curve", ades.ErrValue, len(octets))
	}
	return nil
}
