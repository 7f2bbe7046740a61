package pades

import (
	"cmp"
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
	carried := slices.Concat(v.signed.Certificates, v.store.data.Certificates)
	for _, token := range v.signed.SignatureTimestamps() {
		v.stamps = append(v.stamps, signatureTimestamp(token, v.signed.Value, carried))
	}
	v.known = v.inspection.known.With(slices.Concat(v.signed.Certificates, certificatesOf(v.stamps))...)
	best := at
	for i := range v.stamps {
		v.judge(&v.stamps[i], v.known, at)
		best = v.stamps[i].provenAt(best)
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

// checkChain checks that the certificate leads to a root, that the algorithms are some to
// rely on, and that no certificate was revoked.
func (v *verification) checkChain() {
	cert := v.report.Certificate
	if cert == nil {
		return
	}
	chain, err := v.chain(v.judgedAt())
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		v.report.Fail(ades.Indeterminate, v.outOfBounds(cert), err.Error())
	case err != nil:
		v.report.Fail(ades.Indeterminate, ades.NoCertificateChainFound, err.Error())
	}
	v.report.Chain = chain
	if err := cmp.Or(v.signed.Algorithm().CheckSuite(cert.PublicKey), evidence.CheckSuite(chain)); err != nil {
		v.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
	if chain != nil {
		v.checkRevocation(chain)
	}
}

// chain is the signer's at a time.
func (v *verification) chain(at time.Time) ([]*x509.Certificate, error) {
	return v.store.data.Chain(v.known, v.report.Certificate, at)
}

// outOfBounds tells what is the matter with a chain that is not valid at the time of
// judgement: whether there ever was one comes first (EN 319 102-1 5.2.6.4). A certificate
// that has expired, and was not revoked until then as far as the document proves, is told
// from others.
func (v *verification) outOfBounds(cert *x509.Certificate) ades.SubIndication {
	at := cert.NotAfter
	chain, err := v.chain(at)
	if err != nil {
		if _, err := v.chain(cert.NotBefore); errors.Is(err, ades.ErrNoChain) {
			return ades.NoCertificateChainFound
		}
		return ades.OutOfBoundsNoPOE
	}
	if v.judgedAt().After(at) && v.store.data.ChainStatus(chain, evidence.Times{Judged: at}) == nil {
		return ades.OutOfBoundsNotRevoked
	}
	return ades.OutOfBoundsNoPOE
}

// checkRevocation judges the chain. A certificate on hold counts as revoked: what comes of
// that is not known, and TRY_LATER is for signatures of which nothing bad is.
func (v *verification) checkRevocation(chain []*x509.Certificate) {
	at := v.judgedAt()
	err := v.store.data.ChainStatus(chain, evidence.Times{Used: at, Judged: at})
	var revoked *ades.RevokedError
	switch {
	case err == nil:
	case errors.As(err, &revoked) && revoked.Certificate.Equal(chain[0]):
		v.report.Fail(ades.Indeterminate, ades.RevokedNoPOE, err.Error())
	case errors.As(err, &revoked):
		v.report.Fail(ades.Indeterminate, ades.RevokedCANoPOE, err.Error())
	case errors.Is(err, ades.ErrAlgorithm):
		v.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	case v.report.Indication != "": // more data would not change the result
	case len(v.store.data.OCSP)+len(v.store.data.CRLs) == 0:
		v.report.Fail(ades.Indeterminate, ades.TryLater, "The signature carries no revocation data for its certificates.")
	default:
		v.report.Fail(ades.Indeterminate, ades.TryLater, err.Error())
	}
}
