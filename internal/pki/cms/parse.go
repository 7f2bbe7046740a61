package cms

import (
	"bytes"
	"cmp"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// maxCertificates bounds the certificates of a SignedData.
const maxCertificates = 1000

// Parse reads the ContentInfo of a detached signature in BER or DER. Only zero bytes may follow it,
// as in the Contents entry of a PDF signature dictionary.
func Parse(ber []byte) (*SignedData, error) {
	sd, err := Read(ber)
	if err != nil {
		return nil, err
	}
	if err := sd.CheckDetached(); err != nil {
		return nil, err
	}
	return sd, nil
}

// ParseEncapsulated reads a ContentInfo as [Parse] does, with encapsulated content of the given
// type, such as the TSTInfo of a timestamp token.
func ParseEncapsulated(ber []byte, contentType asn1.ObjectIdentifier) (*SignedData, error) {
	sd, err := Read(ber)
	if err != nil {
		return nil, err
	}
	if !sd.ContentType.Equal(contentType) || sd.Content == nil {
		return nil, fmt.Errorf("%w: the content is missing or not of type %v", ErrFormat, contentType)
	}
	return sd, nil
}

// Read reads a ContentInfo with detached or encapsulated content. It may return a SignedData
// together with an error: the signature cannot be verified then, for example because it has a
// second signer or an unknown algorithm, but the caller can still report its format and attributes.
func Read(ber []byte) (*SignedData, error) {
	signedData, der, rest, err := readContentInfo(ber)
	if err != nil {
		return nil, err
	}
	sd := &SignedData{Raw: der}
	sd.recordFault(checkTrailing(rest))
	if err := sd.parse(signedData); err != nil {
		return nil, err
	}
	return sd, sd.fault
}

// CheckDetached returns [ErrFormat] unless the content is detached id-data, as a signature in a PDF
// requires (EN 319 142-1 6.3 (b)).
func (sd *SignedData) CheckDetached() error {
	if sd.isDetached() {
		return nil
	}
	return fmt.Errorf("%w: the content of a detached signature is present or not id-data, but %v", ErrFormat, sd.ContentType)
}

// Certificates returns the certificates of a "certs-only" message: a SignedData without signers
// (RFC 8551 3.8), which certification authorities publish as a .p7b or .p7c file. It ignores
// content and signers, and leaves out certificates that Go cannot parse.
func Certificates(ber []byte) ([]*x509.Certificate, error) {
	signedData, _, rest, err := readContentInfo(ber)
	if err := cmp.Or(err, checkTrailing(rest)); err != nil {
		return nil, err
	}
	var version int
	var digests, content cryptobyte.String
	if !signedData.ReadASN1Integer(&version) || !signedData.ReadASN1(&digests, cbasn1.SET) ||
		!signedData.ReadASN1(&content, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: no content type", ErrFormat)
	}
	all, _, err := parseCertificates(&signedData)
	return all, err
}

// readContentInfo returns the fields of the SignedData in a ContentInfo (RFC 5652 clauses 3 and
// 5.1), the ContentInfo in DER, and the bytes after it.
func readContentInfo(ber []byte) (signedData cryptobyte.String, raw, rest []byte, err error) {
	raw, rest, err = DER(ber)
	if err != nil {
		return nil, nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	der := cryptobyte.String(raw)
	var contentInfo, explicit cryptobyte.String
	var contentType asn1.ObjectIdentifier
	if !der.ReadASN1(&contentInfo, cbasn1.SEQUENCE) || !contentInfo.ReadASN1ObjectIdentifier(&contentType) ||
		!contentType.Equal(oidSignedData) ||
		!contentInfo.ReadASN1(&explicit, tagContext0) || !contentInfo.Empty() ||
		!explicit.ReadASN1(&signedData, cbasn1.SEQUENCE) || !explicit.Empty() {
		return nil, nil, nil, fmt.Errorf("%w: the ContentInfo does not contain a SignedData", ErrFormat)
	}
	return signedData, raw, rest, nil
}

// checkTrailing accepts only zero bytes after a ContentInfo: the padding of Contents.
func checkTrailing(rest []byte) error {
	if len(bytes.TrimRight(rest, "\x00")) > 0 {
		return fmt.Errorf("%w: bytes after the ContentInfo", ErrFormat)
	}
	return nil
}

// recordFault keeps the first fault that is found.
func (sd *SignedData) recordFault(fault error) { sd.fault = cmp.Or(sd.fault, fault) }

func (sd *SignedData) parse(signedData cryptobyte.String) error {
	if err := sd.parseContent(&signedData); err != nil {
		return err
	}
	var err error
	if sd.Certificates, sd.unparsed, err = parseCertificates(&signedData); err != nil {
		return err
	}
	var signers, signer cryptobyte.String
	if !signedData.SkipOptionalASN1(tagContext1) || !signedData.ReadASN1(&signers, cbasn1.SET) || !signedData.Empty() {
		return fmt.Errorf("%w: there is no SET of SignerInfos, or data follow it", ErrFormat)
	}
	oneSigner := fmt.Errorf("%w: there is not exactly one SignerInfo", ErrFormat) // EN 319 142-1 6.3, RFC 3161 2.4.2
	if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) {
		return oneSigner
	}
	if sd.oneSigner = signers.Empty(); !sd.oneSigner {
		sd.recordFault(oneSigner)
	}
	return sd.parseSigner(signer)
}

// parseContent reads the fields up to the EncapsulatedContentInfo (RFC 5652 5.2).
func (sd *SignedData) parseContent(signedData *cryptobyte.String) error {
	var version int
	var digests, encapsulated, explicit, content cryptobyte.String
	var present bool
	if !signedData.ReadASN1Integer(&version) ||
		!signedData.ReadASN1(&digests, cbasn1.SET) ||
		!signedData.ReadASN1(&encapsulated, cbasn1.SEQUENCE) ||
		!encapsulated.ReadASN1ObjectIdentifier(&sd.ContentType) ||
		!encapsulated.ReadOptionalASN1(&explicit, &present, tagContext0) || !encapsulated.Empty() {
		return fmt.Errorf("%w: no content type", ErrFormat)
	}
	if !present {
		return nil
	}
	if !explicit.ReadASN1(&content, cbasn1.OCTET_STRING) || !explicit.Empty() {
		return fmt.Errorf("%w: the content of type %v is not an OCTET STRING", ErrFormat, sd.ContentType)
	}
	sd.Content = append([]byte{}, content...) // not nil, even if empty
	return nil
}

// parseCertificates reads an optional CertificateSet (RFC 5652 10.2.3). unparsed has the
// certificates that Go cannot parse.
func parseCertificates(signedData *cryptobyte.String) (all []*x509.Certificate, unparsed [][]byte, _ error) {
	var set cryptobyte.String
	var present bool
	if !signedData.ReadOptionalASN1(&set, &present, tagContext0) {
		return nil, nil, fmt.Errorf("%w: certificates", ErrFormat)
	}
	for n := 0; !set.Empty(); n++ {
		var raw cryptobyte.String
		var tag cbasn1.Tag
		if !set.ReadAnyASN1Element(&raw, &tag) || n == maxCertificates {
			return nil, nil, fmt.Errorf("%w: certificates", ErrFormat)
		}
		if c, err := x509.ParseCertificate(raw); err == nil {
			all = append(all, c)
		} else {
			unparsed = append(unparsed, raw)
		}
	}
	return all, unparsed, nil
}

// parseSigner reads a SignerInfo (RFC 5652 5.3).
func (sd *SignedData) parseSigner(signer cryptobyte.String) error {
	var version int
	var digest, attributes, signature cryptobyte.String
	if !signer.ReadASN1Integer(&version) || !sd.parseIdentifier(&signer) {
		return fmt.Errorf("%w: the SignerInfo does not identify the signer", ErrFormat)
	}
	var signed bool
	if !signer.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!signer.ReadOptionalASN1(&attributes, &signed, tagContext0) ||
		!signer.ReadASN1Element(&signature, cbasn1.SEQUENCE) ||
		!signer.ReadASN1((*cryptobyte.String)(&sd.Value), cbasn1.OCTET_STRING) {
		return fmt.Errorf("%w: the SignerInfo lacks an algorithm or the signature value", ErrFormat)
	}
	if err := sd.parseSigned(attributes, signed); err != nil {
		return err
	}
	var unknown error
	sd.algorithm, unknown = parseAlgorithm(digest, signature)
	if signed && errors.Is(unknown, ErrNoDigest) {
		unknown = fmt.Errorf("%w: %w", ErrDigest, unknown) // no digest can match the message-digest attribute
	}
	sd.recordFault(unknown)
	return sd.parseUnsigned(signer)
}

// parseIdentifier reads a SignerIdentifier (RFC 5652 5.3).
func (sd *SignedData) parseIdentifier(signer *cryptobyte.String) bool {
	if signer.PeekASN1Tag(tagKeyID) {
		return signer.ReadASN1((*cryptobyte.String)(&sd.keyID), tagKeyID)
	}
	var sid, issuer cryptobyte.String
	sd.serial = new(big.Int)
	ok := signer.ReadASN1(&sid, cbasn1.SEQUENCE) && sid.ReadASN1Element(&issuer, cbasn1.SEQUENCE) && sid.ReadASN1Integer(sd.serial)
	sd.issuer = issuer
	return ok
}

func (sd *SignedData) parseSigned(attributes cryptobyte.String, present bool) (err error) {
	if !present {
		// RFC 5652 5.3 requires signed attributes for content other than id-data, EN 319 122-1 for
		// detached content.
		if sd.Content == nil || !sd.ContentType.Equal(oidData) {
			sd.recordFault(fmt.Errorf("%w: the SignerInfo has no signed attributes", ErrFormat))
		}
		return nil
	}
	if sd.attributes, err = parseAttributes(attributes); err != nil {
		return err
	}
	sd.SignedAttributes, err = encodeSignedAttributes(attributes)
	sd.recordFault(checkInstances(sd.attributes))
	return err
}

// encodeSignedAttributes returns the SET OF that the signer signed, with its elements in the order
// of DER. The SignerInfo may have them in another order (RFC 5652 5.4).
func encodeSignedAttributes(attributes cryptobyte.String) ([]byte, error) {
	var all [][]byte
	for !attributes.Empty() {
		var one cryptobyte.String
		if !attributes.ReadASN1Element(&one, cbasn1.SEQUENCE) {
			return nil, fmt.Errorf("%w: a signed attribute is not a SEQUENCE", ErrFormat)
		}
		all = append(all, one)
	}
	return appendTLV(nil, []byte{byte(cbasn1.SET)}, setOf(all)), nil
}

func (sd *SignedData) parseUnsigned(signer cryptobyte.String) (err error) {
	var attributes cryptobyte.String
	var present bool
	if !signer.ReadOptionalASN1(&attributes, &present, tagContext1) || !signer.Empty() {
		return fmt.Errorf("%w: the unsigned attributes are not the last field of the SignerInfo", ErrFormat)
	}
	sd.unsigned, err = parseAttributes(attributes)
	return err
}
