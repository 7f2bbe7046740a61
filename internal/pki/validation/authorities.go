package validation

import (
	"bytes"
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// CheckAuthorities makes sure that the authorities of a chain, all between its ends, are certified as such: for
// signing certificates, by an extension that has to be there (RFC 5280 4.2.1.3), with the identifier of their key
// (4.2.1.2), and without what says that nobody need ask about them: that is for responders (RFC 6960 4.2.2.2.1), or
// for who signs nothing that others rely on in turn (RFC 9608 4). crypto/x509 lets these things pass.
func CheckAuthorities(chain []*x509.Certificate) error {
	for i := 1; i+1 < len(chain); i++ {
		if err := checkAuthority(chain[i]); err != nil {
			return err
		}
	}
	return nil
}

func checkAuthority(c *x509.Certificate) error {
	switch {
	case c.KeyUsage&x509.KeyUsageCertSign == 0:
		return fmt.Errorf("%w: %s is not certified for signing certificates", ades.ErrNoChain, ades.Identify(c))
	case len(c.SubjectKeyId) == 0:
		return fmt.Errorf("%w: %s does not identify its key", ades.ErrNoChain, ades.Identify(c))
	case hasExtension(c, oidNoCheck), hasExtension(c, oidNoRevAvail):
		return fmt.Errorf("%w: %s is an authority, and says that nobody need ask about it", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

// CheckSigner makes sure that the certificate is not one of those which only responders may have.
func CheckSigner(c *x509.Certificate) error {
	if hasExtension(c, oidNoCheck) {
		return fmt.Errorf("%w: %s signs, and is certified as a responder is", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5}
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}
)

// exempt reports whether nobody asks if the certificate was revoked. Of a responder's it is id-pkix-ocsp-nocheck that
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
