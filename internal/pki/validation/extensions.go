package validation

import (
	"crypto/x509"
	"encoding/asn1"
	"fmt"
	"slices"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/der"
)

// checkAuthorities checks the certificates of the authorities in a chain, which are all but the
// first and the last. Each must allow the signing of certificates in an extension, which is
// mandatory (RFC 5280 4.2.1.3), and have the identifier of its key (4.2.1.2). None may have an
// extension that exempts it from revocation checking: those are for OCSP responders (RFC 6960
// 4.2.2.2.1), and for signers of data that is not used to validate other data (RFC 9608 4).
// crypto/x509 does not check this.
func checkAuthorities(chain []*x509.Certificate) error {
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
		return fmt.Errorf("%w: %s is an authority, and is exempt from revocation checking", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

// refuseResponder returns an error if a signer's certificate has id-pkix-ocsp-nocheck, which only
// OCSP responders may have.
func refuseResponder(c *x509.Certificate) error {
	if hasExtension(c, oidNoCheck) {
		return fmt.Errorf("%w: %s is a signer with id-pkix-ocsp-nocheck", ades.ErrNoChain, ades.Identify(c))
	}
	return nil
}

var (
	oidNoCheck    = asn1.ObjectIdentifier{1, 3, 6, 1, 5, 5, 7, 48, 1, 5} // id-pkix-ocsp-nocheck
	oidNoRevAvail = asn1.ObjectIdentifier{2, 5, 29, 56}                  // noRevAvail
	oidShortTerm  = asn1.ObjectIdentifier{0, 4, 0, 194121, 2, 1}         // id-etsi-ext-valassured-ST-certs
)

// isExempt reports whether a certificate needs no revocation data. An OCSP responder is exempt by
// id-pkix-ocsp-nocheck (RFC 6960 4.2.2.2.1). A signer is exempt if its certificate states that no
// revocation information is available (RFC 9608), or that it expires before it could be revoked (EN
// 319 412-1 5.2). A certification authority or timestamp authority is never exempt, because many
// signatures depend on it for a long time.
func isExempt(c *x509.Certificate) bool {
	isFor := func(usage x509.ExtKeyUsage) bool { return slices.Contains(c.ExtKeyUsage, usage) }
	switch {
	case c.IsCA, isFor(x509.ExtKeyUsageTimeStamping):
		return false
	case isFor(x509.ExtKeyUsageOCSPSigning):
		return hasExtension(c, oidNoCheck)
	}
	return hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm)
}

// isExemptForLevel reports whether a certificate needs no revocation data for the level of a
// signature, by the rule of EU DSS: the two extensions for signers exempt every certificate that is
// not a certification authority's. The validation of a certificate uses isExempt, which is stricter.
func isExemptForLevel(c *x509.Certificate) bool {
	return isExempt(c) || !c.IsCA && (hasExtension(c, oidNoRevAvail) || hasExtension(c, oidShortTerm))
}

func hasExtension(c *x509.Certificate, id asn1.ObjectIdentifier) bool {
	_, ok := der.ExtensionOf(c, id)
	return ok
}
