package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}
)

// exempt says whether nobody asks if the certificate was revoked. Of a responder's it is id-pkix-ocsp-nocheck that
// says so (RFC 6960 4.2.2.2.1), of a signer's that no information is available (RFC 9608), or that it lives shorter
// than revoking it would take (EN 319 412-1 5.2). An authority's never is, be it one of timestamps: many rely on it
// for long.
func exempt(c *x509.Certificate) bool {
	isFor := func(usage x509.ExtKeyUsage) bool { return slices.Contains(c.ExtKeyUsage, usage) }
	switch {
	case c.IsCA, isFor(x509.ExtKeyUsageTimeStamping):
		return false
	case isFor(x509.ExtKeyUsageOCSPSigning):
		return hasExtension(c, oidNoCheck)
	}
	return hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm)
}

// unasked is the rule by which validators find the level of a signature: what says that nobody need ask says so of
// whoever has it. What is relied upon goes by [exempt], which is stricter.
func unasked(c *x509.Certificate) bool {
	return exempt(c) || !c.IsCA && (hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm))
}

func hasExtension(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
	_, ok := der.ExtensionOf(c, id)
	return ok
}

// selfSigned: there is no authority that could revoke it.
func selfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawSubject, c.RawIssuer) && ades.CheckKeySize(c.PublicKey) == nil &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
