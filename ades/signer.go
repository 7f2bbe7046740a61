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
// cannot be made with it: [ErrPurpose], [ErrAlgorithm]. PSS is made with a salt as long as the hash alone, which is
// what the readers that know one length know (ETSI TS 119 312, RFC 4055 section 3.1).
func (s Signer) Resolve() (Signer, error) {
	if s.Certificate == nil {
		return s, errors.New("ades: signer without certificate")
	}
	if err := CheckPurpose(s.Certificate); err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	pub, err := PublicKey(s.Certificate)
	if err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	if s.Algorithm == (Algorithm{}) {
		if s.Algorithm, err = DefaultAlgorithm(pub); err != nil {
			return s, err
		}
	}
	if s.Algorithm.Salt != 0 {
		return s, fmt.Errorf("%w: a salt of %d bytes", ErrAlgorithm, s.Algorithm.Salt)
	}
	if err := s.Algorithm.Check(pub); err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	return s, nil
}
