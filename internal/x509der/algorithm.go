package x509der

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

// pssHashes are the hashes RSASSA-PSS is used with.
var pssHashes = []struct {
	oid  asn1.ObjectIdentifier
	name x509.SignatureAlgorithm
	size int64 // octets of the digest
}{
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}, x509.SHA256WithRSAPSS, 32},
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}, x509.SHA384WithRSAPSS, 48},
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}, x509.SHA512WithRSAPSS, 64},
}

var (
	oidPSS     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}
	oidEd25519 = asn1.ObjectIdentifier{1, 3, 101, 112}

	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
	tagContext3 = cbasn1.Tag(3).ContextSpecific().Constructed()
)

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
	return nil, fmt.Errorf("x509der: %w: %v with scheme %d", ades.ErrAlgorithm, a.Hash, a.Scheme)
}

func parseAlgorithm(der cryptobyte.String) (x509.SignatureAlgorithm, error) {
	var parameters cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !der.ReadASN1(&parameters, cbasn1.SEQUENCE) || !parameters.ReadASN1ObjectIdentifier(&oid) {
		return 0, fmt.Errorf("%w: algorithm identifier", ErrFormat)
	}
	switch {
	case oid.Equal(oidPSS):
		return parsePSS(parameters)
	case oid.Equal(oidEd25519) && parameters.Empty(): // RFC 8410 section 3
		return x509.PureEd25519, nil
	}
	for _, row := range algorithms {
		if row.oid.Equal(oid) && emptyOrNull(parameters) {
			return row.name, nil
		}
	}
	return 0, fmt.Errorf("x509der: %w: signature algorithm %v", ades.ErrAlgorithm, oid)
}

// emptyOrNull: both are met in practice, whatever the algorithm's own rule.
func emptyOrNull(parameters cryptobyte.String) bool {
	var null cryptobyte.String
	return parameters.Empty() || parameters.ReadASN1(&null, cbasn1.NULL) && null.Empty() && parameters.Empty()
}

// parsePSS reads RSASSA-PSS-params (RFC 4055 3.1): one hash for both uses and a
// salt of its length. The defaults stand for SHA-1 and are not taken.
func parsePSS(s cryptobyte.String) (x509.SignatureAlgorithm, error) {
	var parameters, hash, mgf, mgfIdentifier cryptobyte.String
	var mgfOID asn1.ObjectIdentifier
	var salt int64
	if !s.ReadASN1(&parameters, cbasn1.SEQUENCE) || !s.Empty() ||
		!parameters.ReadASN1(&hash, tagContext0) ||
		!parameters.ReadASN1(&mgf, tagContext1) || !mgf.ReadASN1(&mgfIdentifier, cbasn1.SEQUENCE) ||
		!mgfIdentifier.ReadASN1ObjectIdentifier(&mgfOID) || !mgfOID.Equal(oidMGF1) ||
		!readExplicitInteger(&parameters, tagContext2, &salt) {
		return 0, fmt.Errorf("x509der: %w: parameters of RSASSA-PSS", ades.ErrAlgorithm)
	}
	trailer := int64(1)
	if !parameters.Empty() && !readExplicitInteger(&parameters, tagContext3, &trailer) || !parameters.Empty() || trailer != 1 {
		return 0, fmt.Errorf("x509der: %w: trailer field of RSASSA-PSS", ades.ErrAlgorithm)
	}
	for _, row := range pssHashes {
		if isHash(hash, row.oid) && isHash(mgfIdentifier, row.oid) && salt == row.size {
			return row.name, nil
		}
	}
	return 0, fmt.Errorf("x509der: %w: hashes or salt of RSASSA-PSS", ades.ErrAlgorithm)
}

func readExplicitInteger(s *cryptobyte.String, tag cbasn1.Tag, out *int64) bool {
	var inner cryptobyte.String
	return s.ReadASN1(&inner, tag) && inner.ReadASN1Integer(out) && inner.Empty()
}

func isHash(s cryptobyte.String, want asn1.ObjectIdentifier) bool {
	var identifier cryptobyte.String
	var oid asn1.ObjectIdentifier
	return s.ReadASN1(&identifier, cbasn1.SEQUENCE) && s.Empty() &&
		identifier.ReadASN1ObjectIdentifier(&oid) && oid.Equal(want) && emptyOrNull(identifier)
}
