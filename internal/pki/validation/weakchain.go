package validation

import (
	"crypto/x509"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// HasWeakChain says whether the certificate leads to a root by signatures some of which are by SHA-1, that nobody
// relies on any more and crypto/x509 does not look at: so that a chain that was good once is told from none. No
// time is looked at, and nothing passes by such a chain.
func (d *Data) HasWeakChain(k *Known, c *x509.Certificate) bool {
	p, found := path{k, d}, []*x509.Certificate{c}
	weak := make(map[*x509.Certificate]bool) // below whom there is such a signature
	for i := 0; i < len(found) && i < maxAncestors; i++ {
		below := found[i]
		if weak[below] && k.isAnchored(below) {
			return true
		}
		for _, above := range p.named(below.RawIssuer) {
			if !slices.ContainsFunc(found, above.Equal) && p.signed(below, above) {
				found = append(found, above)
				weak[above] = weak[below] || isWeak(below.SignatureAlgorithm)
			}
		}
	}
	return false
}

func isWeak(a x509.SignatureAlgorithm) bool {
	return a == x509.SHA1WithRSA || a == x509.ECDSAWithSHA1
}

// signed verifies a signature by any hash that crypto/x509 knows but MD5.
func (p path) signed(c, by *x509.Certificate) bool {
	return seemsIssuer(by, c) && ades.CheckKeySize(by.PublicKey) == nil && p.known.work.spend(signatureWork) &&
		by.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
