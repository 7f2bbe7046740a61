package cms

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// Verify verifies the signature over content with the given digest, which the caller computes by
// the hash of [SignedData.Algorithm]. The errors are [ErrFormat] for missing or malformed
// attributes and for algorithms that differ from the protected ones, [ErrDigest],
// [ErrNoCertificate], and [ades.ErrValue] for the signature value. The caller calls
// [SignedData.CheckBinding] if its signature format requires the signing-certificate attribute.
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

// VerifyContent is [SignedData.Verify] for the encapsulated content. If [Read] returned an error
// with the SignedData, it returns that error: without an algorithm, there is no digest.
func (sd *SignedData) VerifyContent() error {
	if sd.fault != nil {
		return sd.fault
	}
	h := sd.algorithm.Hash.New()
	h.Write(sd.Content)
	return sd.Verify(h.Sum(nil))
}

// VerifyDigestContent verifies a signature whose encapsulated content is the SHA-1 digest of the signed
// bytes, as adbe.pkcs7.sha1 of PDF requires (ISO 32000-1 12.8.3.3.1). It compares that digest with
// the given one ([ErrDigest]). Without signed attributes, the signature value is over the content
// itself (RFC 5652 5.4).
func (sd *SignedData) VerifyDigestContent(digest []byte) error {
	if subtle.ConstantTimeCompare(sd.Content, digest) != 1 {
		return ErrDigest
	}
	if sd.SignedAttributes != nil {
		return sd.VerifyContent()
	}
	return sd.verifyValue(sd.Content)
}

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

// checkContentType compares the content-type attribute with the type of the content (RFC 5652
// 11.1).
func (sd *SignedData) checkContentType() error {
	value, ok := sd.singleValue(oidContentType)
	var oid asn1.ObjectIdentifier
	if !ok || !value.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(sd.ContentType) {
		return fmt.Errorf("%w: the content-type attribute is missing or differs from the type of the content", ErrFormat)
	}
	return nil
}

func (sd *SignedData) checkDigest(digest []byte) error {
	value, ok := sd.singleValue(oidMessageDigest)
	var signed cryptobyte.String
	if !ok || !value.ReadASN1(&signed, cbasn1.OCTET_STRING) {
		return fmt.Errorf("%w: the message-digest attribute is missing or not one OCTET STRING", ErrFormat)
	}
	if subtle.ConstantTimeCompare(signed, digest) != 1 {
		return ErrDigest
	}
	return nil
}

// checkProtection compares the algorithms of the RFC 6211 attribute, if present, with those of the
// SignerInfo.
func (sd *SignedData) checkProtection() error {
	value, ok := sd.singleValue(oidAlgorithmProtection)
	if !ok {
		return nil
	}
	var sequence, digest, signature cryptobyte.String
	if !value.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!sequence.ReadASN1(&signature, tagContext1) {
		return fmt.Errorf("%w: the CMSAlgorithmProtection attribute is malformed", ErrFormat)
	}
	signature = appendTLV(nil, []byte{byte(cbasn1.SEQUENCE)}, signature)
	if a, err := parseAlgorithm(digest, signature); err != nil || a != sd.algorithm {
		return fmt.Errorf("%w: the algorithms of the SignerInfo differ from its CMSAlgorithmProtection attribute", ErrFormat)
	}
	return nil
}

// Signer returns the signer's certificate from Certificates, found by issuer and serial number or
// by its subject key identifier (RFC 5652 5.3). The error is [ErrNoCertificate].
func (sd *SignedData) Signer() (*x509.Certificate, error) {
	for _, c := range sd.Certificates {
		if sd.keyID != nil && bytes.Equal(c.SubjectKeyId, sd.keyID) ||
			sd.keyID == nil && bytes.Equal(c.RawIssuer, sd.issuer) && c.SerialNumber.Cmp(sd.serial) == 0 {
			return c, nil
		}
	}
	if sd.isSignerUnparsed() {
		return nil, fmt.Errorf("%w: the certificate with the signer's issuer and serial number cannot be parsed", ErrNoCertificate)
	}
	return nil, ErrNoCertificate
}

// HasSignerCertificate reports whether the SignedData contains the signer's certificate, even one that Go
// cannot parse. If the signature has a signing-certificate attribute, such an unparsed certificate
// must match it.
func (sd *SignedData) HasSignerCertificate() bool {
	_, err := sd.Signer()
	return err == nil || sd.keyID == nil && slices.ContainsFunc(sd.unparsed, func(c []byte) bool {
		return sd.matchesSignerIdentifier(c) && (!sd.HasSigningCertificateAttribute() || sd.checkCertIDs(c) == nil)
	})
}

func (sd *SignedData) isSignerUnparsed() bool {
	return sd.keyID == nil && slices.ContainsFunc(sd.unparsed, sd.matchesSignerIdentifier)
}

// matchesSignerIdentifier compares the issuer and serial number of an encoded certificate (RFC 5280
// 4.1) with the signer identifier.
func (sd *SignedData) matchesSignerIdentifier(certificate []byte) bool {
	der := cryptobyte.String(certificate)
	var whole, signed, algorithm, issuer cryptobyte.String
	serial := new(big.Int)
	return der.ReadASN1(&whole, cbasn1.SEQUENCE) && whole.ReadASN1(&signed, cbasn1.SEQUENCE) &&
		signed.SkipOptionalASN1(tagContext0) && signed.ReadASN1Integer(serial) &&
		signed.ReadASN1(&algorithm, cbasn1.SEQUENCE) && signed.ReadASN1Element(&issuer, cbasn1.SEQUENCE) &&
		serial.Cmp(sd.serial) == 0 && bytes.Equal(issuer, sd.issuer)
}

// HasSigningCertificateAttribute reports whether the signed attributes include a signing-certificate attribute of
// either version.
func (sd *SignedData) HasSigningCertificateAttribute() bool {
	return sd.hasAttribute(oidSigningCertificate) || sd.hasAttribute(oidSigningCertificateV2)
}

// CheckBinding compares the signer's certificate with the first certificate of the
// signing-certificate attribute. EN 319 122-1 5.2.2 requires exactly one version of the attribute.
// The error is [ErrBinding] if the attribute is absent, doubled or malformed or identifies another
// certificate, and [ErrNoCertificate].
func (sd *SignedData) CheckBinding() error {
	if sd.hasAttribute(oidSigningCertificate) == sd.hasAttribute(oidSigningCertificateV2) {
		return fmt.Errorf("%w: there has to be one signing-certificate attribute, of version 1 or 2", ErrBinding)
	}
	return sd.CheckCertificateAttributes()
}

// CheckCertificateAttributes compares the signer's certificate with the first certificate of each
// signing-certificate attribute. A timestamp token may have both versions, for clients that know
// only the older one (RFC 5816 2.2.1). The error is [ErrBinding] if there is no such attribute or
// one identifies another certificate, and [ErrNoCertificate].
func (sd *SignedData) CheckCertificateAttributes() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	if !sd.HasSigningCertificateAttribute() {
		return fmt.Errorf("%w: no signing-certificate attribute", ErrBinding)
	}
	return sd.checkCertIDs(cert.Raw)
}

// checkCertIDs compares a certificate with the signing-certificate attributes that are present.
func (sd *SignedData) checkCertIDs(certificate []byte) error {
	if sd.hasAttribute(oidSigningCertificate) {
		if err := sd.checkCertID(certificate, oidSigningCertificate, crypto.SHA1); err != nil {
			return err
		}
	}
	if sd.hasAttribute(oidSigningCertificateV2) {
		return sd.checkCertID(certificate, oidSigningCertificateV2, crypto.SHA256)
	}
	return nil
}

// checkCertID compares a certificate with the hash in the first ESSCertID of an attribute. h is the
// default hash: the only one in version 1 (RFC 2634 5.4), and the one of an ESSCertIDv2 without
// hash algorithm in version 2 (RFC 5035 section 4). The hash alone identifies the certificate;
// [SignedData.CheckIssuerSerial] compares the IssuerSerial.
func (sd *SignedData) checkCertID(certificate []byte, oid asn1.ObjectIdentifier, h crypto.Hash) error {
	h, sum, _, err := sd.firstCertID(oid, h)
	if err != nil {
		return err
	}
	own := h.New()
	own.Write(certificate)
	if subtle.ConstantTimeCompare(sum, own.Sum(nil)) != 1 {
		return fmt.Errorf("%w: %w", ErrBinding, ErrOtherCertificate)
	}
	return nil
}

// firstCertID reads the first ESSCertID of an attribute. It returns the hash algorithm, the
// certificate's hash, and the rest: the optional IssuerSerial.
func (sd *SignedData) firstCertID(oid asn1.ObjectIdentifier, byDefault crypto.Hash) (h crypto.Hash, sum, rest cryptobyte.String, err error) {
	malformed := fmt.Errorf("%w: the signing-certificate attribute is malformed", ErrBinding)
	value, ok := sd.singleValue(oid)
	var attribute, certs, first cryptobyte.String
	if !ok || !value.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1(&certs, cbasn1.SEQUENCE) ||
		!certs.ReadASN1(&first, cbasn1.SEQUENCE) {
		return 0, nil, nil, malformed
	}
	h = byDefault
	if oid.Equal(oidSigningCertificateV2) && first.PeekASN1Tag(cbasn1.SEQUENCE) {
		var identifier cryptobyte.String
		first.ReadASN1Element(&identifier, cbasn1.SEQUENCE)
		if h, err = ParseHash(identifier); err != nil {
			return 0, nil, nil, fmt.Errorf("%w: %w", ErrBinding, err)
		}
	}
	if !first.ReadASN1(&sum, cbasn1.OCTET_STRING) || !h.Available() {
		return 0, nil, nil, malformed
	}
	return h, sum, first, nil
}

// CheckIssuerSerial compares the signer's certificate with the IssuerSerial of the first ESSCertID,
// if present (RFC 5035 section 5). The error is [ErrBinding] if the issuer or the serial number
// differs. The certificate hash already binds the certificate, so EN 319 102-1 leaves the
// consequence to the validation policy.
func (sd *SignedData) CheckIssuerSerial() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	for _, oid := range []asn1.ObjectIdentifier{oidSigningCertificate, oidSigningCertificateV2} {
		if !sd.hasAttribute(oid) {
			continue
		}
		_, _, rest, err := sd.firstCertID(oid, crypto.SHA256)
		if err != nil {
			return err
		}
		if err := compareIssuerSerial(rest, cert); err != nil {
			return err
		}
	}
	return nil
}

func compareIssuerSerial(s cryptobyte.String, cert *x509.Certificate) error {
	if s.Empty() {
		return nil
	}
	var sequence, names, name cryptobyte.String
	serial := new(big.Int)
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1(&names, cbasn1.SEQUENCE) ||
		!names.ReadASN1(&name, tagContext4) || !sequence.ReadASN1Integer(serial) {
		return fmt.Errorf("%w: malformed issuer and serial number", ErrBinding)
	}
	if !bytes.Equal(name, cert.RawIssuer) || serial.Cmp(cert.SerialNumber) != 0 {
		return fmt.Errorf("%w: it names another issuer or serial number", ErrBinding)
	}
	return nil
}
