package cms

import (
	"bytes"
	"crypto"
	"encoding/asn1"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

var (
	oidSignaturePolicy    = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 15}
	oidCommitment         = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 16}
	oidSignerAttributes   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 18} // of TS 101 733
	oidSignerAttributesV2 = asn1.ObjectIdentifier{0, 4, 0, 19122, 1, 1}
)

// IsAdvanced says whether a detached signature has what CAdES asks of every one (EN 319 122-1 5.1, 5.2.2): the
// type of the content and its digest are signed, and so is the certificate's, in one version.
func (sd *SignedData) IsAdvanced() bool {
	return sd.isDetached() && sd.oneSigner && sd.checkContentType() == nil && sd.has(oidMessageDigest) &&
		sd.has(oidSigningCertificate) != sd.has(oidSigningCertificateV2) &&
		!(sd.has(oidSignerAttributes) && sd.has(oidSignerAttributesV2))
}

// IsBaseline says whether an advanced signature has the attributes of the baseline signatures of PAdES, and
// the signer's certificate (EN 319 142-1 6.3): the signing time is in the PDF.
func (sd *SignedData) IsBaseline() bool {
	_, err := sd.Signer()
	return sd.IsAdvanced() && !sd.has(oidSigningTime) && err == nil
}

// HasPolicy says whether the signature names a signature policy (EN 319 122-1 5.2.9).
func (sd *SignedData) HasPolicy() bool { return sd.has(oidSignaturePolicy) }

// HasCommitment says whether the signature says what the signer commits to (EN 319 122-1 5.2.3).
func (sd *SignedData) HasCommitment() bool { return sd.has(oidCommitment) }

// HasDigest says whether the digest of a detached content is signed, as adbe.pkcs7.detached has it
// (ISO 32000-1 12.8.3.3.1).
func (sd *SignedData) HasDigest() bool { return sd.isDetached() && sd.has(oidMessageDigest) }

// CarriesDigest says whether the content is a SHA-1 digest, as adbe.pkcs7.sha1 has it.
func (sd *SignedData) CarriesDigest() bool {
	return sd.ContentType.Equal(oidData) && len(sd.Content) == crypto.SHA1.Size()
}

// CarriesSigner says whether the signer's certificate is among those carried, be it one that Go cannot parse. That one
// has to be the one that is signed for, where one is.
func (sd *SignedData) CarriesSigner() bool {
	_, err := sd.Signer()
	return err == nil || sd.keyID == nil && slices.ContainsFunc(sd.unread, func(c []byte) bool {
		return sd.isNamed(c) && (!sd.NamesCertificate() || sd.checkNames(c) == nil)
	})
}

func (sd *SignedData) isUnread() bool {
	return sd.keyID == nil && slices.ContainsFunc(sd.unread, sd.isNamed)
}

// isNamed compares the issuer and serial number of a certificate (RFC 5280 4.1) with those of the signer.
func (sd *SignedData) isNamed(certificate []byte) bool {
	der := cryptobyte.String(certificate)
	var whole, signed, algorithm, issuer cryptobyte.String
	serial := new(big.Int)
	return der.ReadASN1(&whole, cbasn1.SEQUENCE) && whole.ReadASN1(&signed, cbasn1.SEQUENCE) &&
		signed.SkipOptionalASN1(tagContext0) && signed.ReadASN1Integer(serial) &&
		signed.ReadASN1(&algorithm, cbasn1.SEQUENCE) && signed.ReadASN1Element(&issuer, cbasn1.SEQUENCE) &&
		serial.Cmp(sd.serial) == 0 && bytes.Equal(issuer, sd.issuer)
}
