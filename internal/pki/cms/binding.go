package cms

import (
	"bytes"
	"crypto"
	"crypto/subtle"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"math/big"

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
	return sd.checkNames(cert.Raw)
}

// checkNames compares a certificate with those attributes that there are.
func (sd *SignedData) checkNames(certificate []byte) error {
	if sd.has(oidSigningCertificate) {
		if err := sd.checkNamed(certificate, oidSigningCertificate, crypto.SHA1); err != nil {
			return err
		}
	}
	if sd.has(oidSigningCertificateV2) {
		return sd.checkNamed(certificate, oidSigningCertificateV2, crypto.SHA256)
	}
	return nil
}

var errAnother = fmt.Errorf("%w: %w", ErrBinding, ErrAnother)

// checkNamed compares the certificate with the first ESSCertID of an attribute. h
// is the hash where the ESSCertID names none: always in version 1 (RFC 2634 5.4),
// by default in version 2 (RFC 5035 section 4). The IssuerSerial that may follow says nothing that the hash does
// not: see [SignedData.CheckIssuerSerial].
func (sd *SignedData) checkNamed(certificate []byte, oid asn1.ObjectIdentifier, h crypto.Hash) error {
	h, sum, _, err := sd.named(oid, h)
	if err != nil {
		return err
	}
	own := h.New()
	own.Write(certificate)
	if subtle.ConstantTimeCompare(sum, own.Sum(nil)) != 1 {
		return errAnother
	}
	return nil
}

// named reads the first ESSCertID of an attribute: a hash, the digest of a certificate by it, and what follows.
func (sd *SignedData) named(oid asn1.ObjectIdentifier, byDefault crypto.Hash) (h crypto.Hash, sum, rest cryptobyte.String, err error) {
	malformed := fmt.Errorf("%w: malformed attribute", ErrBinding)
	value, ok := sd.single(oid)
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

// CheckIssuerSerial compares the signer's certificate with the IssuerSerial of the first ESSCertID, where
// there is one (RFC 5035 section 5); [ErrBinding] when it is of another issuer or serial number. The hash
// beside it binds the certificate, so that EN 319 102-1 leaves to a policy what comes of that.
func (sd *SignedData) CheckIssuerSerial() error {
	cert, err := sd.Signer()
	if err != nil {
		return err
	}
	for _, oid := range []asn1.ObjectIdentifier{oidSigningCertificate, oidSigningCertificateV2} {
		if !sd.has(oid) {
			continue
		}
		_, _, rest, err := sd.named(oid, crypto.SHA256)
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
