package report

import "github.com/innsigli/innsigli/ades"

// CertificateStatus is a certificate of a path and what was found about its revocation, [ades.CertificateStatus].
type CertificateStatus struct {
	Certificate Certificate           `json:"certificate"`
	Revocation  ades.RevocationStatus `json:"revocation"`
	RevokedAt   Time                  `json:"revokedAt"`
	Reason      int                   `json:"reason"` // CRLReason (RFC 5280 5.3.1)
	Source      ades.RevocationSource `json:"source"`
	ProducedAt  Time                  `json:"producedAt"`
	ThisUpdate  Time                  `json:"thisUpdate"`
	Fetched     bool                  `json:"fetched"`
}

func pathOf(path []ades.CertificateStatus) []CertificateStatus {
	out := []CertificateStatus{}
	for _, s := range path {
		out = append(out, CertificateStatus{
			Certificate: certificateOf(s.Certificate), Revocation: s.Revocation, RevokedAt: Time{s.RevokedAt}, Reason: s.Reason,
			Source: s.Source, ProducedAt: Time{s.ProducedAt}, ThisUpdate: Time{s.ThisUpdate}, Fetched: s.Fetched,
		})
	}
	return out
}
