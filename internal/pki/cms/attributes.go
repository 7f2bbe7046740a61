package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// maxAttributes bounds the attributes of a signer, and the values of each.
const maxAttributes = 100

type parsedAttribute struct {
	oid    asn1.ObjectIdentifier
	values []cryptobyte.String // DER, at least one
}

func parseAttributes(set cryptobyte.String) ([]parsedAttribute, error) {
	var all []parsedAttribute
	for !set.Empty() {
		var attribute, values cryptobyte.String
		var a parsedAttribute
		if !set.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1ObjectIdentifier(&a.oid) ||
			!attribute.ReadASN1(&values, cbasn1.SET) || !attribute.Empty() || values.Empty() {
			return nil, fmt.Errorf("%w: attributes", ErrFormat)
		}
		for !values.Empty() {
			var value cryptobyte.String
			var tag cbasn1.Tag
			if !values.ReadAnyASN1Element(&value, &tag) || len(a.values) == maxAttributes {
				return nil, fmt.Errorf("%w: attribute %v", ErrFormat, a.oid)
			}
			a.values = append(a.values, value)
		}
		if all = append(all, a); len(all) > maxAttributes {
			return nil, fmt.Errorf("%w: more than %d attributes", ErrFormat, maxAttributes)
		}
	}
	return all, nil
}

// onceOnly are the signed attributes of which there may not be two (RFC 5652 11, RFC 5035 5.4, RFC 6211 2, EN 319
// 122-1 5.2). Whoever defines others may allow it.
var onceOnly = []asn1.ObjectIdentifier{
	oidContentType, oidMessageDigest, oidSigningTime, oidAlgorithmProtection, oidSigningCertificate, oidSigningCertificateV2,
	oidSignaturePolicy, oidCommitment, oidSignerAttributes, oidSignerAttributesV2,
}

// onceEach refuses a second one of these. Unsigned attributes may repeat.
func onceEach(attributes []parsedAttribute) error {
	for _, oid := range onceOnly {
		isSuch := func(a parsedAttribute) bool { return a.oid.Equal(oid) }
		first := slices.IndexFunc(attributes, isSuch)
		if first >= 0 && slices.ContainsFunc(attributes[first+1:], isSuch) {
			return fmt.Errorf("%w: attribute %v twice", ErrFormat, oid)
		}
	}
	return nil
}

// valuesOf returns the values of an attribute over all its instances.
func valuesOf(oid asn1.ObjectIdentifier, attributes []parsedAttribute) []cryptobyte.String {
	var values []cryptobyte.String
	for _, a := range attributes {
		if a.oid.Equal(oid) {
			values = append(values, a.values...)
		}
	}
	return values
}

func (sd *SignedData) has(oid asn1.ObjectIdentifier) bool {
	return len(valuesOf(oid, sd.attributes)) > 0
}

// single returns the only value of a signed attribute.
func (sd *SignedData) single(oid asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	if values := valuesOf(oid, sd.attributes); len(values) == 1 {
		return values[0], true
	}
	return nil, false
}

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

// oidRevocationArchival is adbe-revocationInfoArchival (ISO 32000-1 12.8.3.3.2).
var oidRevocationArchival = asn1.ObjectIdentifier{1, 2, 840, 113583, 1, 1, 8}

// maxArchived bounds the proofs of each kind in a signature.
const maxArchived = 256

// ArchivedRevocation is the revocation data among the signed attributes, which signatures of PDF had before the
// document security store: lists and responses in DER, not looked into. What cannot be read proves nothing.
func (sd *SignedData) ArchivedRevocation() (lists, responses [][]byte) {
	value, ok := sd.single(oidRevocationArchival)
	var archival cryptobyte.String
	if !ok || !value.ReadASN1(&archival, cbasn1.SEQUENCE) {
		return nil, nil
	}
	return archived(&archival, tagContext0), archived(&archival, tagContext1)
}

// archived reads an optional SEQUENCE OF under an explicit tag.
func archived(from *cryptobyte.String, tag cbasn1.Tag) (all [][]byte) {
	var explicit, sequence cryptobyte.String
	var present bool
	if !from.ReadOptionalASN1(&explicit, &present, tag) || !present || !explicit.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil
	}
	for !sequence.Empty() && len(all) < maxArchived {
		var one cryptobyte.String
		if !sequence.ReadASN1Element(&one, cbasn1.SEQUENCE) {
			break
		}
		all = append(all, one)
	}
	return all
}

// oidSignatureTimestamp is id-aa-signatureTimeStampToken (RFC 3161 appendix A,
// EN 319 122-1 5.3).
var oidSignatureTimestamp = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}

// SignatureTimestamps are the tokens over the signature value that the signer's
// unsigned attributes carry, in their order, in DER and not looked into.
func (sd *SignedData) SignatureTimestamps() [][]byte {
	var tokens [][]byte
	for _, value := range valuesOf(oidSignatureTimestamp, sd.unsigned) {
		tokens = append(tokens, value)
	}
	return tokens
}

const sequence = 0x30 // the identifier of a SEQUENCE

// signatureTimestamp is the attribute with a token.
func signatureTimestamp(token []byte) ([]byte, error) {
	der, rest, err := DER(token)
	if err != nil || len(rest) > 0 || der[0] != sequence { // a ContentInfo
		return nil, fmt.Errorf("%w: timestamp token", ErrFormat)
	}
	return attribute(oidSignatureTimestamp, func(b *cryptobyte.Builder) { b.AddBytes(der) })
}

// setOf joins the elements of a SET OF in the order of DER, that of their
// encodings (X.690 11.6).
func setOf(elements [][]byte) []byte {
	slices.SortFunc(elements, bytes.Compare)
	return slices.Concat(elements...)
}
