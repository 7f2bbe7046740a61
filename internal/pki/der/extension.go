package der

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"slices"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"
)

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
