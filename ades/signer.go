package ades

import (
	"bytes"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/asn1"
	"errors"
	"fmt"
	"slices"
)

// SignerIdentity is the identity of a signer, without a private key: the key is remote. It is the signer's
// certificate, the certificates above it that the signature embeds (in any order; the root may be
// left out), and the signature algorithm.
type SignerIdentity struct {
	Certificate *x509.Certificate
	Chain       []*x509.Certificate
	Algorithm   Algorithm // zero: DefaultAlgorithm of the certificate's key
}

// Resolve returns the signer with its algorithm filled in, or an error if no signature can be made
// with it: [ErrPurpose] or [ErrAlgorithm]. PSS signatures are made only with a salt as long as the
// hash, the one length that all readers of PSS support (ETSI TS 119 312, RFC 4055 section 3.1).
func (s SignerIdentity) Resolve() (SignerIdentity, error) {
	if s.Certificate == nil {
		return s, errors.New("ades: signer without certificate")
	}
	if err := CheckPurpose(s.Certificate); err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	pub, err := PublicKey(s.Certificate)
	if err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	if s.Algorithm == (Algorithm{}) {
		if s.Algorithm, err = DefaultAlgorithm(pub); err != nil {
			return s, err
		}
	}
	if s.Algorithm.Salt != 0 {
		return s, fmt.Errorf("%w: a salt of %d bytes", ErrAlgorithm, s.Algorithm.Salt)
	}
	if err := s.Algorithm.Check(pub); err != nil {
		return s, fmt.Errorf("signer's certificate: %w", err)
	}
	return s, nil
}

// ErrPurpose: the certificate was not issued for signing documents.
var ErrPurpose = errors.New("ades: certificate is not for signing documents")

// documentPurposes are the extended key usages for signing documents that crypto/x509 does not
// name: id-kp-documentSigning (RFC 9336), and the older ones of Microsoft and Adobe.
var documentPurposes = []asn1.ObjectIdentifier{
	{1, 3, 6, 1, 5, 5, 7, 3, 36},
	{1, 3, 6, 1, 4, 1, 311, 10, 3, 12},
	{1, 2, 840, 113583, 1, 1, 5},
}

// CheckPurpose returns [ErrPurpose] if a certificate was not issued for signing documents:
//
//   - It belongs to a certification authority (RFC 5280 4.2.1.9).
//   - Its key usage has neither nonRepudiation, also called contentCommitment, nor digitalSignature
//     (RFC 5280 4.2.1.3, EN 319 412-2 4.3.2).
//   - Its extended key usage (RFC 5280 4.2.1.12) has none of anyExtendedKeyUsage, documentSigning
//     (RFC 9336), emailProtection, and the document signing of Microsoft and of Adobe.
//
// An absent extension restricts nothing.
func CheckPurpose(cert *x509.Certificate) error {
	switch {
	case cert.IsCA:
		return fmt.Errorf("%w: it is that of a certification authority (basicConstraints CA:TRUE, the default of openssl req -x509); "+
			"for a signer, add -addext basicConstraints=critical,CA:FALSE -addext keyUsage=critical,nonRepudiation", ErrPurpose)
	case hasExtension(cert, oidKeyUsage, cert.KeyUsage != 0) && cert.KeyUsage&(x509.KeyUsageContentCommitment|x509.KeyUsageDigitalSignature) == 0:
		return fmt.Errorf("%w: its key usage has neither nonRepudiation nor digitalSignature", ErrPurpose)
	case hasExtension(cert, oidExtKeyUsage, len(cert.ExtKeyUsage)+len(cert.UnknownExtKeyUsage) > 0) && !isForDocuments(cert):
		return fmt.Errorf("%w: its extended key usage is for something else", ErrPurpose)
	}
	return nil
}

// AllowsNonRepudiation reports whether the key usage of a certificate has nonRepudiation or is
// absent. Certificates for signing documents have nonRepudiation (EN 319 412-2 4.3.2). A
// certificate with digitalSignature alone is usually for authentication.
func AllowsNonRepudiation(cert *x509.Certificate) bool {
	return !hasExtension(cert, oidKeyUsage, cert.KeyUsage != 0) || cert.KeyUsage&x509.KeyUsageContentCommitment != 0
}

var (
	oidKeyUsage    = asn1.ObjectIdentifier{2, 5, 29, 15}
	oidExtKeyUsage = asn1.ObjectIdentifier{2, 5, 29, 37}
)

// hasExtension reports whether a certificate has an extension. parsed: crypto/x509 has read a value
// from it. An extension without any value is found by its identifier.
func hasExtension(cert *x509.Certificate, id asn1.ObjectIdentifier, parsed bool) bool {
	return parsed || slices.ContainsFunc(cert.Extensions, func(e pkix.Extension) bool { return e.Id.Equal(id) })
}

func isForDocuments(cert *x509.Certificate) bool {
	return slices.ContainsFunc(cert.ExtKeyUsage, func(usage x509.ExtKeyUsage) bool {
		return usage == x509.ExtKeyUsageAny || usage == x509.ExtKeyUsageEmailProtection
	}) || slices.ContainsFunc(cert.UnknownExtKeyUsage, func(usage asn1.ObjectIdentifier) bool {
		return slices.ContainsFunc(documentPurposes, usage.Equal)
	})
}

// Identify names a certificate in an error by its issuer and serial number (RFC 5280 4.1.2.2). It
// leaves out the subject: errors are logged, and the subject of a signer's certificate is personal
// data, a name and a national number. It leaves out the issuer too if issuer and subject are the
// same.
func Identify(cert *x509.Certificate) string {
	if bytes.Equal(cert.RawIssuer, cert.RawSubject) {
		return fmt.Sprintf("self-issued certificate %#x", cert.SerialNumber)
	}
	return fmt.Sprintf("certificate %#x issued by %s", cert.SerialNumber, cert.Issuer)
}
