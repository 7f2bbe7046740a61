package ades

import (
	"bytes"
	"crypto/x509"
	"fmt"
)

// Identify names a certificate in an error by its issuer and serial number, as RFC 5280
// 4.1.2.2 has it. Errors are logged, and the subject of a signer's certificate is personal
// data: a name and a national number. So is the issuer where it is the subject itself,
// which is left out then.
func Identify(cert *x509.Certificate) string {
	if bytes.Equal(cert.RawIssuer, cert.RawSubject) {
		return fmt.Sprintf("self-issued certificate %#x", cert.SerialNumber)
	}
	return fmt.Sprintf("certificate %#x issued by %s", cert.SerialNumber, cert.Issuer)
}
