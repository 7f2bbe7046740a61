package tsp

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"fmt"
	"reflect"

	"golang.org/x/crypto/cryptobyte"
	cbasn1 "golang.org/x/crypto/cryptobyte/asn1"

	"github.com/innsigli/innsigli/internal/pki/der"
)

var oidSubjectAltName = asn1.ObjectIdentifier{2, 5, 29, 17}

// checkName compares the field tsa, where it is present, with the names of the
// certificate (RFC 3161 2.4.2).
func (t *Token) checkName() error {
	if len(t.name) == 0 {
		return nil
	}
	if sameName(t.name, directoryName(t.Certificate.RawSubject)) {
		return nil
	}
	for rest := alternativeNames(t.Certificate); !rest.Empty(); {
		var name cryptobyte.String
		var tag cbasn1.Tag
		if !rest.ReadAnyASN1Element(&name, &tag) {
			break
		}
		if sameName(t.name, name) {
			return nil
		}
	}
	return fmt.Errorf("%w: the token names another authority", ErrCertificate)
}

// directoryName is the GeneralName of a Name (RFC 5280 4.2.1.6).
func directoryName(name []byte) []byte {
	var b cryptobyte.Builder
	b.AddASN1(tagContext4, func(b *cryptobyte.Builder) { b.AddBytes(name) })
	encoded, err := b.Bytes()
	if err != nil {
		return nil
	}
	return encoded
}

// alternativeNames are the GeneralNames of the certificate's extension.
func alternativeNames(cert *x509.Certificate) cryptobyte.String {
	var names cryptobyte.String
	if e, ok := der.ExtensionOf(cert, oidSubjectAltName); ok {
		value := cryptobyte.String(e.Value)
		value.ReadASN1(&names, cbasn1.SEQUENCE)
	}
	return names
}

// sameName compares two GeneralNames. Those of directories may be in different kinds
// of strings.
func sameName(a, b []byte) bool {
	if bytes.Equal(a, b) {
		return true
	}
	first, ok := distinguishedName(a)
	second, ok2 := distinguishedName(b)
	return ok && ok2 && reflect.DeepEqual(first, second)
}

func distinguishedName(generalName cryptobyte.String) (pkix.RDNSequence, bool) {
	var name cryptobyte.String
	var rdns pkix.RDNSequence
	if !generalName.ReadASN1(&name, tagContext4) {
		return nil, false
	}
	rest, err := asn1.Unmarshal(name, &rdns)
	return rdns, err == nil && len(rest) == 0
}
