package ca

import (
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// OCSP answers a DER OCSPRequest as of a time (RFC 6960 2.2): good, revoked, or
// unknown for a certificate that the authority did not issue. Every request gets a
// DER OCSPResponse, also one that cannot be read. The answer is made for the
// request, with its nonce, and its times have whole seconds.
func (a *Authority) OCSP(request []byte, now time.Time) []byte {
	r, err := ocsp.ParseRequest(request)
	if err != nil {
		return ocsp.Refuse(ocsp.MalformedRequest)
	}
	a.mu.RLock()
	defer a.mu.RUnlock()
	answer := ocsp.Response{ProducedAt: now, Nonce: r.Nonce}
	issuer, responder := a.issuing, a.responder
	if r.IDs[0].IssuedBy(a.root.certificate) {
		issuer, responder = a.root, a.root // answers for itself, 4.2.2.2
	} else {
		answer.Certificates = []*x509.Certificate{responder.certificate}
	}
	for _, id := range r.IDs {
		answer.Singles = append(answer.Singles, a.status(id, issuer.certificate, now))
	}
	der, err := ocsp.Create(answer, responder.certificate, responder.key)
	if err != nil {
		return ocsp.Refuse(ocsp.InternalError)
	}
	return der
}

// status answers about one certificate. One response is signed for one issuer, so
// the certificates of another are unknown to it.
func (a *Authority) status(id ocsp.CertID, issuer *x509.Certificate, now time.Time) ocsp.Single {
	s := ocsp.Single{ID: id, ThisUpdate: now, NextUpdate: now.Add(answerLife)}
	if !id.IssuedBy(issuer) || !a.issued(issuer, id.Serial) {
		s.Status = ocsp.Unknown
	} else if r, ok := a.revocationOf(id.Serial, now); ok {
		s.Status, s.RevokedAt, s.Reason = ocsp.Revoked, r.At, r.Reason
	}
	return s
}
