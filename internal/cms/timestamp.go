package cms

import (
	"bytes"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
)

// oidSignatureTimestamp is id-aa-signatureTimeStampToken (RFC 3161 appendix A,
// EN 319 122-1 5.3).
var oidSignatureTimestamp = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 14}

// ErrNotDER: an encoding in BER cannot be added to without changing the rest of it.
var ErrNotDER = errors.New("cms: signature not in DER")

// SignatureTimestamps are the tokens over the signature value that the signer's
// unsigned attributes carry, in their order, in DER and not looked into.
func (sd *SignedData) SignatureTimestamps() [][]byte {
	var tokens [][]byte
	for _, value := range valuesOf(oidSignatureTimestamp, sd.unsigned) {
		tokens = append(tokens, value)
	}
	return tokens
}

// AddSignatureTimestamp returns a signature, ours or a foreign one, with one more
// token over its value. What is there stays as it is, byte for byte; [ErrNotDER]
// where that cannot be, [ErrFormat] when it is no signature. Zero bytes after it
// are dropped.
func AddSignatureTimestamp(signature, token []byte) ([]byte, error) {
	sd, err := Parse(signature)
	if err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(signature, sd.Raw) {
		return nil, ErrNotDER
	}
	attribute, err := signatureTimestamp(token)
	if err != nil {
		return nil, err
	}
	// ContentInfo, [0], SignedData, signerInfos, SignerInfo: each is the last element
	// of the one before, and the unsigned attributes are the last of them all.
	return replaceLast(sd.Raw, 5, func(signer []byte) ([]byte, error) { return addUnsigned(signer, attribute) })
}

// replaceLast rewrites the contents of the element that is reached by going into
// the last element so many times, and the lengths of those around it.
func replaceLast(der []byte, levels int, rewrite func(contents []byte) ([]byte, error)) ([]byte, error) {
	e, err := readElement(der, 2)
	if err != nil {
		return nil, err
	}
	if levels == 1 {
		contents, err := rewrite(e.contents)
		return appendTLV(nil, e.identifier, contents), err
	}
	last, err := lastElement(e.contents)
	if err != nil {
		return nil, err
	}
	inner, err := replaceLast(e.contents[last:], levels-1, rewrite)
	return appendTLV(nil, e.identifier, slices.Concat(e.contents[:last], inner)), err
}

// lastElement is where the last of the elements begins.
func lastElement(elements []byte) (int, error) {
	at := 0
	for {
		e, err := readElement(elements[at:], 2)
		if err != nil {
			return 0, err
		}
		if at+e.size == len(elements) {
			return at, nil
		}
		at += e.size
	}
}

// addUnsigned adds an attribute to the contents of a SignerInfo (RFC 5652 5.3).
func addUnsigned(signer, attribute []byte) ([]byte, error) {
	last, err := lastElement(signer)
	if err != nil {
		return nil, err
	}
	attributes := [][]byte{attribute}
	if signer[last] == byte(tagContext1) {
		e, err := readElement(signer[last:], 2)
		if err != nil {
			return nil, err
		}
		for rest := e.contents; len(rest) > 0; {
			a, err := readElement(rest, 2)
			if err != nil {
				return nil, err
			}
			attributes, rest = append(attributes, rest[:a.size]), rest[a.size:]
		}
		signer = signer[:last]
	}
	return appendTLV(slices.Clone(signer), []byte{byte(tagContext1)}, setOf(attributes)), nil
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
