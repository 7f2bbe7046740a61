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

// Signer checks that a report's Certificate leads to a root, that the algorithms are some to
// rely on, and that no certificate was revoked, all as of BestTime or else the time of judgement
// (EN 319 102-1 5.5.4), and that the certificate was valid at ClaimedTime. It notes the chain and the path.
func (j Judge) Signer(r *ades.SignatureReport, known *Known) {
	s := signerCheck{document: j.Data, report: r, known: known, at: r.BestTime, now: j.Time}
	if s.at.IsZero() {
		s.at = j.Time
	}
	r.JudgedAt = s.at
	if r.Certificate == nil {
		return
	}
	var fetchErr error
	s.data, fetchErr = j.Online.fetchMissing(j.Data, known, r.Certificate, Times{SigningTime: s.at, ValidationTime: s.at})
	if fetchErr != nil {
		r.Warnings = append(r.Warnings, unavailableWarning(fetchErr))
	}
	s.check()
}

// signer is the judgement of one.
type signerCheck struct {
	document *Data // by the document
	data     *Data // with what was fetched
	report   *ades.SignatureReport
	known    *Known
	at       time.Time
	now      time.Time // of the judgement, at which at is known
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
	s.report.Chain = chain
	if err := ades.CheckPurpose(cert); err != nil {
		s.report.Fail(ades.Indeterminate, ades.ChainConstraintsFailure, err.Error())
	} else if !ades.AllowsNonRepudiation(cert) {
		s.report.Warnings = append(s.report.Warnings, "The key usage of the signer's certificate is digitalSignature without nonRepudiation.")
	}
	if err := cmp.Or(s.known.checkUnaltered(chain), CheckSigner(cert), CheckAuthorities(chain)); err != nil {
		s.report.Fail(ades.Indeterminate, ades.CertificateChainGeneralFailure, err.Error())
	}
	if err := cmp.Or(s.checkAlgorithm(), CheckChain(chain, s.at)); err != nil {
		s.report.Fail(ades.Indeterminate, ades.CryptoConstraintsFailureNoPOE, err.Error())
	}
	if end := Announced(s.report.Algorithm, cert.PublicKey, s.at); !end.IsZero() {
		s.report.Warnings = append(s.report.Warnings, fmt.Sprintf(
			"The algorithm or the key is announced to be relied upon before %s only.", end.Format(time.DateOnly)))
	}
	if chain != nil {
		s.checkRevocation(chain)
	}
	if err := s.checkClaimedTime(); err != nil {
		s.report.Fail(ades.Indeterminate, ades.SigConstraintsFailure, err.Error())
	}
}

// checkAlgorithm checks that the algorithm and the key may be relied upon. If either is not known here, the check of the
// signature's value says which.
func (s signerCheck) checkAlgorithm() error {
	if key := s.report.Certificate.PublicKey; key != nil && s.report.Algorithm != (ades.Algorithm{}) {
		return CheckAlgorithm(s.report.Algorithm, key, s.at)
	}
	return nil
}

func (s signerCheck) checkClaimedTime() error {
	return CheckClaimedTime(s.report.Certificate, s.report.ClaimedTime)
}

// chain is the signer's at a time.
func (s signerCheck) chain(at time.Time) ([]*x509.Certificate, error) {
	return s.data.Chain(s.known, s.report.Certificate, at)
}

// checkRevocation judges the chain, and notes what was found.
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
		s.report.Fail(ades.Indeterminate, s.classifyUnknown(), "The signature carries no revocation data for its certificates.")
	case s.isStatusOutdated(chain):
		s.report.Fail(ades.Indeterminate, ades.RevocationOutOfBoundsNoPOE, err.Error())
	default:
		s.report.Fail(ades.Indeterminate, s.classifyUnknown(), err.Error())
	}
}

// revoked is what comes of a certificate that was revoked. What will come of one on hold is not known yet
// (EN 319 102-1 5.2.6.4).
func (s signerCheck) classifyRevoked(by *ades.RevokedError) ades.SubIndication {
	switch {
	case by.Reason == CertificateHold:
		return ades.TryLater
	case by.Certificate.Equal(s.report.Certificate):
		return ades.RevokedNoPOE
	}
	return ades.RevokedCANoPOE
}

// unproven is what comes of a status that nothing proves. Of a certificate that has expired there may be no proof
// any more: authorities may forget about it (RFC 5280 3.3, RFC 6960 4.4.4), and trying later is in vain.
func (s signerCheck) classifyUnknown() ades.SubIndication {
	if s.now.After(s.report.Certificate.NotAfter) {
		return ades.CertificateChainGeneralFailure
	}
	return ades.TryLater
}

// CheckClaimedTime makes sure that the time at which a signer claims to have signed is one at which the
// certificate was valid (EN 319 102-1 5.2.8): seconds count. It proves nothing, but whoever reads a signature
// reads that time beside the name. [ades.ErrOutsideValidity] when it is not.
func CheckClaimedTime(cert *x509.Certificate, claimed time.Time) error {
	claimed = claimed.UTC().Truncate(time.Second)
	switch {
	case claimed.IsZero():
		return errors.New("the signature does not say when it was made")
	case claimed.Before(cert.NotBefore), claimed.After(cert.NotAfter):
		return fmt.Errorf("%w: it is claimed to have signed at %s, and valid from %s to %s", ades.ErrOutsideValidity,
			claimed.Format(time.RFC3339), cert.NotBefore.UTC().Format(time.RFC3339), cert.NotAfter.UTC().Format(time.RFC3339))
	}
	return nil
}

// CheckHashes makes sure that the digests of what is signed, which may be by other hashes than the signature is,
// are some to rely on when the signature is judged. No data that comes later makes up for one that is not.
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

// outOfBounds tells what is the matter with a chain that is not valid at the time of judgement: whether there ever
// was one comes first, and then whether anything says that it was not revoked while it was valid (EN 319 102-1
// 5.2.6.4, in the order of EU DSS). A certificate that has expired, and of which it is known that it was not
// revoked until then, is told from others: who says so has to be in force still. A signature that existed before
// its certificate is none of its (5.5.4).
func (s signerCheck) classifyOutOfBounds(cert *x509.Certificate) (ades.Indication, ades.SubIndication) {
	sub := s.outOfBoundsSubIndication(cert)
	if s.at.Before(cert.NotBefore) && sub == ades.OutOfBoundsNoPOE {
		return ades.TotalFailed, ades.NotYetValid
	}
	return ades.Indeterminate, sub
}

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

// noChain tells a chain that was good while SHA-1 was from none at all: nothing says that it was not revoked, or
// nobody relies on what does.
func (s signerCheck) classifyNoChain(cert *x509.Certificate) ades.SubIndication {
	switch {
	case !s.data.HasWeakChain(s.known, cert):
		return ades.NoCertificateChainFound
	case s.data.Present(s.known, Target{Certificate: cert}):
		return ades.CryptoConstraintsFailureNoPOE
	}
	return ades.CertificateChainGeneralFailure
}

// isStatusCurrent reports whether the status of the lowest certificate is from who is in force at the time of judgement.
func (s signerCheck) isStatusCurrent(chain []*x509.Certificate) bool {
	return len(chain) < 2 || s.data.Status(chain[0], chain[1], Times{ValidationTime: chain[0].NotAfter, POE: s.at}) == nil
}

// isStatusOutdated reports whether what is known of the signer last is from who is not in force at the time of judgement:
// newer data, and not only later data, would have to be had, whatever else is the matter.
func (s signerCheck) isStatusOutdated(chain []*x509.Certificate) bool {
	return len(chain) > 1 && s.data.IsOutdated(chain[0], chain[1], s.now)
}
