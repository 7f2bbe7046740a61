package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

var (
	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext4 = cbasn1.Tag(4).ContextSpecific().Constructed()
	tagKeyID    = cbasn1.Tag(0).ContextSpecific() // subjectKeyIdentifier, primitive
)

// SignedAttributes returns the signed attributes for a detached content with the
// digest given, as the DER SET OF that is hashed and signed (RFC 5652 5.4).
func SignedAttributes(cert *x509.Certificate, a ades.Algorithm, messageDigest []byte) ([]byte, error) {
	if len(messageDigest) != a.Hash.Size() {
		return nil, fmt.Errorf("cms: message digest of %d bytes for %v", len(messageDigest), a.Hash)
	}
	protection, err := algorithmProtection(a)
	if err != nil {
		return nil, err
	}
	var attributes [][]byte
	for _, a := range []struct {
		oid   asn1.ObjectIdentifier
		value cryptobyte.BuilderContinuation
	}{
		{oidContentType, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) }},
		{oidMessageDigest, func(b *cryptobyte.Builder) { b.AddASN1OctetString(messageDigest) }},
		{oidSigningCertificateV2, func(b *cryptobyte.Builder) { addSigningCertificateV2(b, cert, a.Hash) }},
		{oidAlgorithmProtection, func(b *cryptobyte.Builder) { b.AddBytes(protection) }},
	} {
		der, err := attribute(a.oid, a.value)
		if err != nil {
			return nil, fmt.Errorf("cms: attribute %v: %w", a.oid, err)
		}
		attributes = append(attributes, der)
	}
	// DER orders the elements of a SET OF by their encodings (X.690 11.6).
	slices.SortFunc(attributes, bytes.Compare)
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
		for _, a := range attributes {
			b.AddBytes(a)
		}
	})
	return b.Bytes()
}

// Parts are what a SignedData is made of.
type Parts struct {
	Certificate      *x509.Certificate
	Chain            []*x509.Certificate // further certificates to carry
	Algorithm        ades.Algorithm
	SignedAttributes []byte // from SignedAttributes
	Value            []byte // the signature value over their hash
}

// Marshal returns the DER ContentInfo.
func Marshal(p Parts) ([]byte, error) {
	signature, err := signatureAlgorithm(p.Algorithm)
	if err != nil {
		return nil, err
	}
	digest, err := digestAlgorithm(p.Algorithm.Hash)
	if err != nil {
		return nil, err
	}
	attributes := cryptobyte.String(p.SignedAttributes)
	var content cryptobyte.String
	if !attributes.ReadASN1(&content, cbasn1.SET) || !attributes.Empty() {
		return nil, errors.New("cms: signed attributes are no SET")
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) {
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
				b.AddASN1Int64(1) // RFC 5652 5.1: id-data and issuerAndSerialNumber
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(digest) })
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) })
				b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { addCertificates(b, p) })
				b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) {
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
						b.AddASN1Int64(1)
						addIssuerAndSerial(b, p.Certificate)
						b.AddBytes(digest)
						b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddBytes(content) })
						b.AddBytes(signature)
						b.AddASN1OctetString(p.Value)
					})
				})
			})
		})
	})
	return b.Bytes()
}

// addCertificates writes the signer's certificate and the rest of the chain once
// each, ordered as DER wants a SET OF.
func addCertificates(b *cryptobyte.Builder, p Parts) {
	all := [][]byte{p.Certificate.Raw}
	for _, c := range p.Chain {
		all = append(all, c.Raw)
	}
	slices.SortFunc(all, bytes.Compare)
	for _, raw := range slices.CompactFunc(all, bytes.Equal) {
		b.AddBytes(raw)
	}
}

func addIssuerAndSerial(b *cryptobyte.Builder, cert *x509.Certificate) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(cert.RawIssuer)
		b.AddASN1BigInt(cert.SerialNumber)
	})
}

// addSigningCertificateV2 writes the attribute of RFC 5035 section 3 for one
// certificate. The hash algorithm is left out when it is the default, SHA-256.
func addSigningCertificateV2(b *cryptobyte.Builder, cert *x509.Certificate, h crypto.Hash) {
	sum := h.New()
	sum.Write(cert.Raw)
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // SigningCertificateV2
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // certs
			b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // ESSCertIDv2
				if h != crypto.SHA256 {
					digest, err := digestAlgorithm(h)
					if err != nil {
						b.SetError(err)
						return
					}
					b.AddBytes(digest)
				}
				b.AddASN1OctetString(sum.Sum(nil))
				b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // IssuerSerial
					b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { // GeneralNames
						b.AddASN1(tagContext4, func(b *cryptobyte.Builder) { b.AddBytes(cert.RawIssuer) })
					})
					b.AddASN1BigInt(cert.SerialNumber)
				})
			})
		})
	})
}

// algorithmProtection is the value of the attribute of RFC 6211: it binds the
// algorithms, which are not signed otherwise.
func algorithmProtection(a ades.Algorithm) ([]byte, error) {
	digest, err := digestAlgorithm(a.Hash)
	if err != nil {
		return nil, err
	}
	signature, err := signatureAlgorithm(a)
	if err != nil {
		return nil, err
	}
	signature[0] = byte(tagContext1) // [1] IMPLICIT SignatureAlgorithmIdentifier
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(digest)
		b.AddBytes(signature)
	})
	return b.Bytes()
}

func attribute(oid asn1.ObjectIdentifier, value cryptobyte.BuilderContinuation) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		b.AddASN1(cbasn1.SET, value)
	})
	return b.Bytes()
}

// digestAlgorithm returns the AlgorithmIdentifier without parameters (RFC 5754
// section 2).
func digestAlgorithm(h crypto.Hash) ([]byte, error) {
	for _, d := range digestOIDs {
		if d.hash == h {
			return algorithmIdentifier(d.oid, false)
		}
	}
	return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, h)
}

func signatureAlgorithm(a ades.Algorithm) ([]byte, error) {
	for _, s := range signatureOIDs {
		if s.algorithm == a {
			return algorithmIdentifier(s.oid, a.Scheme == ades.PKCS1v15)
		}
	}
	return nil, fmt.Errorf("cms: %w: %v with scheme %d", ades.ErrAlgorithm, a.Hash, a.Scheme)
}

func algorithmIdentifier(oid asn1.ObjectIdentifier, null bool) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
	return b.Bytes()
}
