package ades

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	_ "crypto/sha256" // the hashes below are usable without further imports
	_ "crypto/sha512"
	"errors"
	"fmt"
)

// Scheme is how a signature value comes from a digest. The numbers are stored, and
// stay what they are.
type Scheme uint8

const (
	// PKCS1v15 is RSASSA-PKCS1-v1_5 (RFC 8017 8.2).
	PKCS1v15 Scheme = iota + 1
	// ECDSA values are a DER SEQUENCE of r and s (RFC 5753 section 7.2), as
	// crypto.Signer makes them.
	ECDSA
)

// Algorithm is a signature algorithm: a hash and a scheme. The zero value stands
// for [DefaultAlgorithm] of the signer's key.
type Algorithm struct {
	Hash   crypto.Hash
	Scheme Scheme
}

// Digest is what a signer signs: Sum is already hashed with Algorithm.Hash.
type Digest struct {
	Algorithm Algorithm
	Sum       []byte
}

var (
	// ErrAlgorithm: the key or the algorithm is not one this project signs with.
	ErrAlgorithm = errors.New("ades: algorithm not supported")
	// ErrValue: the signature value does not belong to the digest and the key.
	ErrValue = errors.New("ades: signature value does not verify")
)

// DefaultAlgorithm returns the algorithm for a public key: SHA-256 with RSA and
// P-256, SHA-384 with P-384, SHA-512 with P-521. [ErrAlgorithm] for other keys.
func DefaultAlgorithm(pub crypto.PublicKey) (Algorithm, error) {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		return Algorithm{crypto.SHA256, PKCS1v15}, nil
	case *ecdsa.PublicKey:
		switch pub.Curve {
		case elliptic.P256():
			return Algorithm{crypto.SHA256, ECDSA}, nil
		case elliptic.P384():
			return Algorithm{crypto.SHA384, ECDSA}, nil
		case elliptic.P521():
			return Algorithm{crypto.SHA512, ECDSA}, nil
		}
	}
	return Algorithm{}, fmt.Errorf("%w: key %T", ErrAlgorithm, pub)
}

// Check says whether signatures are made with the algorithm and the key: SHA-256
// and better, RSA from 2048 to 4096 bits, the NIST curves from P-256 up
// (ETSI TS 119 312); [ErrAlgorithm] when not.
func (a Algorithm) Check(pub crypto.PublicKey) error {
	switch a.Hash {
	case crypto.SHA256, crypto.SHA384, crypto.SHA512:
	default:
		return fmt.Errorf("%w: hash %v", ErrAlgorithm, a.Hash)
	}
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if bits := pub.N.BitLen(); a.Scheme != PKCS1v15 || bits < 2048 || bits > 4096 {
			return fmt.Errorf("%w: scheme %d with a %d bit RSA key", ErrAlgorithm, a.Scheme, bits)
		}
		return nil
	case *ecdsa.PublicKey:
		if _, err := DefaultAlgorithm(pub); err != nil || a.Scheme != ECDSA {
			return fmt.Errorf("%w: scheme %d with a key on %s", ErrAlgorithm, a.Scheme, pub.Curve.Params().Name)
		}
		return nil
	}
	return fmt.Errorf("%w: key %T", ErrAlgorithm, pub)
}

// Verify checks a signature value over a digest; [ErrValue] when it does not
// belong to it.
func (a Algorithm) Verify(pub crypto.PublicKey, sum, value []byte) error {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if a.Scheme != PKCS1v15 {
			break
		}
		if err := rsa.VerifyPKCS1v15(pub, a.Hash, sum, value); err != nil {
			return fmt.Errorf("%w: %v", ErrValue, err)
		}
		return nil
	case *ecdsa.PublicKey:
		if a.Scheme != ECDSA {
			break
		}
		if !ecdsa.VerifyASN1(pub, sum, value) {
			return ErrValue
		}
		return nil
	}
	return fmt.Errorf("%w: scheme %d with key %T", ErrAlgorithm, a.Scheme, pub)
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
	}
	return 0
}
