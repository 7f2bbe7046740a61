package idp

import (
	"crypto/x509"
	"strings"
)

// NormalKennitala drops hyphens, which people write and systems do not
// (decisions.md 4.12).
func NormalKennitala(s string) string { return strings.ReplaceAll(s, "-", "") }

// Kennitala returns the kennitala that a certificate names: the serialNumber of
// its subject, bare or in the form of EN 319 412-1 5.1.3 ("PNOIS-").
func Kennitala(cert *x509.Certificate) string {
	return NormalKennitala(strings.TrimPrefix(cert.Subject.SerialNumber, "PNOIS-"))
}
