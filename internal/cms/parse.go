package cms

import (
	"bytes"
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"math/big"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// ErrFormat: the bytes are no SignedData of the form asked for.
var ErrFormat = errors.New("cms: malformed SignedData")

// SignedData is a parsed signature.
type SignedData struct {
	Raw          []byte // the ContentInfo in DER
	ContentType  asn1.ObjectIdentifier
	Content      []byte              // nil when it is detached
	Certificates []*x509.Certificate // as carried, in their order; what Go cannot parse is left out
	Value        []byte
	// SignedAttributes is the SET OF that was signed, re-tagged as RFC 5652 5.4
	// has it.
	SignedAttributes []byte

	issuer     []byte // DER Name, with serial
	serial     *big.Int
	keyID      []byte // instead of both, when not nil
	algorithm  ades.Algorithm
	attributes []parsedAttribute // signed
	unsigned   []parsedAttribute
}

// Parse reads the ContentInfo of a detached signature in BER or DER. Zero bytes
// may follow it, as they do in a PDF's /Contents; anything else may not.
func Parse(ber []byte) (*SignedData, error) {
	sd, err := parse(ber)
	if err != nil {
		return nil, err
	}
	if !sd.ContentType.Equal(oidData) || sd.Content != nil {
		return nil, fmt.Errorf("%w: it carries content of type %v", ErrFormat, sd.ContentType)
	}
	return sd, nil
}

// ParseEncapsulated reads a ContentInfo, as [Parse] does, that carries what it
// signs: content of the type given, such as the TSTInfo of a timestamp token.
func ParseEncapsulated(ber []byte, contentType asn1.ObjectIdentifier) (*SignedData, error) {
	sd, err := parse(ber)
	if err != nil {
		return nil, err
	}
	if !sd.ContentType.Equal(contentType) || sd.Content == nil {
		return nil, fmt.Errorf("%w: it carries no content of type %v", ErrFormat, contentType)
	}
	return sd, nil
}

func parse(ber []byte) (*SignedData, error) {
	signedData, der, err := open(ber)
	if err != nil {
		return nil, err
	}
	sd := &SignedData{Raw: der}
	if err := sd.parse(signedData); err != nil {
		return nil, err
	}
	return sd, nil
}

// open returns the fields of the SignedData in a ContentInfo (RFC 5652 clauses 3
// and 5.1), and the DER of the whole.
func open(ber []byte) (signedData cryptobyte.String, raw []byte, err error) {
	raw, rest, err := DER(ber)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrFormat, err)
	}
	if len(bytes.TrimRight(rest, "\x00")) > 0 {
		return nil, nil, fmt.Errorf("%w: bytes after the ContentInfo", ErrFormat)
	}
	der := cryptobyte.String(raw)
	var contentInfo, explicit cryptobyte.String
	var contentType asn1.ObjectIdentifier
	if !der.ReadASN1(&contentInfo, cbasn1.SEQUENCE) || !contentInfo.ReadASN1ObjectIdentifier(&contentType) ||
		!contentType.Equal(oidSignedData) ||
		!contentInfo.ReadASN1(&explicit, tagContext0) || !contentInfo.Empty() ||
		!explicit.ReadASN1(&signedData, cbasn1.SEQUENCE) || !explicit.Empty() {
		return nil, nil, fmt.Errorf("%w: no SignedData", ErrFormat)
	}
	return signedData, raw, nil
}

func (sd *SignedData) parse(signedData cryptobyte.String) error {
	if err := sd.parseContent(&signedData); err != nil {
		return err
	}
	var err error
	if sd.Certificates, err = parseCertificates(&signedData); err != nil {
		return err
	}
	var signers, signer cryptobyte.String
	if !signedData.SkipOptionalASN1(tagContext1) || !signedData.ReadASN1(&signers, cbasn1.SET) || !signedData.Empty() {
		return fmt.Errorf("%w: no signers", ErrFormat)
	}
	if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) || !signers.Empty() {
		return fmt.Errorf("%w: not exactly one signer", ErrFormat) // EN 319 142-1 6.3, RFC 3161 2.4.2
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
		return fmt.Errorf("%w: content of type %v", ErrFormat, sd.ContentType)
	}
	sd.Content = append([]byte{}, content...) // present, be it empty
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
	if sd.attributes, err = parseAttributes(attributes); err != nil {
		return err
	}
	if err := onceEach(sd.attributes); err != nil {
		return err
	}
	return sd.parseUnsigned(signer)
}

func (sd *SignedData) parseUnsigned(signer cryptobyte.String) (err error) {
	var attributes cryptobyte.String
	var present bool
	if !signer.ReadOptionalASN1(&attributes, &present, tagContext1) || !signer.Empty() {
		return fmt.Errorf("%w: unsigned attributes", ErrFormat)
	}
	sd.unsigned, err = parseAttributes(attributes)
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
	switch {
	case signatureOID.Equal(oidRSA):
		return ades.Algorithm{Hash: h, Scheme: ades.PKCS1v15}, nil
	case signatureOID.Equal(oidPSS):
		return parsePSS(h, signature)
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
