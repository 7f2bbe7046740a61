package cms

import (
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"fmt"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

// CheckBinding compares the signer's certificate with the first one of the
// signing-certificate attribute, in either version, of which a signature has
// exactly one (EN 319 122-1 5.2.2); [ErrBinding] when it is another certificate or
// not named.
func (sd *SignedData) CheckBinding() error {
	if sd.has(oidSigningCertificate) == sd.has(oidSigningCertificateV2) {
		return fmt.Errorf("%w: not exactly one signing-certificate attribute", ErrBinding)
	}
	return sd.CheckNamed()
}

// CheckNamed compares the signer's certificate with the first one of each
// signing-certificate attribute. A timestamp token may have both versions, for
// clients that know the older alone (RFC 5816 2.2.1); [ErrBinding] when it has none
// or one names another certificate.
func (sd *SignedData) CheckNamed() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	if !sd.NamesCertificate() {
		return fmt.Errorf("%w: no signing-certificate attribute", ErrBinding)
	}
	if sd.has(oidSigningCertificate) {
		if err := sd.checkNamed(cert, oidSigningCertificate, crypto.SHA1); err != nil {
			return err
		}
	}
	if sd.has(oidSigningCertificateV2) {
		return sd.checkNamed(cert, oidSigningCertificateV2, crypto.SHA256)
	}
	return nil
}

// checkNamed compares the certificate with the first ESSCertID of an attribute. h
// is the hash where the ESSCertID names none: always in version 1 (RFC 2634 5.4),
// by default in version 2 (RFC 5035 section 4). The IssuerSerial that may follow says nothing that the hash does
// not, and is not compared: EU DSS warns of one that is wrong, and XAdES has the same rule.
func (sd *SignedData) checkNamed(cert *x509.Certificate, oid asn1.ObjectIdentifier, h crypto.Hash) error {
	value, ok := sd.single(oid)
	var attribute, certs, first, sum cryptobyte.String
	if !ok || !value.ReadASN1(&attribute, cbasn1.SEQUENCE) || !attribute.ReadASN1(&certs, cbasn1.SEQUENCE) ||
		!certs.ReadASN1(&first, cbasn1.SEQUENCE) {
		return fmt.Errorf("%w: malformed attribute", ErrBinding)
	}
	if oid.Equal(oidSigningCertificateV2) && first.PeekASN1Tag(cbasn1.SEQUENCE) {
		var identifier cryptobyte.String
		var err error
		first.ReadASN1Element(&identifier, cbasn1.SEQUENCE)
		if h, err = ParseHash(identifier); err != nil {
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
	return nil
}
