package cms

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	// ErrDigest: the content is not what was signed.
	ErrDigest = errors.New("cms: digest of the content differs from the signed one")
	// ErrNoDigest: what is named as the digest algorithm is none. It is [ErrDigest] too where the signed attributes
	// have a digest, which nothing matches; without them nothing can be said of the content.
	ErrNoDigest = errors.New("cms: no digest algorithm")
	// ErrNoCertificate: the signer's certificate is not among those carried.
	ErrNoCertificate = errors.New("cms: signer's certificate not found")
	// ErrBinding: the signed attributes do not name the signer's certificate, or
	// another one.
	ErrBinding = errors.New("cms: signing certificate not bound by the signature")
	// ErrAnother is ErrBinding where the signed attributes name another certificate.
	ErrAnother = errors.New("it names another certificate")
)

// Algorithm is what the signature was made with.
func (sd *SignedData) Algorithm() ades.Algorithm { return sd.algorithm }

// Signer returns the signer's certificate, found by issuer and serial number or by
// its subject key identifier (RFC 5652 5.3).
func (sd *SignedData) Signer() (*x509.Certificate, error) {
	for _, c := range sd.Certificates {
		if sd.keyID != nil && bytes.Equal(c.SubjectKeyId, sd.keyID) ||
			sd.keyID == nil && bytes.Equal(c.RawIssuer, sd.issuer) && c.SerialNumber.Cmp(sd.serial) == 0 {
			return c, nil
		}
	}
	if sd.isUnread() {
		return nil, fmt.Errorf("%w among those that can be read", ErrNoCertificate)
	}
	return nil, ErrNoCertificate
}

// HasSigningTime says whether the signing time is a signed attribute (RFC 5652
// 11.3), which PAdES excludes.
func (sd *SignedData) HasSigningTime() bool { return sd.has(oidSigningTime) }

// NamesCertificate says whether the signed attributes name the signer's certificate.
func (sd *SignedData) NamesCertificate() bool {
	return sd.has(oidSigningCertificate) || sd.has(oidSigningCertificateV2)
}

// VerifyCarried is [SignedData.Verify] for a signature that carries the digest of what it is over, as
// adbe.pkcs7.sha1 of PDF does (ISO 32000-1 12.8.3.3.1): by SHA-1, and signed as it is where there are no signed
// attributes (RFC 5652 5.4).
func (sd *SignedData) VerifyCarried(digest []byte) error {
	if subtle.ConstantTimeCompare(sd.Content, digest) != 1 {
		return ErrDigest
	}
	if sd.SignedAttributes != nil {
		return sd.VerifyContent()
	}
	return sd.verifyValue(sd.Content)
}

// verifyValue checks the value over what was signed, by the signer's certificate.
func (sd *SignedData) verifyValue(signed []byte) error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	key, err := ades.PublicKey(cert)
	if err != nil {
		return err
	}
	return sd.algorithm.Verify(key, sd.algorithm.Digest(signed).Sum, sd.Value)
}

// Verify checks the signature over a content with the digest given (by the
// signature's hash): the form of the attributes ([ErrFormat]), the digest
// ([ErrDigest]), the signer's certificate ([ErrNoCertificate]) and the value
// ([ades.ErrValue]). [SignedData.CheckBinding] is left to formats that ask for it.
func (sd *SignedData) Verify(digest []byte) error {
	if err := sd.checkContentType(); err != nil {
		return err
	}
	if err := sd.checkDigest(digest); err != nil {
		return err
	}
	if err := sd.verifyValue(sd.SignedAttributes); err != nil {
		return err
	}
	return sd.checkProtection()
}

// VerifyContent is [SignedData.Verify] for the content carried.
func (sd *SignedData) VerifyContent() error {
	h := sd.algorithm.Hash.New()
	h.Write(sd.Content)
	return sd.Verify(h.Sum(nil))
}

// checkContentType compares the signed type with that of the content (RFC 5652 11.1).
func (sd *SignedData) checkContentType() error {
	value, ok := sd.single(oidContentType)
	var oid asn1.ObjectIdentifier
	if !ok || !value.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(sd.ContentType) {
		return fmt.Errorf("%w: content-type attribute", ErrFormat)
	}
	return nil
}

func (sd *SignedData) checkDigest(digest []byte) error {
	value, ok := sd.single(oidMessageDigest)
	var signed cryptobyte.String
	if !ok || !value.ReadASN1(&signed, cbasn1.OCTET_STRING) {
		return fmt.Errorf("%w: message-digest attribute", ErrFormat)
	}
	if subtle.ConstantTimeCompare(signed, digest) != 1 {
		return ErrDigest
	}
	return nil
}

// checkProtection compares the algorithms signed with those used (RFC 6211),
// where the attribute is present.
func (sd *SignedData) checkProtection() error {
	value, ok := sd.single(oidAlgorithmProtection)
	if !ok {
		return nil
	}
	var sequence, digest, signature cryptobyte.String
	if !value.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!sequence.ReadASN1(&signature, tagContext1) {
		return fmt.Errorf("%w: algorithm protection", ErrFormat)
	}
	signature = appendTLV(nil, []byte{byte(cbasn1.SEQUENCE)}, signature)
	if a, err := parseAlgorithm(digest, signature); err != nil || a != sd.algorithm {
		return fmt.Errorf("%w: algorithms differ from the signed ones", ErrFormat)
	}
	return nil
}

// MarshalHash returns the AlgorithmIdentifier of a hash in DER, without parameters
// (RFC 5754 section 2); [ades.ErrAlgorithm] for one that is not known here.
func MarshalHash(h crypto.Hash) ([]byte, error) {
	for _, d := range digestOIDs {
		if d.hash == h {
			return algorithmIdentifier(d.oid, false)
		}
	}
	return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, h)
}

// ParseHash reads the AlgorithmIdentifier of a hash, whatever its parameters;
// [ades.ErrAlgorithm] for one that is not known here, [ErrFormat] when it is none.
func ParseHash(identifier []byte) (crypto.Hash, error) {
	oid, err := identifierOID(identifier)
	if err != nil {
		return 0, err
	}
	return hashOf(oid)
}

var oidPSS = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 10}

// pssAlgorithm returns the AlgorithmIdentifier of RSASSA-PSS with the parameters that
// CMS requires (RFC 4056 2.2).
func pssAlgorithm(a ades.Algorithm) ([]byte, error) {
	if !a.Hash.Available() {
		return nil, fmt.Errorf("cms: %w: hash %v", ades.ErrAlgorithm, a.Hash)
	}
	salt := a.Salt
	if salt == 0 {
		salt = a.Hash.Size()
	}
	return der.PSS{Hash: a.Hash, Mask: a.Hash, Salt: salt}.Marshal()
}

// parsePSS reads the AlgorithmIdentifier of RSASSA-PSS beside a digest algorithm. A
// hash of its own for the mask is allowed there, but is not known to crypto/rsa.
func parsePSS(digest crypto.Hash, identifier []byte) (ades.Algorithm, error) {
	p, err := der.ParsePSS(identifier)
	switch {
	case errors.Is(err, der.ErrFormat):
		return ades.Algorithm{}, fmt.Errorf("%w: %w", ErrFormat, err)
	case err != nil:
		return ades.Algorithm{}, fmt.Errorf("cms: %w", err)
	case p.Hash != digest:
		return ades.Algorithm{}, fmt.Errorf("%w: digest %v with RSASSA-PSS over %v", ErrFormat, digest, p.Hash)
	case p.Mask != p.Hash || p.Salt < 1:
		return ades.Algorithm{}, fmt.Errorf("cms: %w: RSASSA-PSS with %v, mask by %v and a salt of %d bytes", ades.ErrAlgorithm, p.Hash, p.Mask, p.Salt)
	}
	a := ades.Algorithm{Hash: p.Hash, Scheme: ades.PSS}
	if p.Salt != p.Hash.Size() {
		a.Salt = p.Salt
	}
	return a, nil
}
