package cms

import (
	"bytes"
	"encoding/asn1"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

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
