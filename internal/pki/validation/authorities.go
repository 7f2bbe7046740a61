package validation

import (
	"crypto/x509"
	"fmt"

	"github.com/innsigli/innsigli/ades"
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
