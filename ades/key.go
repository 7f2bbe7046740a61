package ades

import (
	"bytes"
	"crypto"
	"crypto/rsa"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"math"
	"math/bits"
)

// oidPSSKey marks keys that may be used with RSASSA-PSS alone (RFC 4055 section 1.2).
var oidPSSKey = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// PublicKey returns the key of a certificate. [ErrAlgorithm], with the name of the
// kind, when crypto/x509 cannot read it: a key that is restricted to RSASSA-PSS is
// one, while PSS with an ordinary RSA key is well supported.
func PublicKey(cert *x509.Certificate) (crypto.PublicKey, error) {
	if cert.PublicKey != nil {
		return cert.PublicKey, nil
	}
	var spki struct {
		Algorithm pkix.AlgorithmIdentifier
		Key       asn1.BitString
	}
	if _, err := asn1.Unmarshal(cert.RawSubjectPublicKeyInfo, &spki); err != nil {
		return nil, fmt.Errorf("%w: certificate without a key", ErrAlgorithm)
	}
	if spki.Algorithm.Algorithm.Equal(oidPSSKey) {
		return nil, fmt.Errorf("%w: key restricted to RSASSA-PSS (id-RSASSA-PSS)", ErrAlgorithm)
	}
	return nil, fmt.Errorf("%w: key of type %v", ErrAlgorithm, spki.Algorithm.Algorithm)
}

// maxRSABits bounds the work of one check, which grows with the square of it: keys come
// with what they are to verify, and crypto/rsa calculates with any.
const maxRSABits = 8192

// CheckKeySize reports whether a signature is checked with the key in the time that keys in
// use need; [ErrAlgorithm] when it is longer than any of them (RSA beyond 8192 bits), or has
// an exponent that crypto/rsa does not calculate with (beyond 31 bits).
func CheckKeySize(pub crypto.PublicKey) error {
	key, ok := pub.(*rsa.PublicKey)
	switch {
	case ok && key.N.BitLen() > maxRSABits:
		return fmt.Errorf("%w: RSA key of %d bits", ErrAlgorithm, key.N.BitLen())
	case ok && key.E > math.MaxInt32:
		return fmt.Errorf("%w: RSA key with an exponent of %d bits", ErrAlgorithm, bits.Len(uint(key.E)))
	}
	return nil
}

// CheckIssuer reports whether an authority issued the certificate: by its name and by its
// signature (RFC 5280 6.1.3 (a)(4) and (a)(1)). [ErrNoChain] when not, [ErrAlgorithm] when
// the authority's key is one that [CheckKeySize] refuses. Neither validity nor revocation is
// looked at.
func CheckIssuer(cert, issuer *x509.Certificate) error {
	if !bytes.Equal(cert.RawIssuer, issuer.RawSubject) {
		return fmt.Errorf("%w: %s: the issuer is of another name", ErrNoChain, Identify(cert))
	}
	if err := CheckKeySize(issuer.PublicKey); err != nil {
		return err
	}
	if err := cert.CheckSignatureFrom(issuer); err != nil {
		return fmt.Errorf("%w: %s: %w", ErrNoChain, Identify(cert), err)
	}
	return nil
}
