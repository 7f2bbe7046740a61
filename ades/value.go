package ades

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/rsa"
	"fmt"
)

// SignerOpts are the options with which a crypto.Signer signs a [Digest] of the
// algorithm.
func (a Algorithm) SignerOpts() crypto.SignerOpts {
	switch a.Scheme {
	case PSS:
		return a.pssOptions()
	case Ed25519:
		return crypto.Hash(0) // nothing is hashed beforehand
	}
	return a.Hash
}

func (a Algorithm) pssOptions() *rsa.PSSOptions {
	if a.Salt == 0 {
		return &rsa.PSSOptions{Hash: a.Hash, SaltLength: rsa.PSSSaltLengthEqualsHash}
	}
	return &rsa.PSSOptions{Hash: a.Hash, SaltLength: a.Salt}
}

// Verify checks a signature value over the Sum of a [Digest]; [ErrValue] when it
// does not belong to it, [ErrAlgorithm] when the key is not one for the algorithm or
// one that [CheckKeySize] refuses.
func (a Algorithm) Verify(pub crypto.PublicKey, sum, value []byte) error {
	if !a.Scheme.fits(pub) || !a.Hash.Available() {
		return fmt.Errorf("%w: %v and %v with key %T", ErrAlgorithm, a.Scheme, a.Hash, pub)
	}
	if err := CheckKeySize(pub); err != nil {
		return err
	}
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if err := a.verifyRSA(pub, sum, value); err != nil {
			return fmt.Errorf("%w: %v", ErrValue, err)
		}
	case *ecdsa.PublicKey:
		if !ecdsa.VerifyASN1(pub, sum, value) {
			return ErrValue
		}
	case ed25519.PublicKey:
		if len(pub) != ed25519.PublicKeySize || !ed25519.Verify(pub, sum, value) {
			return ErrValue
		}
	}
	return nil
}

func (a Algorithm) verifyRSA(pub *rsa.PublicKey, sum, value []byte) error {
	if a.Scheme == PKCS1v15 {
		return rsa.VerifyPKCS1v15(pub, a.Hash, sum, value)
	}
	if a.Salt < 0 || a.Salt > pub.Size() {
		return fmt.Errorf("a salt of %d bytes", a.Salt) // crypto/rsa has other meanings for some
	}
	return rsa.VerifyPSS(pub, a.Hash, sum, value, a.pssOptions())
}

// MaxValueSize is the length in bytes that no signature value of the key
// exceeds.
func (a Algorithm) MaxValueSize(pub crypto.PublicKey) int {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		return pub.Size()
	case *ecdsa.PublicKey:
		// SEQUENCE{INTEGER r, INTEGER s}: each integer may have a leading zero and
		// has two octets of header, the sequence up to three.
		n := (pub.Curve.Params().BitSize + 7) / 8
		return 3 + 2*(2+1+n)
	case ed25519.PublicKey:
		return ed25519.SignatureSize
	}
	return 0
}
