package pades_test

import (
	"crypto/x509"
	"crypto/x509/pkix"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// otherPurposes have a certificate of the authority that is trusted which was issued for something else than signing
// documents.
var otherPurposes = []attack{
	purpose("keyEncipherment", func(c *x509.Certificate) { c.KeyUsage = x509.KeyUsageKeyEncipherment }),
	purpose("a TLS server", extended(x509.ExtKeyUsageServerAuth)),
	purpose("a TLS client", extended(x509.ExtKeyUsageClientAuth)),
	purpose("a certification authority", func(c *x509.Certificate) {
		c.IsCA, c.KeyUsage = true, x509.KeyUsageCertSign|x509.KeyUsageCRLSign|x509.KeyUsageContentCommitment
	}),
	purpose("an OCSP responder", extended(x509.ExtKeyUsageOCSPSigning)),
	purpose("a timestamp authority", extended(x509.ExtKeyUsageTimeStamping)),
}

func extended(usage x509.ExtKeyUsage) func(*x509.Certificate) {
	return func(c *x509.Certificate) { c.ExtKeyUsage = []x509.ExtKeyUsage{usage} }
}

// purpose is a signature with a certificate that is changed.
func purpose(name string, change func(*x509.Certificate)) attack {
	return attack{purposes, name, func(s *scene) []byte {
		template := &x509.Certificate{
			Subject:   pkix.Name{CommonName: "Dæmi um nafn"},
			NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().AddDate(1, 0, 0),
			KeyUsage: x509.KeyUsageDigitalSignature, BasicConstraintsValid: true,
		}
		change(template)
		certificate, err := s.ca.IssueProfile(template, s.signer.key.Public())
		if err != nil {
			s.Fatal(err)
		}
		misused := *s
		misused.signer.signer.Certificate = certificate
		return forgery{}.made(&misused)
	}, failed(ades.ChainConstraintsFailure)}
}
