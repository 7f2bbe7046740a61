// Package cms writes and reads the CMS SignedData (RFC 5652) of PAdES signatures and of timestamp
// tokens. It writes one signer, identified by issuerAndSerialNumber.
//
// The signing key is remote, so writing takes two steps: [SignedAttributes] returns the bytes that
// the signer signs, and [Marshal] builds the SignedData from them and the signature value. The
// output is DER and follows EN 319 122-1 clause 5 and EN 319 142-1 clause 6.3. The content is
// detached. The signed attributes are content-type, message-digest, signing-certificate-v2 and the
// algorithm protection of RFC 6211. They do not include signing-time, because the M entry of the
// PDF signature dictionary has the claimed time. [Marshal] can add a signature timestamp as an
// unsigned attribute.
//
// A timestamp token is a SignedData with encapsulated content of another type. [SignedAttributesForContent]
// and [Marshal] write it, and [ParseEncapsulated] reads it.
//
// [Parse] accepts BER, because other software writes it. [SignedData.Verify] verifies the digest,
// the signature value and the signed attributes that RFC 5652 requires, and
// [SignedData.CheckSingleBinding] the signing-certificate attribute.
package cms

import (
	"crypto"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"math/big"

	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

var (
	oidData       = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 1}
	oidSignedData = asn1.ObjectIdentifier{1, 2, 840, 113549, 1, 7, 2}
)

var (
	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext4 = cbasn1.Tag(4).ContextSpecific().Constructed()
	tagKeyID    = cbasn1.Tag(0).ContextSpecific() // subjectKeyIdentifier, primitive
)

var (
	// ErrFormat: the bytes are not a SignedData, or not one of the form that the caller asks for.
	ErrFormat = errors.New("cms: malformed SignedData")
	// ErrDigest: the digest of the content differs from the signed digest.
	ErrDigest = errors.New("cms: digest of the content differs from the signed one")
	// ErrNoDigest: the digest algorithm of the signer identifies a signature algorithm instead. With
	// signed attributes the error is also [ErrDigest], because no digest of the content can match the
	// message-digest attribute. Without them the content cannot be checked at all.
	ErrNoDigest = errors.New("cms: no digest algorithm")
	// ErrNoCertificate: the SignedData does not contain the signer's certificate.
	ErrNoCertificate = errors.New("cms: signer's certificate not found")
	// ErrBinding: the signing-certificate attribute is absent or malformed, or it identifies another
	// certificate than the signer's.
	ErrBinding = errors.New("cms: signing certificate not bound by the signature")
	// ErrOtherCertificate accompanies [ErrBinding] if the attribute identifies another certificate.
	ErrOtherCertificate = errors.New("the signing-certificate attribute names another certificate")
)

// A SignedData is a parsed SignedData with its first signer (RFC 5652 5.1 and 5.3).
type SignedData struct {
	Raw          []byte // the ContentInfo in DER
	ContentType  asn1.ObjectIdentifier
	Content      []byte              // nil if detached
	Certificates []*x509.Certificate // in the order of the SignedData, without those that Go cannot parse
	Value        []byte              // the signature value
	// SignedAttributes is the DER SET OF that the signer signed (RFC 5652 5.4); nil without signed
	// attributes.
	SignedAttributes []byte

	issuer     []byte   // DER Name of the issuerAndSerialNumber
	serial     *big.Int // of the issuerAndSerialNumber
	keyID      []byte   // subjectKeyIdentifier; if not nil, issuer and serial are unset
	algorithm  ades.Algorithm
	attributes []parsedAttribute // signed
	unsigned   []parsedAttribute
	oneSigner  bool
	unparsed   [][]byte // certificates that Go cannot parse
	fault      error    // the first reason why the signature cannot be verified
}

// Algorithm returns the algorithm of the signature.
func (sd *SignedData) Algorithm() ades.Algorithm { return sd.algorithm }

func (sd *SignedData) isDetached() bool { return sd.ContentType.Equal(oidData) && sd.Content == nil }

// IsAdvanced reports whether a detached signature has what CAdES requires of every signature
// (EN 319 122-1 5.1 and 5.2.2): one signer, the signed attributes content-type and message-digest,
// and exactly one version of the signing-certificate attribute. It may have one version of the
// signer-attributes attribute, not both.
func (sd *SignedData) IsAdvanced() bool {
	return sd.isDetached() && sd.oneSigner && sd.checkContentType() == nil && sd.hasAttribute(oidMessageDigest) &&
		sd.hasSingleBinding() &&
		!(sd.hasAttribute(oidSignerAttributes) && sd.hasAttribute(oidSignerAttributesV2))
}

// IsBaseline reports whether an advanced signature has the attributes of a PAdES baseline signature
// and contains the signer's certificate (EN 319 142-1 6.3). The signing-time attribute is excluded,
// because the signing time is in the PDF.
func (sd *SignedData) IsBaseline() bool {
	_, err := sd.Signer()
	return sd.IsAdvanced() && !sd.hasAttribute(oidSigningTime) && err == nil
}

// HasPolicy reports whether the signature has a signature-policy-identifier attribute (EN 319 122-1
// 5.2.9).
func (sd *SignedData) HasPolicy() bool { return sd.hasAttribute(oidSignaturePolicy) }

// HasCommitment reports whether the signature has a commitment-type-indication attribute
// (EN 319 122-1 5.2.3).
func (sd *SignedData) HasCommitment() bool { return sd.hasAttribute(oidCommitment) }

// HasSigningTime reports whether the signature has a signing-time attribute (RFC 5652 11.3), which
// PAdES excludes.
func (sd *SignedData) HasSigningTime() bool { return sd.hasAttribute(oidSigningTime) }

// HasDigest reports whether the content is detached and the message-digest attribute is present, as
// adbe.pkcs7.detached requires (ISO 32000-1 12.8.3.3.1).
func (sd *SignedData) HasDigest() bool { return sd.isDetached() && sd.hasAttribute(oidMessageDigest) }

// HasDigestContent reports whether the encapsulated content is id-data of the length of a SHA-1
// digest, as adbe.pkcs7.sha1 requires (ISO 32000-1 12.8.3.3.1).
func (sd *SignedData) HasDigestContent() bool {
	return sd.ContentType.Equal(oidData) && len(sd.Content) == crypto.SHA1.Size()
}
