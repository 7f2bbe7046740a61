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
// the hash of [SignedData.Algorithm]. The errors, in the order of the checks, are [ErrFormat] for
// missing or malformed attributes, [ErrDigest], the error that [Read] returned with the SignedData,
// [ErrNoCertificate], [ades.ErrAlgorithm] for the signer's key, [ades.ErrValue] for the signature
// value, and [ErrFormat] for algorithms that differ from the protected ones. The caller calls
// [SignedData.CheckSingleBinding] if its signature format requires the signing-certificate attribute.
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

// VerifyContent is [SignedData.Verify] for the encapsulated content.
func (sd *SignedData) VerifyContent() error {
	if sd.fault != nil { // the algorithm may be missing
		return sd.fault
	}
	h := sd.algorithm.Hash.New()
	h.Write(sd.Content)
	return sd.Verify(h.Sum(nil))
}

// VerifyDigestContent verifies a signature whose encapsulated content is the SHA-1 digest of the signed
// bytes, as adbe.pkcs7.sha1 of PDF requires (ISO 32000-1 12.8.3.3.1). digest is their SHA-1 digest.
// Without signed attributes, the signature value is over the content itself (RFC 5652 5.4). Errors
// are those of [SignedData.Verify].
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
	if sd.fault != nil {
		return sd.fault
	}
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
	if !sd.hasAttribute(oidAlgorithmProtection) {
		return nil
	}
	value, ok := sd.singleValue(oidAlgorithmProtection)
	var sequence, digest, signature cryptobyte.String
	if !ok || !value.ReadASN1(&sequence, cbasn1.SEQUENCE) || !sequence.ReadASN1Element(&digest, cbasn1.SEQUENCE) ||
		!sequence.ReadASN1(&signature, tagContext1) {
		return fmt.Errorf("%w: the CMSAlgorithmProtection attribute is malformed", ErrFormat)
	}
	signature = appendTLV(nil, []byte{byte(cbasn1.SEQUENCE)}, signature) // the tag was [1] IMPLICIT
	if a, err := parseAlgorithm(digest, signature); err != nil || a != sd.algorithm {
		return fmt.Errorf("%w: the algorithms of the SignerInfo differ from its CMSAlgorithmProtection attribute", ErrFormat)
	}
	return nil
}

// Signer returns the signer's certificate from Certificates, found by issuer and serial number or
// by its subject key identifier (RFC 5652 5.3). The error is [ErrNoCertificate].
func (sd *SignedData) Signer() (*x509.Certificate, error) {
	if i := slices.IndexFunc(sd.Certificates, sd.identifies); i >= 0 {
		return sd.Certificates[i], nil
	}
	if slices.ContainsFunc(sd.unparsed, sd.identifiesUnparsed) {
		return nil, fmt.Errorf("%w: the certificate with the signer's issuer and serial number cannot be parsed", ErrNoCertificate)
	}
	return nil, ErrNoCertificate
}

// HasSignerCertificate reports whether the SignedData contains the signer's certificate, even one
// that Go cannot parse. An unparsed certificate counts only if it matches the signing-certificate
// attributes that are present.
func (sd *SignedData) HasSignerCertificate() bool {
	return slices.ContainsFunc(sd.Certificates, sd.identifies) || slices.ContainsFunc(sd.unparsed, func(c []byte) bool {
		return sd.identifiesUnparsed(c) && sd.compareCertIDs(c) == nil
	})
}

// identifies reports whether the signer identifier is that of a certificate.
func (sd *SignedData) identifies(c *x509.Certificate) bool {
	if sd.keyID != nil {
		return bytes.Equal(c.SubjectKeyId, sd.keyID)
	}
	return bytes.Equal(c.RawIssuer, sd.issuer) && c.SerialNumber.Cmp(sd.serial) == 0
}

// identifiesUnparsed is identifies for an encoded certificate (RFC 5280 4.1). It does not read the
// subject key identifier.
func (sd *SignedData) identifiesUnparsed(certificate []byte) bool {
	der := cryptobyte.String(certificate)
	var whole, signed, algorithm, issuer cryptobyte.String
	serial := new(big.Int)
	return sd.keyID == nil && der.ReadASN1(&whole, cbasn1.SEQUENCE) && whole.ReadASN1(&signed, cbasn1.SEQUENCE) &&
		signed.SkipOptionalASN1(tagContext0) && signed.ReadASN1Integer(serial) &&
		signed.ReadASN1(&algorithm, cbasn1.SEQUENCE) && signed.ReadASN1Element(&issuer, cbasn1.SEQUENCE) &&
		serial.Cmp(sd.serial) == 0 && bytes.Equal(issuer, sd.issuer)
}

var signingCertificateOIDs = []asn1.ObjectIdentifier{oidSigningCertificate, oidSigningCertificateV2}

// HasSigningCertificateAttribute reports whether the signed attributes include a signing-certificate
// attribute of either version.
func (sd *SignedData) HasSigningCertificateAttribute() bool {
	return slices.ContainsFunc(signingCertificateOIDs, sd.hasAttribute)
}

// hasSingleBinding reports whether the signed attributes include exactly one version of the
// signing-certificate attribute, as signatures require (EN 319 122-1 5.2.2).
func (sd *SignedData) hasSingleBinding() bool {
	return sd.hasAttribute(oidSigningCertificate) != sd.hasAttribute(oidSigningCertificateV2)
}

// CheckSingleBinding is [SignedData.CheckBindings] for signatures. The error is [ErrBinding] also if
// both versions of the signing-certificate attribute are present (EN 319 122-1 5.2.2).
func (sd *SignedData) CheckSingleBinding() error {
	if !sd.hasSingleBinding() {
		return fmt.Errorf("%w: there has to be one signing-certificate attribute, of version 1 or 2", ErrBinding)
	}
	return sd.CheckBindings()
}

// CheckBindings compares the signer's certificate with the first certificate of each
// signing-certificate attribute. Timestamp tokens may have both versions, for clients that know only
// the older one (RFC 5816 2.2.1). The error is [ErrBinding] if the attribute is absent, doubled or
// malformed, [ErrBinding] with [ErrOtherCertificate] if it identifies another certificate, and
// [ErrNoCertificate].
func (sd *SignedData) CheckBindings() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	if !sd.HasSigningCertificateAttribute() {
		return fmt.Errorf("%w: no signing-certificate attribute", ErrBinding)
	}
	return sd.compareCertIDs(cert.Raw)
}

// compareCertIDs compares a certificate with the hash in the first ESSCertID of each
// signing-certificate attribute that is present. The hash alone identifies the certificate;
// [SignedData.CheckIssuerSerial] compares the IssuerSerial.
func (sd *SignedData) compareCertIDs(certificate []byte) error {
	for _, oid := range signingCertificateOIDs {
		if !sd.hasAttribute(oid) {
			continue
		}
		h, sum, _, err := sd.firstCertID(oid)
		if err != nil {
			return err
		}
		own := h.New()
		own.Write(certificate)
		if subtle.ConstantTimeCompare(sum, own.Sum(nil)) != 1 {
			return fmt.Errorf("%w: %w", ErrBinding, ErrOtherCertificate)
		}
	}
	return nil
}

// firstCertID reads the first ESSCertID of an attribute. It returns the hash algorithm, the
// certificate's hash, and the rest: the optional IssuerSerial. The hash algorithm of version 1 is
// SHA-1 (RFC 2634 5.4), the default of version 2 is SHA-256 (RFC 5035 section 4).
func (sd *SignedData) firstCertID(oid asn1.ObjectIdentifier) (h crypto.Hash, sum, rest cryptobyte.String, err error) {
	malformed := fmt.Errorf("%w: the signing-certificate attribute is malformed", ErrBinding)
	value, ok := sd.singleValue(oid)
	var attribute, certs, first cryptobyte.String
	if !ok || !value.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1(&certs, cbasn1.SEQUENCE) ||
		!certs.ReadASN1(&first, cbasn1.SEQUENCE) {
		return 0, nil, nil, malformed
	}
	h = crypto.SHA1
	if oid.Equal(oidSigningCertificateV2) {
		h = crypto.SHA256
		var identifier cryptobyte.String
		if first.PeekASN1Tag(cbasn1.SEQUENCE) && first.ReadASN1Element(&identifier, cbasn1.SEQUENCE) {
			if h, err = ParseHash(identifier); err != nil {
				return 0, nil, nil, fmt.Errorf("%w: %w", ErrBinding, err)
			}
		}
	}
	if !first.ReadASN1(&sum, cbasn1.OCTET_STRING) || !h.Available() {
		return 0, nil, nil, malformed
	}
	return h, sum, first, nil
}

// CheckIssuerSerial compares the signer's certificate with the IssuerSerial of the first ESSCertID,
// if present (RFC 5035 section 5). The error is [ErrBinding] if the issuer or the serial number
// differs, and [ErrNoCertificate]. The certificate hash already binds the certificate, so EN 319
// 102-1 leaves the consequence to the validation policy.
func (sd *SignedData) CheckIssuerSerial() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	for _, oid := range signingCertificateOIDs {
		if !sd.hasAttribute(oid) {
			continue
		}
		_, _, rest, err := sd.firstCertID(oid)
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
		return fmt.Errorf("%w: the IssuerSerial names another issuer or serial number", ErrBinding)
	}
	return nil
}
