package validation

import (
	"cmp"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
)

// Signer checks that a report's Certificate leads to a root, that the algorithms are some to
// rely on, and that no certificate was revoked, all as of BestTime or else the time of judgement
// (EN 319 102-1 5.5.4), and that the certificate was valid at ClaimedTime. It notes the chain.
func (j Judge) Signer(r *ades.SignatureReport, known *evidence.Known) {
	if r.Certificate == nil {
		return
	}
	s := signer{data: j.Data, report: r, known: known, at: r.BestTime, now: j.Time}
	if s.at.IsZero() {
		s.at = j.Time
	}
	var asked error
	s.data, asked = j.Online.supply(j.Data, known, r.Certificate, evidence.Times{Used: s.at, Judged: s.at})
	if asked != nil {
		r.Warnings = append(r.Warnings, inVain(asked))
	}
	s.check()
}

// signer is the judgement of one.
type signer struct {
	data   *evidence.Data
	report *ades.SignatureReport
	known  *evidence.Known
	at     time.Time
	now    time.Time // of the judgement, at which at is known
}

func (s signer) check() {
	cert := s.report.Certificate
	chain, err := s.chain(s.at)
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		s.report.Fail(ades.Indeterminate, s.outOfBounds(cert), err.Error())
	case err != nil:
		s.report.Fail(ades.Indeterminate, s.noChain(cert), err.Error())
	}
	s.report.Chain = chain
	if err := cmp.Or(s.report.Algorithm.CheckSuite(cert.PublicKey), evidence.CheckSuite(chain)); err != nil {
		s.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
	if chain != nil {
		s.checkRevocation(chain)
	}
	if err := s.claimed(); err != nil {
		s.report.Fail(ades.Indeterminate, ades.SigConstraintsFailure, err.Error())
	}
}

func (s signer) claimed() error { return CheckClaimedTime(s.report.Certificate, s.report.ClaimedTime) }

// chain is the signer's at a time.
func (s signer) chain(at time.Time) ([]*x509.Certificate, error) {
	return s.data.Chain(s.known, s.report.Certificate, at)
}

// checkRevocation judges the chain. A certificate on hold counts as revoked: what comes of
// that is not known, and TRY_LATER is for signatures of which nothing bad is.
func (s signer) checkRevocation(chain []*x509.Certificate) {
	err := s.data.ChainStatus(chain, evidence.Times{Used: s.at, Judged: s.at})
	var revoked *ades.RevokedError
	switch {
	case err == nil:
	case errors.As(err, &revoked) && revoked.Certificate.Equal(chain[0]):
		s.report.Fail(ades.Indeterminate, ades.RevokedNoPOE, err.Error())
	case errors.As(err, &revoked):
		s.report.Fail(ades.Indeterminate, ades.RevokedCANoPOE, err.Error())
	case errors.Is(err, ades.ErrAlgorithm):
		s.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	case s.report.Indication != "", s.claimed() != nil: // more data would not change the result
	case len(s.data.OCSP)+len(s.data.CRLs) == 0:
		s.report.Fail(ades.Indeterminate, s.unproven(), "The signature carries no revocation data for its certificates.")
	case s.isLapsed(chain):
		s.report.Fail(ades.Indeterminate, ades.RevocationOutOfBoundsNoPOE, err.Error())
	default:
		s.report.Fail(ades.Indeterminate, s.unproven(), err.Error())
	}
}

// unproven is what comes of a status that nothing proves. Of a certificate that has expired there may be no proof
// any more: authorities may forget about it (RFC 5280 3.3, RFC 6960 4.4.4), and trying later is in vain.
func (s signer) unproven() ades.SubIndication {
	if s.now.After(s.report.Certificate.NotAfter) {
		return ades.CertificateChainGeneralFailure
	}
	return ades.TryLater
}
