package evidence

import (
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/crl"
	"github.com/innsigli/innsigli/internal/ocsp"
)

// Answer is what a proof says about a certificate. The proof was verified; whether
// its times fit is left to whoever knows the time that matters.
type Answer struct {
	Proof      ades.Proof
	Signer     *x509.Certificate  // the responder, or the issuer itself
	ProducedAt time.Time          // when it was signed; of a CRL its ThisUpdate
	ThisUpdate time.Time          // since when it is known to be so
	NextUpdate time.Time          // zero when not said
	Revoked    *ades.RevokedError // nil: good
}

var errNotAbout = errors.New("evidence: the proof is not about the certificate")

// read reads and verifies a proof about a certificate.
func read(p ades.Proof, cert, issuer *x509.Certificate) (Answer, error) {
	if p.OCSP != nil {
		response, err := ocsp.Parse(p.OCSP)
		if err != nil {
			return Answer{}, err
		}
		return readResponse(response, cert, issuer)
	}
	list, err := crl.Parse(p.CRL)
	if err != nil {
		return Answer{}, err
	}
	if err := list.Verify(issuer); err != nil {
		return Answer{}, err
	}
	return readList(list, cert, issuer)
}

// readResponse: "unknown" is no proof of anything (RFC 6960 2.2).
func readResponse(r *ocsp.Response, cert, issuer *x509.Certificate) (Answer, error) {
	single, ok := r.For(cert, issuer)
	if !ok || single.Status == ocsp.Unknown {
		return Answer{}, errNotAbout
	}
	responder, err := r.Verify(issuer)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		Proof: ades.Proof{OCSP: r.Raw}, Signer: responder,
		ProducedAt: r.ProducedAt, ThisUpdate: single.ThisUpdate, NextUpdate: single.NextUpdate,
	}
	if single.Status == ocsp.Revoked {
		a.Revoked = &ades.RevokedError{Certificate: cert, At: single.RevokedAt, Reason: single.Reason}
	}
	return a, nil
}

// readList looks into a list that was verified.
func readList(l *crl.List, cert, issuer *x509.Certificate) (Answer, error) {
	entry, err := l.Find(cert)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		Proof: ades.Proof{CRL: l.Raw}, Signer: issuer,
		ProducedAt: l.ThisUpdate, ThisUpdate: l.ThisUpdate, NextUpdate: l.NextUpdate,
	}
	if entry != nil {
		a.Revoked = &ades.RevokedError{Certificate: cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return a, nil
}
