package ades

import (
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
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
