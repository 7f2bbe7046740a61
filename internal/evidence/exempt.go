package evidence

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/x509der"
)

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}
)

// exempt says whether nobody asks if the certificate was revoked: a responder's with
// id-pkix-ocsp-nocheck (RFC 6960 4.2.2.2.1), one for which no information is
// available (RFC 9608), or one that lives shorter than revoking it would take (EN
// 319 412-1 5.2). An authority's never is.
func exempt(c *x509.Certificate) bool {
	if c.IsCA {
		return false
	}
	return carries(c, oidNoRevAvail) || carries(c, oidShortTerm) ||
		carries(c, oidNoCheck) && slices.Contains(c.ExtKeyUsage, x509.ExtKeyUsageOCSPSigning)
}

func carries(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
	_, ok := x509der.ExtensionOf(c, id)
	return ok
}

// selfSigned: there is no authority that could revoke it.
func selfSigned(c *x509.Certificate) bool {
	return bytes.Equal(c.RawSubject, c.RawIssuer) && ades.CheckKeySize(c.PublicKey) == nil &&
		c.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
