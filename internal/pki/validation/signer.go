package validation

import (
	"cmp"
	"crypto"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Signer validates the Certificate of a report (EN 319 102-1 5.5.4). It checks that the certificate
// leads to a root, that the algorithms are accepted, and that no certificate in the chain was
// revoked, all at BestTime or, if that is zero, at the time of validation. It also checks that the
// certificate was valid at ClaimedTime. Signer stores the time, the chain, the status of its
// certificates and the result in the report.
func (j Validator) Signer(r *ades.SignatureReport, known *Known) {
	s := signerCheck{document: j.Data, report: r, known: known, at: r.BestTime, now: j.Time}
	if s.at.IsZero() {
		s.at = j.Time
	}
	r.JudgedAt = s.at
	if r.Certificate == nil {
		return
	}
	var fetchErr error
	s.data, fetchErr = j.Online.fetchMissing(j.Data, known, r.Certificate, Times{SigningTime: s.at, ValidationTime: s.at}, Uncached(r.Certificate))
	if fetchErr != nil {
		r.Warnings = append(r.Warnings, unavailableWarning(fetchErr))
	}
	s.check()
}

// CheckClaimedTime returns an error unless the signer's certificate was valid at the time at which
// the signer claims to have signed (EN 319 102-1 5.2.8). The error is [ades.ErrOutsideValidity] if
// the certificate was not valid. Fractions of a second are ignored. The claimed time is no POE, but
// readers see it beside the signer's name.
func CheckClaimedTime(cert *x509.Certificate, claimed time.Time) error {
	claimed = claimed.UTC().Truncate(time.Second)
	switch {
	case claimed.IsZero():
		return errors.New("the signature has no signing time")
	case claimed.Before(cert.NotBefore), claimed.After(cert.NotAfter):
		return fmt.Errorf("%w: the claimed signing time is %s, and the certificate is valid from %s to %s", ades.ErrOutsideValidity,
			claimed.Format(time.RFC3339), cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// CheckHashes fails the report if a hash is not accepted at the time at which the signature was
// judged. The hashes are those of the digests of the signed data, which may differ from the hash of
// the signature. A failure replaces TRY_LATER, because no later validation data makes up for such a
// hash.
func CheckHashes(r *ades.SignatureReport, hashes ...crypto.Hash) {
	for _, h := range hashes {
		err := CheckHash(h, r.JudgedAt)
		if err == nil {
			continue
		}
		if r.SubIndication == ades.TryLater {
			r.Indication, r.SubIndication = "", ""
		}
		r.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
		return
	}
}

// signerCheck is the validation of one signer's certificate.
type signerCheck struct {
	document *Data // embedded in the document
	data     *Data // document and what was fetched
	report   *ades.SignatureReport
	known    *Known
	at       time.Time // at which the certificate is validated
	now      time.Time // the time of validation
}

func (s signerCheck) check() {
	cert := s.report.Certificate
	chain, err := s.chain(s.at)
	switch {
	case errors.Is(err, ades.ErrOutsideValidity):
		indication, sub := s.classifyOutOfBounds(cert)
		s.report.Fail(indication, sub, err.Error())
	case err != nil:
		s.report.Fail(ades.Indeterminate, s.classifyNoChain(cert), err.Error())
	}
	if err := s.known.checkSerialNumbers(chain); err != nil {
		s.report.Fail(ades.Indeterminate, ades.NoCertificateChainFound, err.Error())
	}
	s.report.Chain = chain
	if err := ades.CheckPurpose(cert); err != nil {
		s.report.Fail(ades.Indeterminate, ades.ChainConstraintsFailure, err.Error())
	} else if !ades.AllowsNonRepudiation(cert) {
		s.report.Warnings = append(s.report.Warnings, "The key usage of the signer's certificate is digitalSignature without nonRepudiation.")
	}
	if err := cmp.Or(refuseResponder(cert), checkAuthorities(chain)); err != nil {
		s.report.Fail(ades.Indeterminate, ades.CertificateChainGeneralFailure, err.Error())
	}
	if err := cmp.Or(s.checkAlgorithm(), CheckChain(chain, s.at)); err != nil {
		s.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
	if end := AnnouncedExpiry(s.report.Algorithm, cert.PublicKey, s.at); !end.IsZero() {
		s.report.Warnings = append(s.report.Warnings, fmt.Sprintf(
			"The algorithm or the key is considered secure only until %s.", end.Format(time.DateOnly)))
	}
	if chain != nil {
		s.checkRevocation(chain)
	}
	if err := s.checkClaimedTime(); err != nil {
		s.report.Fail(ades.Indeterminate, ades.SigConstraintsFailure, err.Error())
	}
}

func (s signerCheck) chain(at time.Time) ([]*x509.Certificate, error) {
	return s.data.Chain(s.known, s.report.Certificate, at)
}

// checkAlgorithm checks the algorithm and the key. If one of them is not known here, the check of
// the signature value reports it.
func (s signerCheck) checkAlgorithm() error {
	if key := s.report.Certificate.PublicKey; key != nil && s.report.Algorithm != (ades.Algorithm{}) {
		return CheckAlgorithm(s.report.Algorithm, key, s.at)
	}
	return nil
}

func (s signerCheck) checkClaimedTime() error {
	return CheckClaimedTime(s.report.Certificate, s.report.ClaimedTime)
}

// checkRevocation checks the revocation status of the chain, and stores the status of its
// certificates in the report.
func (s signerCheck) checkRevocation(chain []*x509.Certificate) {
	found := s.data.FindAll(chain, Times{SigningTime: s.at, ValidationTime: s.at})
	s.report.Path = pathStatus(chain, found, s.document)
	err := found.Err()
	var revoked *ades.RevokedError
	switch {
	case err == nil:
	case errors.As(err, &revoked):
		s.report.Fail(ades.Indeterminate, s.classifyRevoked(revoked), err.Error())
	case errors.Is(err, ades.ErrAlgorithm):
		s.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	case s.report.Indication != "", s.checkClaimedTime() != nil: // more data would not change the result
	case len(s.data.OCSP)+len(s.data.CRLs) == 0:
		s.report.Fail(ades.Indeterminate, s.classifyUnknown(), "The document has no revocation data for the signature's certificates.")
	case s.isStatusOutdated(chain):
		s.report.Fail(ades.Indeterminate, ades.RevocationOutOfBoundsNoPOE, err.Error())
	default:
		s.report.Fail(ades.Indeterminate, s.classifyUnknown(), err.Error())
	}
}

// classifyRevoked returns the sub-indication for a revoked certificate. A certificate on hold may
// be released or revoked later (EN 319 102-1 5.2.6.4).
func (s signerCheck) classifyRevoked(by *ades.RevokedError) ades.SubIndication {
	switch {
	case by.Reason == CertificateHold:
		return ades.TryLater
	case by.Certificate.Equal(s.report.Certificate):
		return ades.RevokedNoPOE
	}
	return ades.RevokedCANoPOE
}

// classifyUnknown returns the sub-indication for a chain whose revocation status is not known.
// After the signer's certificate has expired, a later attempt does not help: its authority need not
// keep the status any more (RFC 5280 3.3, RFC 6960 4.4.4).
func (s signerCheck) classifyUnknown() ades.SubIndication {
	if s.now.After(s.report.Certificate.NotAfter) {
		return ades.CertificateChainGeneralFailure
	}
	return ades.TryLater
}

// classifyOutOfBounds returns the result for a chain that is not valid at the time at which it is
// validated. A signature that existed before its certificate was issued cannot belong to it (EN 319
// 102-1 5.5.4).
func (s signerCheck) classifyOutOfBounds(cert *x509.Certificate) (ades.Indication, ades.SubIndication) {
	sub := s.outOfBoundsSubIndication(cert)
	if s.at.Before(cert.NotBefore) && sub == ades.OutOfBoundsNoPOE {
		return ades.TotalFailed, ades.NotYetValid
	}
	return ades.Indeterminate, sub
}

// outOfBoundsSubIndication validates the certificate at the end of its validity or, if there is no
// chain at that time, at the beginning. It first checks whether there is a chain, and then whether
// a certificate was revoked (EN 319 102-1 5.2.6.4, in the order of EU DSS).
// OUT_OF_BOUNDS_NOT_REVOKED needs revocation data which shows that the expired certificate was not
// revoked before its end, and whose signer is still valid.
func (s signerCheck) outOfBoundsSubIndication(cert *x509.Certificate) ades.SubIndication {
	at := cert.NotAfter
	chain, err := s.chain(at)
	if err != nil {
		at = cert.NotBefore
		chain, err = s.chain(at)
	}
	switch {
	case errors.Is(err, ades.ErrNoChain):
		return s.classifyNoChain(cert)
	case err != nil:
		return ades.OutOfBoundsNoPOE
	}
	var revoked *ades.RevokedError
	switch err := s.data.ChainStatus(chain, Times{ValidationTime: at}); {
	case errors.As(err, &revoked) && revoked.Reason != CertificateHold && s.at.After(at):
		return s.classifyRevoked(revoked)
	case err == nil && at.Equal(cert.NotAfter) && s.at.After(at) && s.isStatusCurrent(chain):
		return ades.OutOfBoundsNotRevoked
	case errors.Is(err, ades.ErrNoRevocation) && !errors.Is(err, ades.ErrAlgorithm):
		return ades.CertificateChainGeneralFailure
	}
	return ades.OutOfBoundsNoPOE
}

// classifyNoChain returns the sub-indication for a certificate without a chain. It tells a chain
// with SHA-1 signatures, which once was valid, from no chain at all. With a SHA-1 chain, the
// sub-indication depends on whether the validation data for it is present.
func (s signerCheck) classifyNoChain(cert *x509.Certificate) ades.SubIndication {
	switch {
	case !s.data.HasWeakChain(s.known, cert):
		return ades.NoCertificateChainFound
	case s.data.Present(s.known, Target{Certificate: cert}):
		return ades.CryptoConstraintsFailureNoPOE
	}
	return ades.CertificateChainGeneralFailure
}

// isStatusCurrent reports whether revocation data shows that the lowest certificate was not revoked
// before it expired, and is signed by a certificate that is valid at the time at which the
// signature is validated.
func (s signerCheck) isStatusCurrent(chain []*x509.Certificate) bool {
	return len(chain) < 2 || s.data.Status(chain[0], chain[1], Times{ValidationTime: chain[0].NotAfter, POE: s.at}) == nil
}

// isStatusOutdated reports whether the signer of the newest revocation data about the signer's
// certificate is not valid at the time of validation. Then newer revocation data is needed,
// whatever else is wrong.
func (s signerCheck) isStatusOutdated(chain []*x509.Certificate) bool {
	return len(chain) > 1 && s.data.IsOutdated(chain[0], chain[1], s.now)
}
