package dsig

import (
	"bytes"
	"context"
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"fmt"
	"hash"

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
	if err := s.write(&patient{ctx: ctx, w: h}, sel, c); err != nil {
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
