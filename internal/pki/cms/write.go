package cms

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

var (
	tagContext0 = cbasn1.Tag(0).ContextSpecific().Constructed()
	tagContext1 = cbasn1.Tag(1).ContextSpecific().Constructed()
	tagContext4 = cbasn1.Tag(4).ContextSpecific().Constructed()
	tagKeyID    = cbasn1.Tag(0).ContextSpecific() // subjectKeyIdentifier, primitive
)

// Parts are what a SignedData is made of.
type Parts struct {
	Certificate      *x509.Certificate
	Chain            []*x509.Certificate // further certificates to carry
	Algorithm        ades.Algorithm
	SignedAttributes []byte // from SignedAttributes
	Value            []byte // the signature value over their hash

	SignatureTimestamp []byte // a token over Value; nil: none

	ContentType      asn1.ObjectIdentifier // nil: id-data, detached
	Content          []byte                // what is carried and signed with a ContentType
	OmitCertificates bool                  // carry none, not even the signer's
}

// Marshal returns the DER ContentInfo.
func Marshal(p Parts) ([]byte, error) {
	signer, err := marshalSigner(p)
	if err != nil {
		return nil, err
	}
	digest, err := MarshalHash(p.Algorithm.Hash)
	if err != nil {
		return nil, err
	}
	return marshal(func(b *cryptobyte.Builder) {
		b.AddASN1Int64(p.version())
		b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(digest) })
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { addContent(b, p) })
		if !p.OmitCertificates {
			addCertificates(b, append([]*x509.Certificate{p.Certificate}, p.Chain...))
		}
		b.AddASN1(cbasn1.SET, func(b *cryptobyte.Builder) { b.AddBytes(signer) })
	})
}

// MarshalCertificates returns the "certs-only" message that [Certificates] reads: a
// SignedData with certificates and without signers (RFC 8551 3.8), DER.
func MarshalCertificates(certificates []*x509.Certificate) ([]byte, error) {
	none := func(*cryptobyte.Builder) {}
	return marshal(func(b *cryptobyte.Builder) {
		b.AddASN1Int64(1)
		b.AddASN1(cbasn1.SET, none) // digest algorithms
		b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) { b.AddASN1ObjectIdentifier(oidData) })
		addCertificates(b, certificates)
		b.AddASN1(cbasn1.SET, none) // signers
	})
}

// marshal puts the fields of a SignedData into a ContentInfo (RFC 5652 clause 3).
func marshal(fields cryptobyte.BuilderContinuation) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oidSignedData)
		b.AddASN1(tagContext0, func(b *cryptobyte.Builder) { b.AddASN1(cbasn1.SEQUENCE, fields) })
	})
	return b.Bytes()
}

// version follows RFC 5652 5.1, where the signer is named by issuerAndSerialNumber:
// 1 for id-data, 3 for other content.
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
	signature, err := signatureAlgorithm(p.Algorithm)
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
		return nil, errors.New("cms: signed attributes are no SET")
	}
	var unsigned []byte
	if p.SignatureTimestamp != nil {
		if unsigned, err = signatureTimestamp(p.SignatureTimestamp); err != nil {
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

// addCertificates writes a CertificateSet (RFC 5652 10.2.3), each certificate once.
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

func signatureAlgorithm(a ades.Algorithm) ([]byte, error) {
	if a.Scheme == ades.PSS {
		return pssAlgorithm(a)
	}
	for _, s := range signatureOIDs {
		if s.algorithm == a {
			return algorithmIdentifier(s.oid, a.Scheme == ades.PKCS1v15)
		}
	}
	return nil, fmt.Errorf("cms: %w: %v with %v", ades.ErrAlgorithm, a.Scheme, a.Hash)
}

func algorithmIdentifier(oid asn1.ObjectIdentifier, null bool) ([]byte, error) {
	var b cryptobyte.Builder
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(oid)
		if null {
			b.AddASN1NULL()
		}
	})
	return b.Bytes()
}
