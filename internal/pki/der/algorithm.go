package der

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// algorithms name a hash and a scheme in one identifier (RFC 4055 section 5, RFC
// 5758 section 3.2).
var algorithms = []struct {
	oid  asn1.ObjectIdentifier
	name x509.SignatureAlgorithm
	ades ades.Algorithm
}{
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}, x509.SHA256WithRSA, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}},
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}, x509.SHA384WithRSA, ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PKCS1v15}},
	{asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}, x509.SHA512WithRSA, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}},
	{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}, x509.ECDSAWithSHA256, ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}},
	{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}, x509.ECDSAWithSHA384, ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}},
	{asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}, x509.ECDSAWithSHA512, ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.ECDSA}},
}

var oidEd25519 = asn1.ObjectIdentifier{1, 3, 101, 112}

func marshalAlgorithm(a ades.Algorithm) ([]byte, error) {
	for _, row := range algorithms {
		if row.ades == a {
			var b cryptobyte.Builder
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1ObjectIdentifier(row.oid)
				if a.Scheme == ades.PKCS1v15 {
					b.AddASN1NULL() // RFC 4055 section 5
				}
			})
			return b.Bytes()
		}
	}
	return nil, fmt.Errorf("der: %w: %v with scheme %d", ades.ErrAlgorithm, a.Hash, a.Scheme)
}

func parseAlgorithm(der cryptobyte.String) (x509.SignatureAlgorithm, error) {
	var parameters cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !der.ReadASN1(&parameters, cbasn1.SEQUENCE) || !parameters.ReadASN1ObjectIdentifier(&oid) {
		return 0, fmt.Errorf("%w: algorithm identifier", ErrFormat)
	}
	switch {
	case oid.Equal(oidPSS):
		return namePSS(parameters)
	case oid.Equal(oidEd25519) && parameters.Empty(): // RFC 8410 section 3
		return x509.PureEd25519, nil
	}
	for _, row := range algorithms {
		if row.oid.Equal(oid) && emptyOrNull(parameters) {
			return row.name, nil
		}
	}
	return 0, fmt.Errorf("der: %w: signature algorithm %v", ades.ErrAlgorithm, oid)
}

// emptyOrNull: both are met in practice, whatever the algorithm's own rule.
func emptyOrNull(parameters cryptobyte.String) bool {
	var null cryptobyte.String
	return parameters.Empty() || parameters.ReadASN1(&null, cbasn1.NULL) && null.Empty() && parameters.Empty()
}
