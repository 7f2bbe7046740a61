package ca

import "github.com/innsigli/innsigli/internal/pki/cms"

// Issuers returns the certificates of [Authority.Chain] as caIssuers addresses have
// them where there are several: a SignedData that carries certificates alone, DER
// (RFC 5280 4.2.2.1).
func (a *Authority) Issuers() ([]byte, error) { return cms.MarshalCertificates(a.Chain()) }
