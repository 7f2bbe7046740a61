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

// Scheme is a signature scheme: how a key makes a signature value from a digest. The numbers are
// stored and never change.
type Scheme uint8

const (
	// PKCS1v15 is RSASSA-PKCS1-v1_5 (RFC 8017 8.2).
	PKCS1v15 Scheme = iota + 1
	// ECDSA signature values are a DER SEQUENCE of r and s (RFC 5753 section 7.2), as crypto.Signer
	// makes them.
	ECDSA
	// PSS is RSASSA-PSS (RFC 8017 8.1) with MGF1 over the same hash.
	PSS
	// Ed25519 signs the message itself (RFC 8032 5.1). The hash algorithm beside it is SHA-512 (RFC
	// 8419 2.3). The packages make no Ed25519 signatures, because ETSI TS 119 312 does not list the
	// scheme. They verify existing ones, and do not rely on them.
	Ed25519
)

var schemeNames = [...]string{PKCS1v15: "RSASSA-PKCS1-v1_5", ECDSA: "ECDSA", PSS: "RSASSA-PSS", Ed25519: "Ed25519"}

// String returns the name that the standards give the scheme.
func (s Scheme) String() string {
	if s < PKCS1v15 || s > Ed25519 {
		return fmt.Sprintf("Scheme(%d)", uint8(s))
	}
	return schemeNames[s]
}

// supportsKey reports whether the scheme works with keys of this type.
func (s Scheme) supportsKey(pub crypto.PublicKey) bool {
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

// Algorithm is a signature algorithm: a hash and a scheme. The zero value stands for
// [DefaultAlgorithm] of the signer's key.
type Algorithm struct {
	Hash   crypto.Hash
	Scheme Scheme
	// Salt is the length in bytes of the PSS salt. 0 means as long as the hash. Only existing
	// signatures have another value: [SignerIdentity.Resolve] refuses one.
	Salt int
}

var (
	// ErrAlgorithm: the packages do not sign with, or do not verify with, this key or algorithm.
	ErrAlgorithm = errors.New("ades: algorithm not supported")
	// ErrValue: the signature value does not verify with the digest and the key.
	ErrValue = errors.New("ades: signature value does not verify")
)

// DefaultAlgorithm returns the algorithm for a public key: SHA-256 with RSA and P-256, SHA-384 with
// P-384, SHA-512 with P-521. For other keys the error is [ErrAlgorithm]. For RSA it returns
// PKCS1v15; callers ask for [PSS] explicitly, because fewer readers support it.
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

// Check returns [ErrAlgorithm] unless validators in the European Union rely on the algorithm and
// the key (ETSI TS 119 312): SHA-256, SHA-384 or SHA-512, RSA keys of 2048 to 4096 bits, and the
// curves P-256, P-384 and P-521. The packages make signatures with these alone.
func (a Algorithm) Check(pub crypto.PublicKey) error {
	switch a.Hash {
	case crypto.SHA256, crypto.SHA384, crypto.SHA512:
	default:
		return fmt.Errorf("%w: hash %v", ErrAlgorithm, a.Hash)
	}
	if !a.Scheme.supportsKey(pub) {
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

// Digest is what a signer signs, in the form that crypto.Signer takes. Sum is the hash of the
// message by Algorithm.Hash, but with [Ed25519] it is the message itself.
//
//	value, err := key.Sign(rand.Reader, digest.Sum, digest.Algorithm.SignerOpts())
type Digest struct {
	Algorithm Algorithm
	Sum       []byte
}

// Digest returns what the key has to sign to make a signature value over the message. The hash has
// to be available.
func (a Algorithm) Digest(message []byte) Digest {
	if a.Scheme == Ed25519 {
		return Digest{Algorithm: a, Sum: message}
	}
	h := a.Hash.New()
	h.Write(message)
	return Digest{Algorithm: a, Sum: h.Sum(nil)}
}

// SignerOpts returns the options with which a crypto.Signer signs a [Digest] of the algorithm.
func (a Algorithm) SignerOpts() crypto.SignerOpts {
	switch a.Scheme {
	case PSS:
		return a.pssOptions()
	case Ed25519:
		return crypto.Hash(0) // Ed25519 signs the message, not a hash
	}
	return a.Hash
}

func (a Algorithm) pssOptions() *rsa.PSSOptions {
	if a.Salt == 0 {
		return &rsa.PSSOptions{Hash: a.Hash, SaltLength: rsa.PSSSaltLengthEqualsHash}
	}
	return &rsa.PSSOptions{Hash: a.Hash, SaltLength: a.Salt}
}

// Verify checks a signature value over the Sum of a [Digest]. It returns [ErrValue] when the value
// does not verify, and [ErrAlgorithm] when the key does not suit the algorithm or [CheckKeySize]
// refuses it.
func (a Algorithm) Verify(pub crypto.PublicKey, sum, value []byte) error {
	if !a.Scheme.supportsKey(pub) || !a.Hash.Available() {
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
		return fmt.Errorf("a salt of %d bytes", a.Salt) // crypto/rsa gives 0 and negative lengths other meanings
	}
	return rsa.VerifyPSS(pub, a.Hash, sum, value, a.pssOptions())
}

// MaxValueSize returns the greatest length in bytes of a signature value that the key makes, and 0
// for a key of unknown type.
func (a Algorithm) MaxValueSize(pub crypto.PublicKey) int {
	switch pub := pub.(type) {
	case *rsa.PublicKey:
		return pub.Size()
	case *ecdsa.PublicKey:
		// SEQUENCE{INTEGER r, INTEGER s}: each integer may have a leading zero and has two octets
		// of header, the sequence up to three.
		n := (pub.Curve.Params().BitSize + 7) / 8
		return 3 + 2*(2+1+n)
	case ed25519.PublicKey:
		return ed25519.SignatureSize
	}
	return 0
}
