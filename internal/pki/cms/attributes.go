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

var (
	oidContentType          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningTime          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 5}
	oidSigningCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12} // RFC 2634, SHA-1
	oidSigningCertificateV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47} // RFC 5035
	oidAlgorithmProtection  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 52}        // RFC 6211
	oidSignaturePolicy      = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 15}
	oidCommitment           = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 16}
	oidSignerAttributes     = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 18} // TS 101 733
	oidSignerAttributesV2   = asn1.ObjectIdentifier{0, 4, 0, 19122, 1, 1}
	oidRevocationArchival   = asn1.ObjectIdentifier{1, 2, 840, 113583, 1, 1, 8} // adbe-revocationInfoArchival, ISO 32000-1 12.8.3.3.2

	// id-aa-signatureTimeStampToken (RFC 3161 appendix A, EN 319 122-1 5.3), unsigned
	oidSignatureTimestamp = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}
)

const (
	maxAttributes       = 100 // the attributes of a signer, and the values of each
	maxRevocationValues = 256 // the CRLs, and the OCSP responses, in a revocation archival attribute
)

type parsedAttribute struct {
	oid    asn1.ObjectIdentifier
	values []cryptobyte.String // DER, at least one
}

// SignedAttributes returns the signed attributes for detached content with the given digest, as the
// DER SET OF that the signer hashes and signs (RFC 5652 5.4).
func SignedAttributes(cert *x509.Certificate, a ades.Algorithm, messageDigest []byte) ([]byte, error) {
	return SignedAttributesForContent(oidData, cert, a, messageDigest)
}

// SignedAttributesForContent is [SignedAttributes] for content of another type than id-data.
func SignedAttributesForContent(contentType asn1.ObjectIdentifier, cert *x509.Certificate, a ades.Algorithm, messageDigest []byte) ([]byte, error) {
	if len(messageDigest) != a.Hash.Size() {
		return nil, fmt.Errorf("cms: the message digest has %d bytes, which is not the length of %v", len(messageDigest), a.Hash)
	}
	protection, err := marshalAlgorithmProtection(a)
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
		der, err := marshalAttribute(a.oid, a.value)
		if err != nil {
			return nil, fmt.Errorf("cms: attribute %v: %w", a.oid, err)
		}
		attributes = append(attributes, der)
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(setOf(attributes)) })
	return b.Bytes()
}

// addSigningCertificateV2 writes the signing-certificate-v2 attribute for one certificate (RFC 5035
// section 3). It omits the hash algorithm if it is the default, SHA-256.
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

// marshalAlgorithmProtection returns the value of the RFC 6211 attribute. The attribute binds the
// algorithms to the signature; the algorithm fields of the SignerInfo are not signed.
func marshalAlgorithmProtection(a ades.Algorithm) ([]byte, error) {
	digest, err := MarshalHash(a.Hash)
	if err != nil {
		return nil, err
	}
	signature, err := marshalSignatureAlgorithm(a)
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

// marshalSignatureTimestamp returns the signature-time-stamp attribute with a timestamp token.
func marshalSignatureTimestamp(token []byte) ([]byte, error) {
	der, rest, err := DER(token)
	if err != nil || len(rest) > 0 || der[0] != byte(cbasn1.SEQUENCE) { // a ContentInfo
		return nil, fmt.Errorf("%w: the timestamp token is not a ContentInfo", ErrFormat)
	}
	return marshalAttribute(oidSignatureTimestamp, func(b *cryptobyte.Builder) { b.AddBytes(der) })
}

func marshalAttribute(oid asn1.ObjectIdentifier, value cryptobyte.BuilderContinuation) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		b.AddASN1(cbasn1.SET, value)
	})
	return b.Bytes()
}

// setOf joins the elements of a SET OF in the order of DER: ascending encodings (X.690 11.6).
func setOf(elements [][]byte) []byte {
	slices.SortFunc(elements, bytes.Compare)
	return slices.Concat(elements...)
}

// SignatureTimestamps returns the signature timestamps of the unsigned attributes, in their order:
// timestamp tokens over the signature value, in DER. It does not parse the tokens.
func (sd *SignedData) SignatureTimestamps() [][]byte {
	var tokens [][]byte
	for _, value := range attributeValues(oidSignatureTimestamp, sd.unsigned) {
		tokens = append(tokens, value)
	}
	return tokens
}

// ArchivedRevocation returns the revocation data of the adbe-revocationInfoArchival attribute: CRLs
// and OCSP responses in DER, not parsed. PDF signatures had this signed attribute before the
// document security store. A malformed attribute yields the values before the fault, or nothing.
func (sd *SignedData) ArchivedRevocation() (lists, responses [][]byte) {
	value, ok := sd.singleValue(oidRevocationArchival)
	var archival cryptobyte.String
	if !ok || !value.ReadASN1(&archival, cbasn1.SEQUENCE) {
		return nil, nil
	}
	return readRevocationValues(&archival, tagContext0), readRevocationValues(&archival, tagContext1)
}

// readRevocationValues reads an optional SEQUENCE OF under an explicit tag.
func readRevocationValues(from *cryptobyte.String, tag cbasn1.Tag) (all [][]byte) {
	var explicit, sequence cryptobyte.String
	var present bool
	if !from.ReadOptionalASN1(&explicit, &present, tag) || !present || !explicit.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil
	}
	for !sequence.Empty() && len(all) < maxRevocationValues {
		var one cryptobyte.String
		if !sequence.ReadASN1Element(&one, cbasn1.SEQUENCE) {
			break
		}
		all = append(all, one)
	}
	return all
}

func parseAttributes(set cryptobyte.String) ([]parsedAttribute, error) {
	var all []parsedAttribute
	for !set.Empty() {
		var attribute, values cryptobyte.String
		var a parsedAttribute
		if !set.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1ObjectIdentifier(&a.oid) ||
			!attribute.ReadASN1(&values, cbasn1.SET) || !attribute.Empty() || values.Empty() {
			return nil, fmt.Errorf("%w: an attribute is not a type with a SET of values", ErrFormat)
		}
		for !values.Empty() {
			var value cryptobyte.String
			var tag cbasn1.Tag
			if !values.ReadAnyASN1Element(&value, &tag) || len(a.values) == maxAttributes {
				return nil, fmt.Errorf("%w: attribute %v has a malformed value or too many values", ErrFormat, a.oid)
			}
			a.values = append(a.values, value)
		}
		if all = append(all, a); len(all) > maxAttributes {
			return nil, fmt.Errorf("%w: more than %d attributes", ErrFormat, maxAttributes)
		}
	}
	return all, nil
}

// singleInstanceAttributes are the signed attributes that may occur once (RFC 5652 11, RFC 5035
// 5.4, RFC 6211 2, EN 319 122-1 5.2). Other attributes may repeat, if their definition allows it.
var singleInstanceAttributes = []asn1.ObjectIdentifier{
	oidContentType, oidMessageDigest, oidSigningTime, oidAlgorithmProtection, oidSigningCertificate, oidSigningCertificateV2,
	oidSignaturePolicy, oidCommitment, oidSignerAttributes, oidSignerAttributesV2,
}

// checkInstances returns [ErrFormat] if one of the singleInstanceAttributes occurs twice. Unsigned
// attributes may repeat.
func checkInstances(attributes []parsedAttribute) error {
	for _, oid := range singleInstanceAttributes {
		isSuch := func(a parsedAttribute) bool { return a.oid.Equal(oid) }
		first := slices.IndexFunc(attributes, isSuch)
		if first >= 0 && slices.ContainsFunc(attributes[first+1:], isSuch) {
			return fmt.Errorf("%w: attribute %v twice", ErrFormat, oid)
		}
	}
	return nil
}

// attributeValues returns the values of an attribute over all its instances.
func attributeValues(oid asn1.ObjectIdentifier, attributes []parsedAttribute) []cryptobyte.String {
	var values []cryptobyte.String
	for _, a := range attributes {
		if a.oid.Equal(oid) {
			values = append(values, a.values...)
		}
	}
	return values
}

func (sd *SignedData) hasAttribute(oid asn1.ObjectIdentifier) bool {
	return len(attributeValues(oid, sd.attributes)) > 0
}

// singleValue returns the value of a signed attribute that has exactly one value.
func (sd *SignedData) singleValue(oid asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	if values := attributeValues(oid, sd.attributes); len(values) == 1 {
		return values[0], true
	}
	return nil, false
}
