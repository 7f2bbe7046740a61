// Package cms writes and reads the CMS SignedData (RFC 5652) that PAdES
// signatures carry: detached, one signer, issuerAndSerialNumber.
//
// Writing takes two steps, because the key is elsewhere: [SignedAttributes]
// fixes what gets signed and [Marshal] puts the value in afterwards. The output
// is DER and follows EN 319 122-1 5 and EN 319 142-1 6.3: content-type,
// message-digest, signing-certificate-v2 and the RFC 6211 algorithm protection
// are signed; signing-time is left out, since in a PDF /M carries it. A timestamp
// over the value comes with it.
//
// Content of another type, which the SignedData carries, is written and read for
// timestamp tokens: [SignedAttributesOf], [ParseEncapsulated].
//
// [Parse] accepts BER, as other software writes it, and [SignedData.Verify] checks
// what those clauses require of a signature.
package cms

import (
	"bytes"
	"crypto"
	_ "crypto/sha1" // old signatures are read, and reported as weak
	_ "crypto/sha3"
	"encoding/asn1"
	"math/big"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

var (
	oidData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}

	oidContentType          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 3}
	oidMessageDigest        = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 4}
	oidSigningTime          = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 5}
	oidSigningCertificate   = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 12} // RFC 2634, SHA-1
	oidSigningCertificateV2 = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 16, 2, 47} // RFC 5035
	oidAlgorithmProtection  = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 9, 52}        // RFC 6211

	oidRSA = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 1}
)

// digestOIDs are the hashes of RFC 5754 and RFC 8702 and, for reading alone, those that no policy accepts.
var digestOIDs = []struct {
	hash crypto.Hash
	oid  asn1.ObjectIdentifier
}{
	{crypto.SHA256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 1}},
	{crypto.SHA384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 2}},
	{crypto.SHA512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 3}},
	{crypto.SHA1, asn1.ObjectIdentifier{1, 3, 14, 3, 2, 26}},
	{crypto.SHA224, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 4}},
	{crypto.SHA3_224, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 7}},
	{crypto.SHA3_256, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 8}},
	{crypto.SHA3_384, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 9}},
	{crypto.SHA3_512, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 2, 10}},
}

// signatureOIDs name a hash and a scheme in one identifier. RSA carries NULL
// parameters (RFC 4055 section 5), ECDSA none (RFC 5754 section 3.3), nor Ed25519
// (RFC 8419 2.4). RSASSA-PSS names its hash in parameters.
var signatureOIDs = []struct {
	algorithm ades.Algorithm
	oid       asn1.ObjectIdentifier
}{
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 11}},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 12}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 13}},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 5}},
	{ades.Algorithm{Hash: crypto.SHA256, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 2}},
	{ades.Algorithm{Hash: crypto.SHA384, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 3}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 4}},
	{ades.Algorithm{Hash: crypto.SHA512, Scheme: ades.Ed25519}, asn1.ObjectIdentifier{1, 3, 101, 112}},
	{ades.Algorithm{Hash: crypto.SHA224, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 1, 14}},
	{ades.Algorithm{Hash: crypto.SHA3_224, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 13}},
	{ades.Algorithm{Hash: crypto.SHA3_256, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 14}},
	{ades.Algorithm{Hash: crypto.SHA3_384, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 15}},
	{ades.Algorithm{Hash: crypto.SHA3_512, Scheme: ades.PKCS1v15}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 16}},
	{ades.Algorithm{Hash: crypto.SHA1, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 1}},
	{ades.Algorithm{Hash: crypto.SHA224, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{1, 2, 840, 10045, 4, 3, 1}},
	{ades.Algorithm{Hash: crypto.SHA3_256, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 10}},
	{ades.Algorithm{Hash: crypto.SHA3_384, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 11}},
	{ades.Algorithm{Hash: crypto.SHA3_512, Scheme: ades.ECDSA}, asn1.ObjectIdentifier{2, 16, 840, 1, 101, 3, 4, 3, 12}},
}

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
