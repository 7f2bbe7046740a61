package pades_test

import (
	"context"
	"crypto"
	"crypto/x509"
	"crypto/x509/pkix"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	pdftest "github.com/innsigli/innsigli/internal/test/pdf"
	"github.com/innsigli/innsigli/internal/test/validators"
	"github.com/innsigli/innsigli/pades"
)

// forgedMessages have a CMS that says something else than it seems to.
var forgedMessages = []attack{
	{signedDataOf, "a second SignerInfo", resealed(func(m *signedMessage) { m.signers = slices.Concat(m.signers, m.signers) }), failed(ades.FormatFailure)},
	{signedDataOf, "no SignerInfo", resealed(func(m *signedMessage) { m.signers = nil }), failed(ades.FormatFailure)},
	{signedDataOf, "encapsulated content", resealed(func(m *signedMessage) { m.content = carrying("what was really signed") }), failed(ades.FormatFailure)},
	{signedDataOf, "encapsulated empty content", resealed(func(m *signedMessage) { m.content = carrying("") }), failed(ades.FormatFailure)},
	{signedDataOf, "something behind the CMS in Contents", forgery{seal: func(s *scene, covered []byte) []byte {
		return append(honest(s, covered), "nobody signed this"...)
	}}.made, failed(ades.FormatFailure)},
	{signedDataOf, "signed attributes left out", resealed((*signedMessage).withoutAttributes), notPassed},
	{signedDataOf, "signed attributes of another signature", func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			p := s.parts(covered)
			p.Value = s.parts([]byte("something else")).Value
			return s.marshal(p)
		}}.made(s)
	}, failed(ades.SigCryptoFailure)},
	{signedDataOf, "the signature of another document", func(s *scene) []byte {
		return forgery{seal: func(s *scene, _ []byte) []byte { return honest(s, []byte("another document")) }}.made(s)
	}, failed(ades.HashFailure)},
	{signedDataOf, "a weak digest", func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			o := validators.SignOptions{Key: s.signer.key, Certificate: s.signer.signer.Certificate, Chain: s.signer.signer.Chain}
			return validators.OpenSSLSign(s, o, "sha1", covered)
		}}.made(s)
	}, failed(ades.CryptoConstraintsFailureNoPOE)},
	{signedDataOf, "a certificate of the same key and another name", func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			p := s.parts(covered)
			p.Certificate = s.renamed()
			return s.marshal(p)
		}}.made(s)
	}, failed(ades.NoSigningCertificateFound)},
	{signedDataOf, "a certificate of nobody who is trusted", func(s *scene) []byte {
		return sign(s, pdftest.Build(contractOptions()), s.attacker, pades.Options{Name: "Dæmi um nafn"})
	}, failed(ades.NoCertificateChainFound)},
	{proofs, "the timestamp of another signature", func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			p := s.parts(covered)
			p.SignatureTimestamp = s.stamped([]byte("the value of another signature"))
			return s.marshal(p)
		}}.made(s)
	}, unproven},
	{proofs, "a timestamp of nobody who is trusted", func(s *scene) []byte {
		return forgery{seal: func(s *scene, covered []byte) []byte {
			p := s.parts(covered)
			other := *s
			other.ca = s.attacker.ca
			p.SignatureTimestamp = other.stamped(p.Value)
			return s.marshal(p)
		}}.made(s)
	}, unproven},
}

// unproven: there is a timestamp, and its fault is told; it proves nothing.
func unproven(report *ades.Report) bool {
	return len(report.Signatures) == 1 && report.Signatures[0].BestTime.IsZero() && report.Signatures[0].Indication != ades.TotalPassed &&
		len(report.Signatures[0].Timestamps) == 1 && len(report.Signatures[0].Timestamps[0].Problems) > 0
}

// renamed is a certificate of the signer's key in another name, of the same authority.
func (s *scene) renamed() *x509.Certificate {
	s.Helper()
	c, err := s.ca.Issue("Somebody Else", "0101302989", s.signer.key.Public(), time.Now())
	if err != nil {
		s.Fatal(err)
	}
	return c
}

// stamped is a token of the authority over something.
func (s *scene) stamped(b []byte) []byte {
	s.Helper()
	token, err := s.ca.Sources(nil).Time.Timestamp(context.WithoutCancel(s.Context()), crypto.SHA256, digestOf(b))
	if err != nil {
		s.Fatal(err)
	}
	return token
}

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
