package cms

import (
	"bytes"
	"crypto"
	"crypto/subtle"
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

var (
	// ErrDigest: the content is not what was signed.
	ErrDigest = errors.New("cms: digest of the content differs from the signed one")
	// ErrNoCertificate: the signer's certificate is not among those carried.
	ErrNoCertificate = errors.New("cms: signer's certificate not found")
	// ErrBinding: the signed attributes do not name the signer's certificate, or
	// another one.
	ErrBinding = errors.New("cms: signing certificate not bound by the signature")
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
	return nil, ErrNoCertificate
}

// HasSigningTime says whether the signing time is a signed attribute (RFC 5652
// 11.3), which PAdES excludes.
func (sd *SignedData) HasSigningTime() bool { return sd.has(oidSigningTime) }

// NamesCertificate says whether the signed attributes name the signer's certificate.
func (sd *SignedData) NamesCertificate() bool {
	return sd.has(oidSigningCertificate) || sd.has(oidSigningCertificateV2)
}

func (sd *SignedData) has(oid asn1.ObjectIdentifier) bool {
	return slices.ContainsFunc(sd.attributes, func(a parsedAttribute) bool { return a.oid.Equal(oid) })
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
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	h := sd.algorithm.Hash.New()
	h.Write(sd.SignedAttributes)
	if err := sd.algorithm.Verify(cert.PublicKey, h.Sum(nil), sd.Value); err != nil {
		return err
	}
	return sd.checkProtection()
}

// single returns the only value of an attribute.
func (sd *SignedData) single(oid asn1.ObjectIdentifier) (cryptobyte.String, bool) {
	for _, a := range sd.attributes {
		if a.oid.Equal(oid) && len(a.values) == 1 {
			return a.values[0], true
		}
	}
	return nil, false
}

func (sd *SignedData) checkContentType() error {
	value, ok := sd.single(oidContentType)
	var oid asn1.ObjectIdentifier
	if !ok || !value.ReadASN1ObjectIdentifier(&oid) || !oid.Equal(oidData) {
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

// CheckBinding compares the signer's certificate with the first one of the
// signing-certificate attribute, in either version (EN 319 122-1 5.2.2);
// [ErrBinding] when it is another one or not named.
func (sd *SignedData) CheckBinding() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	v2, hasV2 := sd.single(oidSigningCertificateV2)
	v1, hasV1 := sd.single(oidSigningCertificate)
	value, h := v2, crypto.SHA256
	switch {
	case hasV1 == hasV2:
		return fmt.Errorf("%w: not exactly one signing-certificate attribute", ErrBinding)
	case hasV1:
		value, h = v1, crypto.SHA1
	}
	var attribute, certs, first, sum cryptobyte.String
	if !value.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1(&certs, cbasn1.SEQUENCE) ||
		!certs.ReadASN1(&first, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: malformed attribute", ErrBinding)
	}
	if hasV2 && first.PeekASN1Tag(cbasn1.SEQUENCE) {
		var identifier cryptobyte.String
		first.ReadASN1Element(&identifier, cbasn1.SEQUENCE)
		oid, err := identifierOID(identifier)
		if err != nil {
			return fmt.Errorf("%w: %w", ErrBinding, err)
		}
		if h, err = hashOf(oid); err != nil {
			return fmt.Errorf("%w: %w", ErrBinding, err)
		}
	}
	if !first.ReadASN1(&sum, cbasn1.OCTET_STRING) || !h.Available() {
		return fmt.Errorf("%w: malformed attribute", ErrBinding)
	}
	own := h.New()
	own.Write(cert.Raw)
	if subtle.ConstantTimeCompare(sum, own.Sum(nil)) != 1 {
		return fmt.Errorf("%w: it names another certificate", ErrBinding)
	}
	return checkIssuerSerial(first, cert)
}

// checkIssuerSerial compares the optional IssuerSerial of an ESSCertID.
func checkIssuerSerial(s cryptobyte.String, cert *x509.Certificate) error {
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
