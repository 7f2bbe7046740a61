package cms

import (
	"encoding/asn1"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
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
