package idp

import (
	"crypto/x509"
	"strings"
)

// NormalKennitala drops hyphens, which people write and systems do not
// (spec 3.2).
func NormalKennitala(s string) string { return strings.ReplaceAll(s, "-", "") }

// NamedKennitala returns the kennitala in what a provider says: bare, with a hyphen, or
// in the form of EN 319 412-1 5.1.3 ("PNOIS-").
func NamedKennitala(s string) string { return NormalKennitala(strings.TrimPrefix(s, "PNOIS-")) }

// Kennitala returns the kennitala that a certificate names: the serialNumber of
// its subject.
func Kennitala(cert *x509.Certificate) string { return NamedKennitala(cert.Subject.SerialNumber) }

// ShownKennitala returns the kennitala that a stamp shows of a certificate, ten digits. It is
// empty for a certificate without one: a serialNumber may as well be a passport's, or another
// country's (EN 319 412-1 5.1.3).
func ShownKennitala(cert *x509.Certificate) string {
	if k := Kennitala(cert); len(k) == 10 && strings.Trim(k, "0123456789") == "" {
		return k
	}
	return ""
}
