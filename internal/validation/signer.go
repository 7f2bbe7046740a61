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
	s := signer{data: j.Data, report: r, known: known, at: r.BestTime}
	if s.at.IsZero() {
		s.at = j.Time
	}
	s.check()
}

// signer is the judgement of one.
type signer struct {
	data   *evidence.Data
	report *ades.SignatureReport
	known  *evidence.Known
	at     time.Time
}

func (s signer) check() {
	cert := s.report.Certificate
	chain, err := s.chain(s.at)
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		s.report.Fail(ades.Indeterminate, s.outOfBounds(cert), err.Error())
	case err != nil:
		s.report.Fail(ades.Indeterminate, ades.NoCertificateChainFound, err.Error())
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

// outOfBounds tells what is the matter with a chain that is not valid at the time of
// judgement: whether there ever was one comes first (EN 319 102-1 5.2.6.4). A certificate
// that has expired, and was not revoked until then as far as the document proves, is told
// from others.
func (s signer) outOfBounds(cert *x509.Certificate) ades.SubIndication {
	at := cert.NotAfter
	chain, err := s.chain(at)
	if err != nil {
		if _, err := s.chain(cert.NotBefore); errors.Is(err, ades.ErrNoChain) {
			return ades.NoCertificateChainFound
		}
		return ades.OutOfBoundsNoPOE
	}
	if s.at.After(at) && s.data.ChainStatus(chain, evidence.Times{Judged: at}) == nil {
		return ades.OutOfBoundsNotRevoked
	}
	return ades.OutOfBoundsNoPOE
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
		s.report.Fail(ades.Indeterminate, ades.TryLater, "The signature carries no revocation data for its certificates.")
	default:
		s.report.Fail(ades.Indeterminate, ades.TryLater, err.Error())
	}
}
