package evidence

import (
	"crypto"
	"crypto/x509"
	"fmt"

	"github.com/innsigli/innsigli/ades"
)

// CheckSuite says whether validators rely on the algorithms and keys by which the
// certificates of a chain were signed, all but the root (ETSI TS 119 312);
// [ades.ErrAlgorithm] when not. The root is trusted for other reasons, and its key signed
// the one below.
func CheckSuite(chain []*x509.Certificate) error {
	for i := 0; i+1 < len(chain); i++ {
		if err := signedBy[chain[i].SignatureAlgorithm].CheckSuite(chain[i+1].PublicKey); err != nil {
			return fmt.Errorf("%s, signed by %v: %w", ades.Identify(chain[i]), chain[i].SignatureAlgorithm, err)
		}
	}
	return nil
}

// signedBy has the names of crypto/x509; what is not among them is nothing to rely on.
var signedBy = map[x509.SignatureAlgorithm]ades.Algorithm{
	x509.SHA256WithRSA:    {Hash: crypto.SHA256, Scheme: ades.PKCS1v15},
	x509.SHA384WithRSA:    {Hash: crypto.SHA384, Scheme: ades.PKCS1v15},
	x509.SHA512WithRSA:    {Hash: crypto.SHA512, Scheme: ades.PKCS1v15},
	x509.SHA256WithRSAPSS: {Hash: crypto.SHA256, Scheme: ades.PSS},
	x509.SHA384WithRSAPSS: {Hash: crypto.SHA384, Scheme: ades.PSS},
	x509.SHA512WithRSAPSS: {Hash: crypto.SHA512, Scheme: ades.PSS},
	x509.ECDSAWithSHA256:  {Hash: crypto.SHA256, Scheme: ades.ECDSA},
	x509.ECDSAWithSHA384:  {Hash: crypto.SHA384, Scheme: ades.ECDSA},
	x509.ECDSAWithSHA512:  {Hash: crypto.SHA512, Scheme: ades.ECDSA},
}

// checkSuite is the same for who signed a proof. Proofs by weak hashes are not read at all.
func (a Answer) checkSuite(issuer *x509.Certificate) error {
	algorithm, err := ades.DefaultAlgorithm(a.Signer.PublicKey)
	if err == nil {
		err = algorithm.CheckSuite(a.Signer.PublicKey)
	}
	if err != nil {
		return fmt.Errorf("proof by %s: %w", ades.Identify(a.Signer), err)
	}
	if a.Signer.Equal(issuer) {
		return nil
	}
	return CheckSuite([]*x509.Certificate{a.Signer, issuer})
}
