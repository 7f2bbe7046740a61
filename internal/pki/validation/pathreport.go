package validation

import (
	"bytes"
	"crypto/x509"
	"slices"

	"github.com/innsigli/innsigli/ades"
)

// pathOf is a chain with what was found about each certificate, by the data that the document carries and what was
// fetched. The last is a root, about which nobody is asked.
func pathOf(chain []*x509.Certificate, found Findings, carried *Data) []ades.CertificateStatus {
	var path []ades.CertificateStatus
	for i, cert := range chain {
		var f Finding
		if i < len(found) {
			f = found[i]
		}
		path = append(path, statusOf(cert, f, carried))
	}
	return path
}

// statusOf says what was found about one certificate.
func statusOf(cert *x509.Certificate, f Finding, carried *Data) ades.CertificateStatus {
	s := ades.CertificateStatus{Certificate: cert, Revocation: revocationOf(f)}
	if a := f.Answer; a != nil {
		s.Source, s.ProducedAt, s.ThisUpdate, s.Fetched = ades.SourceOCSP, a.ProducedAt, a.ThisUpdate, !carries(carried, a.Proof)
		if a.Proof.CRL != nil {
			s.Source = ades.SourceCRL
		}
		if a.Revoked != nil {
			s.RevokedAt, s.Reason = a.Revoked.At, a.Revoked.Reason
		}
	}
	return s
}

func revocationOf(f Finding) ades.RevocationStatus {
	switch {
	case f.Answer == nil && f.Err == nil:
		return ades.RevocationNotNeeded
	case f.Answer == nil:
		return ades.RevocationUnknown
	case f.Err == nil:
		return ades.RevocationGood
	case f.Answer.OnHold():
		return ades.RevocationOnHold
	}
	return ades.RevocationRevoked
}

// carries says whether a proof is among the data.
func carries(data *Data, p ades.RevocationData) bool {
	all, der := data.OCSP, p.OCSP
	if p.CRL != nil {
		all, der = data.CRLs, p.CRL
	}
	return slices.ContainsFunc(all, func(one []byte) bool { return bytes.Equal(one, der) })
}
