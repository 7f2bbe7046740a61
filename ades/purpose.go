package ades

import (
	"crypto/x509"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
)

// ErrPurpose: the certificate was not issued for signing documents.
var ErrPurpose = errors.New("ades: certificate is not for signing documents")

// documentPurposes are the extended key usages for signing documents that crypto/x509 does not know: id-kp-documentSigning
// (RFC 9336), and those of Microsoft and Adobe from before it.
var documentPurposes = []asn1.ObjectIdentifier{
	{1, 3, 6, 1, 5, 5, 7, 3, 36},
	{1, 3, 6, 1, 4, 1, 311, 10, 3, 12},
	{1, 2, 840, 113583, 1, 1, 5},
}

// CheckPurpose returns an error, [ErrPurpose], if a certificate was not issued for signing documents:
//
//   - It is a certification authority's (RFC 5280 4.2.1.9).
//   - Its key usage has neither nonRepudiation, also called contentCommitment, nor digitalSignature (RFC 5280 4.2.1.3,
//     EN 319 412-2 4.3.2).
//   - Its extended key usage (RFC 5280 4.2.1.12) has none of anyExtendedKeyUsage, documentSigning (RFC 9336),
//     emailProtection, and the document signing of Microsoft and of Adobe.
//
// An extension that is absent restricts nothing.
func CheckPurpose(cert *x509.Certificate) error {
	switch {
	case cert.IsCA:
		return fmt.Errorf("%w: it is a certification authority's (basicConstraints CA:TRUE, as openssl req -x509 makes by default; "+
			"-addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,nonRepudiation makes one for a signer)", ErrPurpose)
	case cert.KeyUsage != 0 && cert.KeyUsage&(x509.KeyUsageContentCommitment|x509.KeyUsageDigitalSignature) == 0:
		return fmt.Errorf("%w: its key usage has neither nonRepudiation nor digitalSignature", ErrPurpose)
	case len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) > 0 && !isForDocuments(cert):
		return fmt.Errorf("%w: its extended key usage is for something else", ErrPurpose)
	}
	return nil
}

// Commits reports whether the key usage of a certificate has nonRepudiation, as those of people who sign documents have
// (EN 319 412-2 4.3.2), or is absent. With digitalSignature alone a certificate is for logging in, as a rule.
func Commits(cert *x509.Certificate) bool {
	return cert.KeyUsage == 0 || cert.KeyUsage&x509.KeyUsageContentCommitment != 0
}

func isForDocuments(cert *x509.Certificate) bool {
	return slices.ContainsFunc(cert.ExtKeyUsage, func(usage x509.ExtKeyUsage) bool {
		return usage == x509.ExtKeyUsageAny || usage == x509.ExtKeyUsageEmailProtection
	}) || slices.ContainsFunc(cert.UnknownExtKeyUsage, func(usage asn1.ObjectIdentifier) bool {
		return slices.ContainsFunc(documentPurposes, usage.Equal)
	})
}
