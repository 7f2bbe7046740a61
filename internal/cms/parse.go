package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// ErrFormat: the bytes are no SignedData that a PAdES signature can consist of.
var ErrFormat = errors.New("cms: not a detached signature")

// SignedData is a parsed signature.
type SignedData struct {
	Certificates []*x509.Certificate // as carried, in their order; what Go cannot parse is left out
	Value        []byte
	// SignedAttributes is the SET OF that was signed, re-tagged as RFC 5652 5.4
	// has it.
	SignedAttributes []byte

	issuer     []byte // DER Name, with serial
	serial     *big.Int
	keyID      []byte // instead of both, when not nil
	algorithm  ades.Algorithm
	attributes []parsedAttribute
}

type parsedAttribute struct {
	oid    asn1.ObjectIdentifier
	values []cryptobyte.String // DER, at least one
}

// Parse reads a ContentInfo in BER or DER. Zero bytes may follow it, as they do
// in a PDF's /Contents; anything else may not.
func Parse(ber []byte) (*SignedData, error) {
	der, rest, err := toDER(ber)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(bytes.TrimRight(rest, "\x00")) > 0 {
		return nil, fmt.Errorf("%w: bytes after the ContentInfo", ErrFormat)
	}
	sd := new(SignedData)
	if err := sd.parse(der); err != nil {
		return nil, err
	}
	return sd, nil
}

func (sd *SignedData) parse(der cryptobyte.String) error {
	var contentInfo, explicit, signedData, digests, encapsulated, signers cryptobyte.String
	var contentType, eContentType asn1.ObjectIdentifier
	var version int
	if !der.ReadASN1(&contentInfo, cbasn1.SEQUENCE) || !contentInfo.ReadASN1ObjectIdentifier(&contentType) ||
		!contentType.Equal(oidSignedData) ||
		!contentInfo.ReadASN1(&explicit, tagContext0) || !explicit.ReadASN1(&signedData, cbasn1.SEQUENCE) ||
		!signedData.ReadASN1Integer(&version) ||
		!signedData.ReadASN1(&digests, cbasn1.SET) ||
		!signedData.ReadASN1(&encapsulated, cbasn1.SEQUENCE) ||
		!encapsulated.ReadASN1ObjectIdentifier(&eContentType) {
		return fmt.Errorf("%w: no SignedData", ErrFormat)
	}
	if !eContentType.Equal(oidData) || !encapsulated.Empty() {
		return fmt.Errorf("%w: it carries content of type %v", ErrFormat, eContentType)
	}
	if err := sd.parseCertificates(&signedData); err != nil {
		return err
	}
	if !signedData.SkipOptionalASN1(tagContext1) || !signedData.ReadASN1(&signers, cbasn1.SET) || !signedData.Empty() {
		return fmt.Errorf("%w: no signers", ErrFormat)
	}
	var signer cryptobyte.String
	if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) || !signers.Empty() {
		return fmt.Errorf("%w: not exactly one signer", ErrFormat) // EN 319 142-1 6.3
	}
	return sd.parseSigner(signer)
}

func (sd *SignedData) parseCertificates(signedData *cryptobyte.String) error {
	var set cryptobyte.String
	var present bool
	if !signedData.ReadOptionalASN1(&set, &present, tagContext0) {
		return fmt.Errorf("%w: certificates", ErrFormat)
	}
	for !set.Empty() {
		var raw cryptobyte.String
		var tag cbasn1.Tag
		if !set.ReadAnyASN1Element(&raw, &tag) {
			return fmt.Errorf("%w: certificates", ErrFormat)
		}
		if c, err := x509.ParseCertificate(raw); err == nil {
			sd.Certificates = append(sd.Certificates, c)
		}
	}
	return nil
}

func (sd *SignedData) parseSigner(signer cryptobyte.String) error {
	var version int
	var digest, attributes, signature cryptobyte.String
	if !signer.ReadASN1Integer(&version) || !sd.parseIdentifier(&signer) {
		return fmt.Errorf("%w: no signer identifier", ErrFormat)
	}
	if !signer.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!signer.ReadASN1(&attributes, tagContext0) ||
		!signer.ReadASN1Element(&signature, cbasn1.SEQUENCE) ||
		!signer.ReadASN1((*cryptobyte.String)(&sd.Value), cbasn1.OCTET_STRING) {
		return fmt.Errorf("%w: signer without signed attributes or value", ErrFormat)
	}
	sd.SignedAttributes = appendTLV(nil, []byte{byte(cbasn1.SET)}, attributes)
	var err error
	if sd.algorithm, err = parseAlgorithm(digest, signature); err != nil {
		return err
	}
	sd.attributes, err = parseAttributes(attributes)
	return err
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

func parseAttributes(set cryptobyte.String) ([]parsedAttribute, error) {
	var all []parsedAttribute
	for !set.Empty() {
		var attribute, values cryptobyte.String
		var a parsedAttribute
		if !set.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1ObjectIdentifier(&a.oid) ||
			!attribute.ReadASN1(&values, cbasn1.SET) || !attribute.Empty() || values.Empty() {
			return nil, fmt.Errorf("%w: attributes", ErrFormat)
		}
		if slices.ContainsFunc(all, func(b parsedAttribute) bool { return b.oid.Equal(a.oid) }) {
			return nil, fmt.Errorf("%w: attribute %v twice", ErrFormat, a.oid) // RFC 5652 5.3
		}
		for !values.Empty() {
			var value cryptobyte.String
			var tag cbasn1.Tag
			if !values.ReadAnyASN1Element(&value, &tag) {
				return nil, fmt.Errorf("%w: attributes", ErrFormat)
			}
			a.values = append(a.values, value)
		}
		all = append(all, a)
	}
	return all, nil
}

// parseAlgorithm joins the two AlgorithmIdentifiers of a SignerInfo. The
// signature's one may name the hash too (sha256WithRSAEncryption), and then it is
// the digest's, or leave it to the digest's (rsaEncryption).
func parseAlgorithm(digest, signature cryptobyte.String) (ades.Algorithm, error) {
	digestOID, err := identifierOID(digest)
	if err != nil {
		return ades.Algorithm{}, err
	}
	h, err := hashOf(digestOID)
	if err != nil {
		return ades.Algorithm{}, err
	}
	signatureOID, err := identifierOID(signature)
	if err != nil {
		return ades.Algorithm{}, err
	}
	if signatureOID.Equal(oidRSA) {
		return ades.Algorithm{Hash: h, Scheme: ades.PKCS1v15}, nil
	}
	for _, s := range signatureOIDs {
		if s.oid.Equal(signatureOID) {
			if s.algorithm.Hash != h {
				return ades.Algorithm{}, fmt.Errorf("%w: digest %v with signature algorithm %v", ErrFormat, h, signatureOID)
			}
			return s.algorithm, nil
		}
	}
	return ades.Algorithm{}, fmt.Errorf("cms: %w: signature algorithm %v", ades.ErrAlgorithm, signatureOID)
}

func hashOf(oid asn1.ObjectIdentifier) (crypto.Hash, error) {
	for _, d := range digestOIDs {
		if d.oid.Equal(oid) && d.hash.Available() {
			return d.hash, nil
		}
	}
	return 0, fmt.Errorf("cms: %w: digest algorithm %v", ades.ErrAlgorithm, oid)
}

func identifierOID(identifier cryptobyte.String) (asn1.ObjectIdentifier, error) {
	var sequence cryptobyte.String
	var oid asn1.ObjectIdentifier
	if !identifier.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1ObjectIdentifier(&oid) {
		return nil, fmt.Errorf("%w: algorithm identifier", ErrFormat)
	}
	return oid, nil
}
