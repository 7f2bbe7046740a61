package evidence

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
	for i := 0; i < len(found) && i < maxAncestors; i++ {
		if k.work.isAnchored(found[i]) {
			return true
		}
		for _, above := range p.named(found[i].RawIssuer) {
			if !slices.ContainsFunc(found, above.Equal) && p.signedWeakly(found[i], above) {
				found = append(found, above)
			}
		}
	}
	return false
}

// signedWeakly verifies a signature by any hash that crypto/x509 knows but MD5.
func (p path) signedWeakly(c, by *x509.Certificate) bool {
	return seemsIssuer(by, c) && ades.CheckKeySize(by.PublicKey) == nil && p.known.work.spend(signatureWork) &&
		by.CheckSignature(c.SignatureAlgorithm, c.RawTBSCertificate, c.Signature) == nil
}
