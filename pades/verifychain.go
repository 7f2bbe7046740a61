package pades

import (
	"crypto/x509"
	"errors"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/evidence"
)

// checkTimestamps judges the timestamps that the signature carries, as of the earliest
// time at which a document timestamp proves that they existed, and notes all that are
// over the signature.
func (v *verification) checkTimestamps() {
	at := v.options.Time
	for _, t := range slices.Backward(v.later()) {
		at = t.provenAt(at)
	}
	best := at
	for _, token := range v.signed.SignatureTimestamps() {
		t := signatureTimestamp(token, v.signed.Value, slices.Concat(v.signed.Certificates, v.evidence.Certificates))
		v.judge(&t, at)
		v.stamps, best = append(v.stamps, t), t.provenAt(best)
	}
	for _, t := range slices.Concat(v.stamps, v.later()) {
		v.report.Timestamps = append(v.report.Timestamps, t.report)
		if t.report.Trusted {
			v.report.BestTime = best
		}
	}
}

// judgedAt is the time as of which the signer is judged (EN 319 102-1 5.5.4).
func (v *verification) judgedAt() time.Time {
	if v.report.BestTime.IsZero() {
		return v.options.Time
	}
	return v.report.BestTime
}

// checkChain checks that the certificate leads to a root, that the algorithm is one to
// rely on, and that no certificate was revoked.
func (v *verification) checkChain() {
	cert := v.report.Certificate
	if cert == nil {
		return
	}
	known := slices.Concat(v.signed.Certificates, v.evidence.Certificates)
	chain, err := ades.Chain(cert, known, v.options.Roots, v.judgedAt())
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		v.report.Fail(ades.Indeterminate, v.outOfBounds(cert, known), err.Error())
	case err != nil:
		v.report.Fail(ades.Indeterminate, ades.NoCertificateChainFound, err.Error())
	}
	v.report.Chain = chain
	if err := v.signed.Algorithm().CheckSuite(cert.PublicKey); err != nil {
		v.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
	if chain != nil {
		v.checkRevocation(chain)
	}
}

// outOfBounds tells what is the matter with a chain that is not valid at the time of
// judgement: whether there ever was one comes first (EN 319 102-1 5.2.6.4). A certificate
// that has expired, and was not revoked until then as far as the document proves, is told
// from others.
func (v *verification) outOfBounds(cert *x509.Certificate, known []*x509.Certificate) ades.SubIndication {
	at := cert.NotAfter
	chain, err := ades.Chain(cert, known, v.options.Roots, at)
	if err != nil {
		if _, err := ades.Chain(cert, known, v.options.Roots, cert.NotBefore); errors.Is(err, ades.ErrNoChain) {
			return ades.NoCertificateChainFound
		}
		return ades.OutOfBoundsNoPOE
	}
	if v.judgedAt().After(at) && v.evidence.ChainStatus(chain, evidence.Times{Judged: at}) == nil {
		return ades.OutOfBoundsNotRevoked
	}
	return ades.OutOfBoundsNoPOE
}

// checkRevocation judges the chain. A certificate on hold counts as revoked: what comes of
// that is not known, and TRY_LATER is for signatures of which nothing bad is.
func (v *verification) checkRevocation(chain []*x509.Certificate) {
	at := v.judgedAt()
	err := v.evidence.ChainStatus(chain, evidence.Times{Used: at, Judged: at})
	var revoked *ades.RevokedError
	switch {
	case err == nil:
	case errors.As(err, &revoked) && revoked.Certificate.Equal(chain[0]):
		v.report.Fail(ades.Indeterminate, ades.RevokedNoPOE, err.Error())
	case errors.As(err, &revoked):
		v.report.Fail(ades.Indeterminate, ades.RevokedCANoPOE, err.Error())
	case v.report.Indication != "": // more data would not change the result
	case len(v.evidence.OCSP)+len(v.evidence.CRLs) == 0:
		v.report.Fail(ades.Indeterminate, ades.TryLater, "The signature carries no revocation data for its certificates.")
	default:
		v.report.Fail(ades.Indeterminate, ades.TryLater, err.Error())
	}
}
