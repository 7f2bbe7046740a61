package ades

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
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
	// PSS is RSASSA-PSS (RFC 8017 8.1) with MGF1 over the same hash.
	PSS
	// Ed25519 signs the message itself (RFC 8032 5.1); the hash that goes with it is SHA-512
	// (RFC 8419 2.3). Signatures are not made with it, because ETSI TS 119 312 does not list it;
	// those of others are verified, and not relied upon.
	Ed25519
)

var schemeNames = [...]string{PKCS1v15: "RSASSA-PKCS1-v1_5", ECDSA: "ECDSA", PSS: "RSASSA-PSS", Ed25519: "Ed25519"}

// String returns the scheme's name in the standards.
func (s Scheme) String() string {
	if s < PKCS1v15 || s > Ed25519 {
		return fmt.Sprintf("Scheme(%d)", uint8(s))
	}
	return schemeNames[s]
}

// fits reports whether the scheme is one for keys of that kind.
func (s Scheme) fits(pub crypto.PublicKey) bool {
	switch pub.(type) {
	case *rsa.PublicKey:
		return s == PKCS1v15 || s == PSS
	case *ecdsa.PublicKey:
		return s == ECDSA
	case ed25519.PublicKey:
		return s == Ed25519
	}
	return false
}

// Algorithm is a signature algorithm: a hash and a scheme. The zero value stands
// for [DefaultAlgorithm] of the signer's key.
type Algorithm struct {
	Hash   crypto.Hash
	Scheme Scheme
	// Salt is the length in bytes of the salt of PSS, where it is not that of the
	// hash. It occurs in signatures of others only; see [Signer.Resolve].
	Salt int
}

var (
	// ErrAlgorithm: the key or the algorithm is not one this project signs with.
	ErrAlgorithm = errors.New("ades: algorithm not supported")
	// ErrValue: the signature value does not belong to the digest and the key.
	ErrValue = errors.New("ades: signature value does not verify")
)

// DefaultAlgorithm returns the algorithm for a public key: SHA-256 with RSA and
// P-256, SHA-384 with P-384, SHA-512 with P-521. [ErrAlgorithm] for other keys.
// RSA signs by PKCS1v15. [PSS] has to be asked for, because fewer readers know it.
func DefaultAlgorithm(pub crypto.PublicKey) (Algorithm, error) {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		return Algorithm{Hash: crypto.SHA256, Scheme: PKCS1v15}, nil
	case *ecdsa.PublicKey:
		switch pub.Curve {
		case elliptic.P256():
			return Algorithm{Hash: crypto.SHA256, Scheme: ECDSA}, nil
		case elliptic.P384():
			return Algorithm{Hash: crypto.SHA384, Scheme: ECDSA}, nil
		case elliptic.P521():
			return Algorithm{Hash: crypto.SHA512, Scheme: ECDSA}, nil
		}
	}
	return Algorithm{}, fmt.Errorf("%w: key %T", ErrAlgorithm, pub)
}

// Check returns an error, [ErrAlgorithm], unless validators in the European Union rely on the algorithm and the key (ETSI
// TS 119 312): SHA-256, SHA-384 or SHA-512, RSA keys of 2048 to 4096 bits, and the curves P-256, P-384 and P-521.
// Signatures are made with these alone.
func (a Algorithm) Check(pub crypto.PublicKey) error {
	switch a.Hash {
	case crypto.SHA256, crypto.SHA384, crypto.SHA512:
	default:
		return fmt.Errorf("%w: hash %v", ErrAlgorithm, a.Hash)
	}
	if !a.Scheme.fits(pub) {
		return fmt.Errorf("%w: %v with key %T", ErrAlgorithm, a.Scheme, pub)
	}
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		if bits := pub.N.BitLen(); bits < 2048 || bits > 4096 {
			return fmt.Errorf("%w: %v with a %d bit RSA key", ErrAlgorithm, a.Scheme, bits)
		}
	case *ecdsa.PublicKey:
		if _, err := DefaultAlgorithm(pub); err != nil {
			return fmt.Errorf("%w: %v with a key on %s", ErrAlgorithm, a.Scheme, pub.Curve.Params().Name)
		}
	case ed25519.PublicKey:
		return fmt.Errorf("%w: %v, which ETSI TS 119 312 does not list", ErrAlgorithm, a.Scheme)
	}
	return nil
}
