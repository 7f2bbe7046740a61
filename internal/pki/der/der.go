// Package der reads and writes the ASN.1 structures that certificates, CRLs and OCSP messages
// share, in DER: signed data with its signature (RFC 5280 4.1.1 and 5.1.1, RFC 6960 4.2.1),
// signature algorithms, extensions and times.
//
// It does not accept signatures with SHA-1 and older hashes, because data signed so can be forged
// (ETSI TS 119 312).
package der

import (
	"crypto"
	"crypto/rand"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/ades"
)

// ErrFormat: the bytes do not have the expected ASN.1 structure.
var ErrFormat = errors.New("der: malformed structure")

// maxExtensions bounds the extensions of a message. No known CRL or OCSP message has as many.
const maxExtensions = 64

// A Signed is signed data with its signature. After [ReadSigned] the slices point into the input.
type Signed struct {
	ToBeSigned []byte // DER SEQUENCE, with its header
	Algorithm  []byte // DER AlgorithmIdentifier
	Value      []byte // the signature value
}

// An Extension is one element of Extensions (RFC 5280 4.1).
type Extension struct {
	ID       asn1.ObjectIdentifier
	Critical bool
	Value    cryptobyte.String // the contents of extnValue
}

// ReadSigned reads the three fields from the front of s. The error is [ErrFormat].
func ReadSigned(s *cryptobyte.String) (Signed, error) {
	var toBeSigned, algorithm cryptobyte.String
	var value []byte
	if !s.ReadASN1Element(&toBeSigned, cbasn1.SEQUENCE) || !s.ReadASN1Element(&algorithm, cbasn1.SEQUENCE) ||
		!s.ReadASN1BitStringAsBytes(&value) {
		return Signed{}, fmt.Errorf("%w: it is not a SEQUENCE, an AlgorithmIdentifier and a signature value", ErrFormat)
	}
	return Signed{toBeSigned, algorithm, value}, nil
}

// Sign signs a DER SEQUENCE with the default algorithm of the key.
func Sign(toBeSigned []byte, key crypto.Signer) (Signed, error) {
	a, err := ades.DefaultAlgorithm(key.Public())
	if err != nil {
		return Signed{}, err
	}
	algorithm, err := marshalAlgorithm(a)
	if err != nil {
		return Signed{}, err
	}
	value, err := key.Sign(rand.Reader, a.Digest(toBeSigned).Sum, a.SignerOpts())
	if err != nil {
		return Signed{}, fmt.Errorf("der: signing: %w", err)
	}
	return Signed{toBeSigned, algorithm, value}, nil
}

// Verify verifies the signature value with the public key of a certificate. The error is
// [ades.ErrAlgorithm], [ades.ErrValue], or [ErrFormat] if the algorithm is malformed. The caller
// checks that the certificate is authorized to sign the data.
func (s Signed) Verify(by *x509.Certificate) error {
	algorithm, err := parseAlgorithm(s.Algorithm)
	if err != nil {
		return err
	}
	if err := ades.CheckKeySize(by.PublicKey); err != nil {
		return err
	}
	if err := by.CheckSignature(algorithm, s.ToBeSigned, s.Value); err != nil {
		return fmt.Errorf("%w: %w", ades.ErrValue, err)
	}
	return nil
}

// Append writes the three fields to b.
func (s Signed) Append(b *cryptobyte.Builder) {
	b.AddBytes(s.ToBeSigned)
	b.AddBytes(s.Algorithm)
	b.AddASN1BitString(s.Value)
}

// ReadExtensions reads a SEQUENCE OF Extension from the front of s. The error is [ErrFormat], also
// if an extension occurs twice (RFC 5280 4.2).
func ReadExtensions(s *cryptobyte.String) ([]Extension, error) {
	var sequence cryptobyte.String
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: extensions are not a SEQUENCE", ErrFormat)
	}
	var all []Extension
	for !sequence.Empty() {
		var extension cryptobyte.String
		var e Extension
		if !sequence.ReadASN1(&extension, cbasn1.SEQUENCE) || !extension.ReadASN1ObjectIdentifier(&e.ID) ||
			extension.PeekASN1Tag(cbasn1.BOOLEAN) && !extension.ReadASN1Boolean(&e.Critical) ||
			!extension.ReadASN1(&e.Value, cbasn1.OCTET_STRING) || !extension.Empty() {
			return nil, fmt.Errorf("%w: an extension is not an object identifier and an OCTET STRING", ErrFormat)
		}
		if len(all) == maxExtensions || slices.ContainsFunc(all, func(x Extension) bool { return x.ID.Equal(e.ID) }) {
			return nil, fmt.Errorf("%w: extension %v occurs twice, or there are too many extensions", ErrFormat, e.ID)
		}
		all = append(all, e)
	}
	return all, nil
}

// ExtensionOf returns an extension of a certificate.
func ExtensionOf(cert *x509.Certificate, id asn1.ObjectIdentifier) (pkix.Extension, bool) {
	i := slices.IndexFunc(cert.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(id) })
	if i < 0 {
		return pkix.Extension{}, false
	}
	return cert.Extensions[i], true
}

// Append writes the extension to b.
func (e Extension) Append(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(e.ID)
		if e.Critical {
			b.AddASN1Boolean(true)
		}
		b.AddASN1OctetString(e.Value)
	})
}

// ReadTime reads a GeneralizedTime from the front of s. The time is in UTC, with seconds and an
// optional fraction of a second after a point. The error is [ErrFormat]. RFC 3161 2.4.2 allows the
// fraction. RFC 6960 4.2.2.1 does not, but some OCSP responders write one, and other readers accept
// it.
func ReadTime(s *cryptobyte.String, tag cbasn1.Tag) (time.Time, error) {
	var text cryptobyte.String
	if !s.ReadASN1(&text, tag) || strings.ContainsRune(string(text), ',') {
		return time.Time{}, fmt.Errorf("%w: a time has the wrong type or a comma", ErrFormat)
	}
	t, err := time.Parse("20060102150405Z", string(text)) // time.Parse also accepts a fraction
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: %q is not a time", ErrFormat, text)
	}
	return t, nil
}
