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

var (
	oidEd25519 = asn1.ObjectIdentifier{1, 3, 101, 112}
	oidPSS     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}

	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
	tagContext3 = cbasn1.Tag(3).ContextSpecific().Constructed()
)

// signatureAlgorithms have a hash and a scheme in one identifier (RFC 4055 section 5, RFC 5758
// section 3.2).
var signatureAlgorithms = []struct {
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

// pssHashes are the hashes that RSASSA-PSS supports here (RFC 4055 2.1). name is the x509 algorithm
// if the package accepts it, else 0.
var pssHashes = []struct {
	oid  asn1.ObjectIdentifier
	hash crypto.Hash
	name x509.SignatureAlgorithm
}{
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}, crypto.SHA256, x509.SHA256WithRSAPSS},
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}, crypto.SHA384, x509.SHA384WithRSAPSS},
	{asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}, crypto.SHA512, x509.SHA512WithRSAPSS},
	{asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}, crypto.SHA1, 0},
}

// A PSS has the parameters of RSASSA-PSS (RFC 4055 3.1).
type PSS struct {
	Hash crypto.Hash // of the signed data
	Mask crypto.Hash // of MGF1, the only supported mask generation function
	Salt int         // bytes; ParsePSS accepts any number
}

// ParsePSS reads an AlgorithmIdentifier of RSASSA-PSS. Absent parameters get their defaults: SHA-1
// for both hashes and a salt of 20 bytes. The error is [ErrFormat], or [ades.ErrAlgorithm] for an
// unknown hash or mask generation function. The caller decides which parameters it accepts.
func ParsePSS(identifier []byte) (PSS, error) {
	der := cryptobyte.String(identifier)
	var fields cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !der.ReadASN1(&fields, cbasn1.SEQUENCE) || !der.Empty() || !fields.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(oidPSS) {
		return PSS{}, fmt.Errorf("%w: the AlgorithmIdentifier is not that of RSASSA-PSS", ErrFormat)
	}
	return readPSS(fields)
}

// Marshal returns the AlgorithmIdentifier of RSASSA-PSS in DER. The error of an unknown hash is
// [ades.ErrAlgorithm]. Marshal omits the trailer field, which has its default value.
func (p PSS) Marshal() ([]byte, error) {
	hash, mask := pssHashIdentifier(p.Hash), pssHashIdentifier(p.Mask)
	if hash == nil || mask == nil {
		return nil, fmt.Errorf("der: %w: RSASSA-PSS with %v and mask by %v", ades.ErrAlgorithm, p.Hash, p.Mask)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidPSS)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(tagContext0, hash)
			b.AddASN1(tagContext1, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(oidMGF1)
					mask(b)
				})
			})
			b.AddASN1(tagContext2, func(b *cryptobyte.Builder) { b.AddASN1Int64(int64(p.Salt)) })
		})
	})
	return b.Bytes()
}

func marshalAlgorithm(a ades.Algorithm) ([]byte, error) {
	for _, row := range signatureAlgorithms {
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
	return nil, fmt.Errorf("der: %w: no object identifier is known for %v with scheme %d", ades.ErrAlgorithm, a.Hash, a.Scheme)
}

func parseAlgorithm(der cryptobyte.String) (x509.SignatureAlgorithm, error) {
	var parameters cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !der.ReadASN1(&parameters, cbasn1.SEQUENCE) || !parameters.ReadASN1ObjectIdentifier(&oid) {
		return 0, fmt.Errorf("%w: an AlgorithmIdentifier has no object identifier", ErrFormat)
	}
	switch {
	case oid.Equal(oidPSS):
		return x509PSSAlgorithm(parameters)
	case oid.Equal(oidEd25519) && parameters.Empty(): // RFC 8410 section 3
		return x509.PureEd25519, nil
	}
	for _, row := range signatureAlgorithms {
		if row.oid.Equal(oid) && emptyOrNull(parameters) {
			return row.name, nil
		}
	}
	return 0, fmt.Errorf("der: %w: signature algorithm %v", ades.ErrAlgorithm, oid)
}

// x509PSSAlgorithm returns the x509 algorithm of RSASSA-PSS-params. It accepts only one hash for
// both uses and a salt as long as the hash.
func x509PSSAlgorithm(parameters cryptobyte.String) (x509.SignatureAlgorithm, error) {
	p, err := readPSS(parameters)
	if err != nil {
		return 0, fmt.Errorf("%w: %w", ades.ErrAlgorithm, err)
	}
	for _, row := range pssHashes {
		if row.name != 0 && p == (PSS{row.hash, row.hash, row.hash.Size()}) {
			return row.name, nil
		}
	}
	return 0, fmt.Errorf("der: %w: RSASSA-PSS with %v, mask by %v and a salt of %d bytes", ades.ErrAlgorithm, p.Hash, p.Mask, p.Salt)
}

// readPSS reads RSASSA-PSS-params, which must fill s.
func readPSS(s cryptobyte.String) (p PSS, err error) {
	var parameters, hash, generator, mask cryptobyte.String
	var hasHash, hasGenerator bool
	var mgf asn1.ObjectIdentifier
	var trailer int
	if !s.ReadASN1(&parameters, cbasn1.SEQUENCE) || !s.Empty() ||
		!parameters.ReadOptionalASN1(&hash, &hasHash, tagContext0) ||
		!parameters.ReadOptionalASN1(&generator, &hasGenerator, tagContext1) ||
		!parameters.ReadOptionalASN1Integer(&p.Salt, tagContext2, 20) ||
		!parameters.ReadOptionalASN1Integer(&trailer, tagContext3, 1) || !parameters.Empty() || trailer != 1 {
		return PSS{}, fmt.Errorf("%w: the parameters of RSASSA-PSS are malformed, or trailerField is not 1", ErrFormat)
	}
	if hasGenerator && (!generator.ReadASN1(&mask, cbasn1.SEQUENCE) || !generator.Empty() || !mask.ReadASN1ObjectIdentifier(&mgf)) {
		return PSS{}, fmt.Errorf("%w: maskGenAlgorithm of RSASSA-PSS has no object identifier", ErrFormat)
	}
	if hasGenerator && !mgf.Equal(oidMGF1) {
		return PSS{}, fmt.Errorf("der: %w: maskGenAlgorithm of RSASSA-PSS is %v instead of MGF1", ades.ErrAlgorithm, mgf)
	}
	if p.Hash, err = readPSSHash(hash, hasHash); err != nil {
		return PSS{}, err
	}
	if p.Mask, err = readPSSHash(mask, hasGenerator); err != nil {
		return PSS{}, err
	}
	return p, nil
}

// readPSSHash reads the AlgorithmIdentifier of a hash. The default is SHA-1.
func readPSSHash(s cryptobyte.String, present bool) (crypto.Hash, error) {
	if !present {
		return crypto.SHA1, nil
	}
	var identifier cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !s.ReadASN1(&identifier, cbasn1.SEQUENCE) || !s.Empty() || !identifier.ReadASN1ObjectIdentifier(&oid) || !emptyOrNull(identifier) {
		return 0, fmt.Errorf("%w: a hash algorithm of RSASSA-PSS is malformed", ErrFormat)
	}
	for _, row := range pssHashes {
		if row.oid.Equal(oid) {
			return row.hash, nil
		}
	}
	return 0, fmt.Errorf("der: %w: hash %v of RSASSA-PSS", ades.ErrAlgorithm, oid)
}

// pssHashIdentifier returns a function that writes the AlgorithmIdentifier of a hash, or nil for an
// unknown hash. RFC 4055 2.1 requires NULL parameters here; other uses omit them.
func pssHashIdentifier(h crypto.Hash) cryptobyte.BuilderContinuation {
	for _, row := range pssHashes {
		if row.hash == h {
			return func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(row.oid)
					b.AddASN1NULL()
				})
			}
		}
	}
	return nil
}

// emptyOrNull reports whether parameters are absent or NULL. Signatures in use have either, even
// where the standard of the algorithm permits only one of them.
func emptyOrNull(parameters cryptobyte.String) bool {
	var null cryptobyte.String
	return parameters.Empty() || parameters.ReadASN1(&null, cbasn1.NULL) && null.Empty() && parameters.Empty()
}
