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
	"github.com/innsigli/innsigli/internal/hashstate"
	xmldoc "github.com/innsigli/innsigli/internal/xml/doc"
)

// VerifyReference verifies the digest of a reference. Errors are [ErrReference], [ErrTransform],
// [ErrDigest], [ErrLimit], [ades.ErrAlgorithm], that of the context, and [xmldoc.ErrNamespace] if
// there is no canonical form.
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

// digest returns the digest of the referenced data. Nodes are canonicalized by Canonical XML 1.0
// unless a transform does it (xmldsig-core1 4.4.3.2).
func (s *Signature) digest(ctx context.Context, r Reference) ([]byte, error) {
	h, err := s.Hash(ctx, r.Hash, r, xmldoc.Canonicalization{Method: xmldoc.C14N10})
	if err != nil {
		return nil, err
	}
	return h.Sum(nil), nil
}

// Hash returns a hash of the data that [Signature.Process] writes, to which the caller may write
// more. The state of the hash is cached, so the references of parallel signatures, and timestamps
// whose input begins with the same data, read the data once. Errors are those of Process, that of
// the context, and [ades.ErrAlgorithm] if the hash has no state.
func (s *Signature) Hash(ctx context.Context, of crypto.Hash, r Reference, c xmldoc.Canonicalization) (hash.Hash, error) {
	if given, ok := s.given[r.Element]; ok && of == r.Hash {
		return hashstate.Restore(of, given)
	}
	sel, own, err := s.selectNodes(r)
	if err != nil {
		return nil, err
	}
	if own != nil {
		c = *own
	}
	what := hashKeyOf(sel, c, of)
	if cached, ok := s.work.hashes[what]; ok {
		return hashstate.Restore(of, cached)
	}
	h := of.New()
	if err := s.write(&contextWriter{ctx: ctx, w: h}, sel, c); err != nil {
		return nil, err
	}
	state, err := hashstate.Save(h)
	if err != nil {
		return nil, err
	}
	s.work.hashes[what] = state
	return h, nil
}

// GiveHash gives the state of a hash of the data to which a reference leads, by its digest method,
// to a Signature whose document does not have that data. [Signature.Hash] continues from it.
func (s *Signature) GiveHash(r Reference, state []byte) {
	if s.given == nil {
		s.given = make(map[xmldoc.Node][]byte)
	}
	s.given[r.Element] = state
}

// VerifyValue verifies the signature value over SignedInfo. Errors are [ades.ErrValue],
// [ades.ErrAlgorithm], [ErrLimit] and [xmldoc.ErrNamespace].
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

// signedSum returns what the key signs: the digest of the canonical SignedInfo, or with Ed25519 the
// canonical SignedInfo.
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

// pair is an ECDSA signature value in DER (RFC 3279 2.2.3).
type pair struct{ R, S *big.Int }

// EncodeValue converts a signature value to its form in XML: an ECDSA value in DER becomes r and s,
// concatenated (xmldsig-core1 6.4.3). The error is [ades.ErrValue], or [ades.ErrAlgorithm] if the
// key is not an ECDSA key.
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

// inOrder reports whether an integer is valid as r or s: from 1 to below the order of the curve's
// base point.
func inOrder(x *big.Int, key *ecdsa.PublicKey) bool {
	return x.Sign() > 0 && x.Cmp(key.Params().N) < 0
}

// width returns the length in octets of r and of s, by the order of the base point.
func width(key *ecdsa.PublicKey) int { return (key.Params().N.BitLen() + 7) / 8 }

// maxWidth is the width of P-521, the largest supported curve.
const maxWidth = 66

// decodeValue returns a signature value in the form of [ades.Algorithm.Verify], or nil if it cannot
// be a value of the algorithm.
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

// checkWidth refuses an ECDSA value whose length does not fit the curve: one in DER, or without
// leading zeros. Other verifiers interpret such values differently.
func checkWidth(pub crypto.PublicKey, octets []byte) error {
	if key, ok := pub.(*ecdsa.PublicKey); ok && len(octets) != 2*width(key) {
		return fmt.Errorf("xmldsig: %w: %d octets, not r and s of the curve", ades.ErrValue, len(octets))
	}
	return nil
}
