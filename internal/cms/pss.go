package cms

import (
	"crypto"
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

var (
	oidPSS  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}
	oidMGF1 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 8}

	tagContext2 = cbasn1.Tag(2).ContextSpecific().Constructed()
	tagContext3 = cbasn1.Tag(3).ContextSpecific().Constructed()
)

// pssAlgorithm returns the AlgorithmIdentifier of RSASSA-PSS with the parameters that
// CMS requires (RFC 4056 2.2, RFC 4055 section 3.1). The trailer field is the
// default, which DER leaves out.
func pssAlgorithm(a ades.Algorithm) ([]byte, error) {
	hash, err := pssHash(a.Hash)
	if err != nil {
		return nil, err
	}
	salt := a.Salt
	if salt == 0 {
		salt = a.Hash.Size()
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidPSS)
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
			b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddBytes(hash) })
			b.AddASN1(tagContext1, func(b *cryptobyte.Builder) {
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
					b.AddASN1ObjectIdentifier(oidMGF1)
					b.AddBytes(hash)
				})
			})
			b.AddASN1(tagContext2, func(b *cryptobyte.Builder) { b.AddASN1Int64(int64(salt)) })
		})
	})
	return b.Bytes()
}

// pssHash is the identifier of a hash in these parameters, with the NULL that
// RFC 4055 2.1 gives it and elsewhere is left out.
func pssHash(h crypto.Hash) ([]byte, error) {
	for _, d := range digestOIDs {
		if d.hash == h {
			return algorithmIdentifier(d.oid, true)
		}
	}
	return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, h)
}

// parsePSS reads the AlgorithmIdentifier of RSASSA-PSS beside a digest algorithm. A
// hash of its own for the mask is allowed there, but is not known to crypto/rsa.
func parsePSS(digest crypto.Hash, identifier cryptobyte.String) (ades.Algorithm, error) {
	p, err := parsePSSParameters(identifier)
	if err != nil {
		return ades.Algorithm{}, err
	}
	if p.hash != digest {
		return ades.Algorithm{}, fmt.Errorf("%w: digest %v with RSASSA-PSS over %v", ErrFormat, digest, p.hash)
	}
	if p.mask != p.hash || p.salt < 1 {
		return ades.Algorithm{}, fmt.Errorf("cms: %w: RSASSA-PSS with %v, mask by %v and a salt of %d bytes", ades.ErrAlgorithm, p.hash, p.mask, p.salt)
	}
	a := ades.Algorithm{Hash: p.hash, Scheme: ades.PSS}
	if p.salt != p.hash.Size() {
		a.Salt = p.salt
	}
	return a, nil
}

// pssParameters are RSASSA-PSS-params, with the defaults filled in.
type pssParameters struct {
	hash, mask crypto.Hash
	salt       int // bytes
}

func parsePSSParameters(identifier cryptobyte.String) (p pssParameters, err error) {
	var sequence, parameters, hash, generator, mask cryptobyte.String
	var oid, mgf asn1.ObjectIdentifier
	var hasHash, hasGenerator bool
	var trailer int
	if !identifier.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1ObjectIdentifier(&oid) ||
		!sequence.ReadASN1(&parameters, cbasn1.SEQUENCE) ||
		!parameters.ReadOptionalASN1(&hash, &hasHash, tagContext0) ||
		!parameters.ReadOptionalASN1(&generator, &hasGenerator, tagContext1) ||
		!parameters.ReadOptionalASN1Integer(&p.salt, tagContext2, 20) ||
		!parameters.ReadOptionalASN1Integer(&trailer, tagContext3, 1) || !parameters.Empty() || trailer != 1 {
		return p, fmt.Errorf("%w: parameters of RSASSA-PSS", ErrFormat)
	}
	if hasGenerator && (!generator.ReadASN1(&mask, cbasn1.SEQUENCE) || !mask.ReadASN1ObjectIdentifier(&mgf) || !mgf.Equal(oidMGF1)) {
		return p, fmt.Errorf("cms: %w: mask generation %v in RSASSA-PSS", ades.ErrAlgorithm, mgf)
	}
	if p.hash, err = hashOrDefault(hash, hasHash); err != nil {
		return p, err
	}
	p.mask, err = hashOrDefault(mask, hasGenerator)
	return p, err
}

// hashOrDefault reads a hash that is SHA-1 where it is left out (RFC 4055 section 3.1).
func hashOrDefault(identifier cryptobyte.String, present bool) (crypto.Hash, error) {
	if !present {
		return crypto.SHA1, nil
	}
	oid, err := identifierOID(identifier)
	if err != nil {
		return 0, err
	}
	return hashOf(oid)
}
