package cms

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// SignedAttributes returns the signed attributes for a detached content with the
// digest given, as the DER SET OF that is hashed and signed (RFC 5652 5.4).
func SignedAttributes(cert *x509.Certificate, a ades.Algorithm, messageDigest []byte) ([]byte, error) {
	return SignedAttributesOf(oidData, cert, a, messageDigest)
}

// SignedAttributesOf is [SignedAttributes] for content of another type than id-data.
func SignedAttributesOf(contentType asn1.ObjectIdentifier, cert *x509.Certificate, a ades.Algorithm, messageDigest []byte) ([]byte, error) {
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
		{oidContentType, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(contentType) }},
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
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(setOf(attributes)) })
	return b.Bytes()
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
					digest, err := MarshalHash(h)
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
	digest, err := MarshalHash(a.Hash)
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
