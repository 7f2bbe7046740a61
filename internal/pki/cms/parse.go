package cms

import (
	"bytes"
	"cmp"
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
	// SignedAttributes is the SET OF that was signed, in DER, re-tagged as RFC 5652 5.4
	// has it; nil without signed attributes.
	SignedAttributes []byte

	issuer     []byte // DER Name, with serial
	serial     *big.Int
	keyID      []byte // instead of both, when not nil
	algorithm  ades.Algorithm
	attributes []parsedAttribute // signed
	unsigned   []parsedAttribute
	oneSigner  bool
	unread     [][]byte // certificates that Go cannot parse
	fault      error    // why it is not to be verified
}

// Parse reads the ContentInfo of a detached signature in BER or DER. Zero bytes
// may follow it, as they do in a PDF's /Contents; anything else may not.
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

// ParseEncapsulated reads a ContentInfo, as [Parse] does, that carries what it
// signs: content of the type given, such as the TSTInfo of a timestamp token.
func ParseEncapsulated(ber []byte, contentType asn1.ObjectIdentifier) (*SignedData, error) {
	sd, err := Read(ber)
	if err != nil {
		return nil, err
	}
	if !sd.ContentType.Equal(contentType) || sd.Content == nil {
		return nil, fmt.Errorf("%w: it carries no content of type %v", ErrFormat, contentType)
	}
	return sd, nil
}

// Read reads a ContentInfo, whatever it carries. Beside an error there may be a SignedData still: what is
// amiss with that one, such as a second signer or an algorithm that is not known here, keeps it from being
// verified, and not from saying what it was meant to be.
func Read(ber []byte) (*SignedData, error) {
	signedData, der, rest, err := open(ber)
	if err != nil {
		return nil, err
	}
	sd := &SignedData{Raw: der}
	sd.note(trailing(rest))
	if err := sd.parse(signedData); err != nil {
		return nil, err
	}
	return sd, sd.fault
}

// note keeps what is amiss; the first that is found stays.
func (sd *SignedData) note(fault error) { sd.fault = cmp.Or(sd.fault, fault) }

func (sd *SignedData) isDetached() bool { return sd.ContentType.Equal(oidData) && sd.Content == nil }

// CheckDetached makes sure that a signature in a PDF carries nothing of what it is over (EN 319 142-1 6.3 (b)).
func (sd *SignedData) CheckDetached() error {
	if sd.isDetached() {
		return nil
	}
	return fmt.Errorf("%w: it carries content of type %v", ErrFormat, sd.ContentType)
}

// open returns the fields of the SignedData in a ContentInfo (RFC 5652 clauses 3
// and 5.1), the DER of the whole, and what follows it.
func open(ber []byte) (signedData cryptobyte.String, raw, rest []byte, err error) {
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
		return nil, nil, nil, fmt.Errorf("%w: no SignedData", ErrFormat)
	}
	return signedData, raw, rest, nil
}

// trailing is what is amiss with bytes after a ContentInfo, unless they are the zeros that fill /Contents.
func trailing(rest []byte) error {
	if len(bytes.TrimRight(rest, "\x00")) > 0 {
		return fmt.Errorf("%w: bytes after the ContentInfo", ErrFormat)
	}
	return nil
}

func (sd *SignedData) parse(signedData cryptobyte.String) error {
	if err := sd.parseContent(&signedData); err != nil {
		return err
	}
	var err error
	if sd.Certificates, sd.unread, err = parseCertificates(&signedData); err != nil {
		return err
	}
	var signers, signer cryptobyte.String
	if !signedData.SkipOptionalASN1(tagContext1) || !signedData.ReadASN1(&signers, cbasn1.SET) || !signedData.Empty() {
		return fmt.Errorf("%w: no signers", ErrFormat)
	}
	oneSigner := fmt.Errorf("%w: not exactly one signer", ErrFormat) // EN 319 142-1 6.3, RFC 3161 2.4.2
	if !signers.ReadASN1(&signer, cbasn1.SEQUENCE) {
		return oneSigner
	}
	if sd.oneSigner = signers.Empty(); !sd.oneSigner {
		sd.note(oneSigner)
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
	var signed bool
	if !signer.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!signer.ReadOptionalASN1(&attributes, &signed, tagContext0) ||
		!signer.ReadASN1Element(&signature, cbasn1.SEQUENCE) ||
		!signer.ReadASN1((*cryptobyte.String)(&sd.Value), cbasn1.OCTET_STRING) {
		return fmt.Errorf("%w: signer without value", ErrFormat)
	}
	if err := sd.parseSigned(attributes, signed); err != nil {
		return err
	}
	var unknown error
	sd.algorithm, unknown = parseAlgorithm(digest, signature)
	if signed && errors.Is(unknown, ErrNoDigest) {
		unknown = fmt.Errorf("%w: %w", ErrDigest, unknown) // no digest matches the one in the attributes
	}
	sd.note(unknown)
	return sd.parseUnsigned(signer)
}

func (sd *SignedData) parseSigned(attributes cryptobyte.String, present bool) (err error) {
	if !present {
		if sd.Content == nil || !sd.ContentType.Equal(oidData) { // RFC 5652 5.3, and for what is detached EN 319 122-1
			sd.note(fmt.Errorf("%w: signer without signed attributes", ErrFormat))
		}
		return nil
	}
	if sd.attributes, err = parseAttributes(attributes); err != nil {
		return err
	}
	sd.SignedAttributes, err = inOrder(attributes)
	sd.note(onceEach(sd.attributes))
	return err
}

// inOrder is the SET OF that is signed: in the order of DER, wherever the attributes stand (RFC 5652 5.4).
func inOrder(attributes cryptobyte.String) ([]byte, error) {
	var all [][]byte
	for !attributes.Empty() {
		var one cryptobyte.String
		if !attributes.ReadASN1Element(&one, cbasn1.SEQUENCE) {
			return nil, fmt.Errorf("%w: attributes", ErrFormat)
		}
		all = append(all, one)
	}
	return appendTLV(nil, []byte{byte(cbasn1.SET)}, setOf(all)), nil
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
				return ades.Algorithm{}, fmt.Errorf("%w: %w: digest %v with signature algorithm %v", ErrFormat, ades.ErrValue, h, signatureOID)
			}
			return s.algorithm, nil
		}
	}
	return ades.Algorithm{}, fmt.Errorf("cms: %w: signature algorithm %v", ades.ErrAlgorithm, signatureOID)
}

// hashOf knows hashes by their identifiers.
func hashOf(oid asn1.ObjectIdentifier) (crypto.Hash, error) {
	for _, d := range digestOIDs {
		if d.oid.Equal(oid) && d.hash.Available() {
			return d.hash, nil
		}
	}
	for _, s := range signatureOIDs {
		if s.oid.Equal(oid) {
			return 0, fmt.Errorf("%w: %v is one of signatures", ErrNoDigest, oid)
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

// maxCertificates bounds the certificates of a SignedData.
const maxCertificates = 1000

// Certificates returns those of a SignedData without signers, the "certs-only"
// message (RFC 8551 3.8) in which authorities publish theirs as .p7b or .p7c files.
// What is there in signers or content does not matter. Certificates that Go cannot
// parse are left out.
func Certificates(ber []byte) ([]*x509.Certificate, error) {
	signedData, _, rest, err := open(ber)
	if err := cmp.Or(err, trailing(rest)); err != nil {
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

// parseCertificates reads a CertificateSet (RFC 5652 10.2.3), where there is one. What Go cannot parse is
// unread.
func parseCertificates(signedData *cryptobyte.String) (all []*x509.Certificate, unread [][]byte, _ error) {
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
			unread = append(unread, raw)
		}
	}
	return all, unread, nil
}
