package ades

import (
	"crypto/x509"
	"errors"
	"fmt"
)

// Signer is who signs: the certificate, the certificates above it that go into
// the signature (in any order, the root may be left out), and the algorithm. The
// key is elsewhere.
type Signer struct {
	Certificate *x509.Certificate
	Chain       []*x509.Certificate
	Algorithm   Algorithm // zero: DefaultAlgorithm of the certificate's key
}

// Resolve returns the signer with its algorithm filled in, or why signatures
// cannot be made with it.
func (s Signer) Resolve() (Signer, error) {
	if s.Certificate == nil {
		return s, errors.New("ades: signer without certificate")
	}
	pub := s.Certificate.PublicKey
	if s.Algorithm == (Algorithm{}) {
		a, err := DefaultAlgorithm(pub)
		if err != nil {
			return s, err
		}
		s.Algorithm = a
	}
	if err := s.Algorithm.Check(pub); err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	return s, nil
}
