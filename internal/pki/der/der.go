// Package der reads and makes the forms of X.509 that certificates, CRLs and
// OCSP messages share: what is signed with its signature (RFC 5280 4.1.1 and 5.1.1,
// RFC 6960 4.2.1), the algorithm's identifier and extensions.
//
// Signatures with SHA-1 and older hashes are not accepted (ETSI TS 119 312): what
// they protect can be forged.
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

// ErrFormat: the bytes do not have the form.
var ErrFormat = errors.New("der: malformed")

// Signed is what was signed, with its signature. The slices point into what was
// read.
type Signed struct {
	ToBeSigned []byte // a DER SEQUENCE with its header
	Algorithm  []byte // DER AlgorithmIdentifier
	Value      []byte
}

// ReadSigned takes the three fields from the front of s; [ErrFormat].
func ReadSigned(s *cryptobyte.String) (Signed, error) {
	var toBeSigned, algorithm cryptobyte.String
	var value []byte
	if !s.ReadASN1Element(&toBeSigned, cbasn1.SEQUENCE) || !s.ReadASN1Element(&algorithm, cbasn1.SEQUENCE) ||
		!s.ReadASN1BitStringAsBytes(&value) {
		return Signed{}, fmt.Errorf("%w: no signature over a SEQUENCE", ErrFormat)
	}
	return Signed{toBeSigned, algorithm, value}, nil
}

// Verify checks the value with the public key of a certificate:
// [ades.ErrAlgorithm] or [ades.ErrValue], and [ErrFormat] when the algorithm cannot be
// read. Whether the certificate is entitled to sign is the caller's question.
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

// Append writes the three fields.
func (s Signed) Append(b *cryptobyte.Builder) {
	b.AddBytes(s.ToBeSigned)
	b.AddBytes(s.Algorithm)
	b.AddASN1BitString(s.Value)
}

// ReadTime takes a GeneralizedTime from the front of s: in UTC, with seconds, and perhaps with a fraction of a second
// after a point; [ErrFormat]. RFC 3161 2.4.2 allows the fraction. RFC 6960 4.2.2.1 does not, but some OCSP
// responders write one, and other readers accept it.
func ReadTime(s *cryptobyte.String, tag cbasn1.Tag) (time.Time, error) {
	var text cryptobyte.String
	if !s.ReadASN1(&text, tag) || strings.ContainsRune(string(text), ',') {
		return time.Time{}, fmt.Errorf("%w: time", ErrFormat)
	}
	t, err := time.Parse("20060102150405Z", string(text)) // which accepts a fraction too
	if err != nil {
		return time.Time{}, fmt.Errorf("%w: time %q", ErrFormat, text)
	}
	return t, nil
}

// maxExtensions is more than any CRL or OCSP message has.
const maxExtensions = 64

// Extension is one of Extensions (RFC 5280 4.1).
type Extension struct {
	ID       asn1.ObjectIdentifier
	Critical bool
	Value    cryptobyte.String // what extnValue contains
}

// ReadExtensions takes a SEQUENCE OF Extension from the front of s. An extension
// that comes twice is [ErrFormat] (RFC 5280 4.2).
func ReadExtensions(s *cryptobyte.String) ([]Extension, error) {
	var sequence cryptobyte.String
	if !s.ReadASN1(&sequence, cbasn1.SEQUENCE) {
		return nil, fmt.Errorf("%w: extensions", ErrFormat)
	}
	var all []Extension
	for !sequence.Empty() {
		var extension cryptobyte.String
		var e Extension
		if !sequence.ReadASN1(&extension, cbasn1.SEQUENCE) || !extension.ReadASN1ObjectIdentifier(&e.ID) ||
			extension.PeekASN1Tag(cbasn1.BOOLEAN) && !extension.ReadASN1Boolean(&e.Critical) ||
			!extension.ReadASN1(&e.Value, cbasn1.OCTET_STRING) || !extension.Empty() {
			return nil, fmt.Errorf("%w: extension", ErrFormat)
		}
		if len(all) == maxExtensions || slices.ContainsFunc(all, func(x Extension) bool { return x.ID.Equal(e.ID) }) {
			return nil, fmt.Errorf("%w: extension %v twice or too many", ErrFormat, e.ID)
		}
		all = append(all, e)
	}
	return all, nil
}

// ExtensionOf finds an extension of a certificate.
func ExtensionOf(cert *x509.Certificate, id asn1.ObjectIdentifier) (pkix.Extension, bool) {
	i := slices.IndexFunc(cert.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(id) })
	if i < 0 {
		return pkix.Extension{}, false
	}
	return cert.Extensions[i], true
}

// Append writes the extension.
func (e Extension) Append(b *cryptobyte.Builder) {
	b.AddASN1(cbasn1.SEQUENCE, func(b *cryptobyte.Builder) {
		b.AddASN1ObjectIdentifier(e.ID)
		if e.Critical {
			b.AddASN1Boolean(true)
		}
		b.AddASN1OctetString(e.Value)
	})
}
