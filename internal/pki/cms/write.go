package cms

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// Parts are the inputs of [Marshal].
type Parts struct {
	Certificate      *x509.Certificate   // the signer's
	Chain            []*x509.Certificate // further certificates to embed
	Algorithm        ades.Algorithm
	SignedAttributes []byte // from SignedAttributes
	Value            []byte // the signature value over SignedAttributes

	SignatureTimestamp []byte // a timestamp token over Value; nil: none

	ContentType      asn1.ObjectIdentifier // nil: id-data, detached
	Content          []byte                // the encapsulated content if ContentType is set
	OmitCertificates bool                  // embed no certificates, not even the signer's
}

// Marshal returns the ContentInfo in DER.
func Marshal(p Parts) ([]byte, error) {
	signer, err := marshalSigner(p)
	if err != nil {
		return nil, err
	}
	digest, err := MarshalHash(p.Algorithm.Hash)
	if err != nil {
		return nil, err
	}
	return marshalContentInfo(func(b *cryptobyte.Builder) {
		b.AddASN1Int64(p.version())
		b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(digest) })
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { addContent(b, p) })
		if !p.OmitCertificates {
			addCertificates(b, append([]*x509.Certificate{p.Certificate}, p.Chain...))
		}
		b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(signer) })
	})
}

// MarshalCertificates returns the "certs-only" message that [Certificates] reads: a SignedData with
// certificates and without signers, in DER (RFC 8551 3.8).
func MarshalCertificates(certificates []*x509.Certificate) ([]byte, error) {
	none := func(*cryptobyte.Builder) {}
	return marshalContentInfo(func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1(cbasn1.SET, none) // digest algorithms
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) })
		addCertificates(b, certificates)
		b.AddASN1(cbasn1.SET, none) // signers
	})
}

// marshalContentInfo returns a ContentInfo with a SignedData of the given fields (RFC 5652
// clause 3).
func marshalContentInfo(fields cryptobyte.BuilderContinuation) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1(cbasn1.SEQUENCE, fields) })
	})
	return b.Bytes()
}

// version returns the version of the SignedData for a signer identified by issuerAndSerialNumber: 1
// for id-data, 3 for other content (RFC 5652 5.1).
func (p Parts) version() int64 {
	if p.ContentType == nil {
		return 1
	}
	return 3
}

// addContent writes the EncapsulatedContentInfo (RFC 5652 5.2).
func addContent(b *cryptobyte.Builder, p Parts) {
	if p.ContentType == nil {
		b.AddASN1ObjectIdentifier(oidData)
		return
	}
	b.AddASN1ObjectIdentifier(p.ContentType)
	b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1OctetString(p.Content) })
}

// marshalSigner returns the SignerInfo (RFC 5652 5.3).
func marshalSigner(p Parts) ([]byte, error) {
	signature, err := marshalSignatureAlgorithm(p.Algorithm)
	if err != nil {
		return nil, err
	}
	digest, err := MarshalHash(p.Algorithm.Hash)
	if err != nil {
		return nil, err
	}
	set := cryptobyte.String(p.SignedAttributes)
	var signed cryptobyte.String
	if !set.ReadASN1(&signed, cbasn1.SET) || !set.Empty() {
		return nil, errors.New("cms: signed attributes are not a SET")
	}
	var unsigned []byte
	if p.SignatureTimestamp != nil {
		if unsigned, err = marshalSignatureTimestamp(p.SignatureTimestamp); err != nil {
			return nil, err
		}
	}
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		addIssuerAndSerial(b, p.Certificate)
		b.AddBytes(digest)
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddBytes(signed) })
		b.AddBytes(signature)
		b.AddASN1OctetString(p.Value)
		if unsigned != nil {
			b.AddASN1(tagContext1, func(b *cryptobyte.Builder) { b.AddBytes(unsigned) })
		}
	})
	return b.Bytes()
}

// addCertificates writes a CertificateSet (RFC 5652 10.2.3), with each certificate once.
func addCertificates(b *cryptobyte.Builder, certificates []*x509.Certificate) {
	var all [][]byte
	for _, c := range certificates {
		if !slices.ContainsFunc(all, func(raw []byte) bool { return bytes.Equal(raw, c.Raw) }) {
			all = append(all, c.Raw)
		}
	}
	b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddBytes(setOf(all)) })
}

func addIssuerAndSerial(b *cryptobyte.Builder, cert *x509.Certificate) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddBytes(cert.RawIssuer)
		b.AddASN1BigInt(cert.SerialNumber)
	})
}
