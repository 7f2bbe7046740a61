package validation

import (
	"cmp"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// Times are the times at which a certificate is validated. A signature with a POE (proof of
// existence, EN 319 102-1 3.1) is validated at the time of that POE alone: SigningTime and
// ValidationTime are both that time. A timestamp states its SigningTime, and is validated at
// ValidationTime, the later time of a POE for the timestamp. If the field POE is set, it is the
// time of a POE for the revocation data: then only revocation data counts whose signer's
// certificate was valid at that time.
type Times struct{ SigningTime, ValidationTime, POE time.Time }

// algorithmTime returns the time at which the algorithms of revocation data have to be accepted.
func (t Times) algorithmTime() time.Time {
	if t.POE.IsZero() {
		return t.ValidationTime
	}
	return t.POE
}

// Answer is what revocation data states about a certificate. The revocation data was verified. Its
// times were not compared with any other time: that is left to the caller.
type Answer struct {
	RevocationData ades.RevocationData
	Signer         *x509.Certificate  // the OCSP responder, or the issuer itself
	ProducedAt     time.Time          // when it was signed; for a CRL its thisUpdate
	ThisUpdate     time.Time          // when the status was known to be correct
	NextUpdate     time.Time          // zero if absent
	ArchiveCutoff  time.Time          // the status of certificates that expired since then is kept; zero if absent
	Revoked        *ades.RevokedError // nil: good
}

// Finding is the result of [Data.Find] for a certificate. Answer is nil if the certificate needs no
// revocation data, or if none counts. Err is the result of [Data.Status].
type Finding struct {
	Answer *Answer
	Err    error
}

// Findings are the findings for the certificates of a chain below its root.
type Findings []Finding

// CertificateHold is the only revocation reason that can be undone (RFC 5280 5.3.1).
const CertificateHold = 6

var (
	errNotAbout = errors.New("validation: the revocation data is not about the certificate")
	errTooMuch  = errors.New("validation: too many signatures to verify")
)

// Status returns nil if the certificate was not revoked at the ValidationTime, and an
// [*ades.RevokedError] if it was. It returns [ades.ErrNoRevocation] if no revocation data is as new
// as the SigningTime or was in force then, also wrapping [ades.ErrAlgorithm] if there is such data
// with a key that [CheckAlgorithm] does not accept. The newest revocation data decides, because an
// authority may put a certificate on hold and release it. Any other revocation is permanent.
func (d *Data) Status(cert, issuer *x509.Certificate, at Times) error {
	return d.Find(cert, issuer, at).Err
}

// Find returns the result of [Data.Status] together with the revocation data that decides.
func (d *Data) Find(cert, issuer *x509.Certificate, at Times) Finding {
	if isExempt(cert) {
		return Finding{}
	}
	answers := d.About(cert, issuer)
	if a := permanentRevocation(answers, at.ValidationTime); a != nil {
		return Finding{a, a.Revoked}
	}
	var newest *Answer
	unreliable := cmp.Or(d.algorithmError(cert, issuer), errors.New("no revocation data for that time"))
	for _, a := range answers {
		if !a.coversCertificate(cert) || !a.isFresh(at.SigningTime) || !a.signerValidAt(at.POE) || !d.isAuthorized(a, issuer, at) {
			continue
		}
		if err := a.checkAlgorithms(issuer, at.algorithmTime()); err != nil {
			unreliable = err
		} else if newest == nil || a.ThisUpdate.After(newest.ThisUpdate) {
			newest = &a
		}
	}
	switch {
	case newest == nil:
		return Finding{nil, fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(cert), unreliable)}
	case newest.Revoked != nil && !newest.Revoked.At.After(at.ValidationTime):
		return Finding{newest, newest.Revoked}
	}
	return Finding{newest, nil}
}

// FindAll returns the finding for each certificate of a chain below its root.
func (d *Data) FindAll(chain []*x509.Certificate, at Times) Findings {
	var all Findings
	for i := 0; i+1 < len(chain); i++ {
		all = append(all, d.Find(chain[i], chain[i+1], at))
	}
	return all
}

// ChainStatus returns the [Findings.Err] of the certificates of a chain below its root.
func (d *Data) ChainStatus(chain []*x509.Certificate, at Times) error {
	return d.FindAll(chain, at).Err()
}

// Err returns the error of the lowest certificate that was revoked. If none was, it returns all
// errors, joined.
func (f Findings) Err() error {
	var unknown []error
	for _, one := range f {
		if errors.Is(one.Err, ades.ErrRevoked) {
			return one.Err
		}
		unknown = append(unknown, one.Err)
	}
	return errors.Join(unknown...)
}

// RevokedBy returns an [*ades.RevokedError] if any revocation data states that the certificate was
// revoked permanently at the time or before.
func (d *Data) RevokedBy(cert, issuer *x509.Certificate, at time.Time) error {
	if a := permanentRevocation(d.About(cert, issuer), at); a != nil {
		return a.Revoked
	}
	return nil
}

// IsOutdated reports whether the signer of the newest revocation data about a certificate is not
// valid at the time. It does not compare the times of the revocation data.
func (d *Data) IsOutdated(cert, issuer *x509.Certificate, at time.Time) bool {
	answers := d.About(cert, issuer)
	if isExempt(cert) || len(answers) == 0 {
		return false
	}
	newest := slices.MaxFunc(answers, func(a, b Answer) int { return a.ThisUpdate.Compare(b.ThisUpdate) })
	return !newest.signerValidAt(at)
}

// permanentRevocation returns the first Answer with a revocation, other than a hold, at the time
// judged or before. Newer revocation data does not undo it: the authority may drop the revocation
// from later revocation data, and a responder may not know of it yet.
func permanentRevocation(answers []Answer, judged time.Time) *Answer {
	for _, a := range answers {
		if a.Revoked != nil && !a.OnHold() && !a.Revoked.At.After(judged) {
			return &a
		}
	}
	return nil
}

// isAuthorized reports whether the signer of the revocation data is the issuer or an OCSP responder
// that was not revoked. The responder's status has to be signed by the issuer, or by a responder
// that is exempt from revocation checking. A responder on hold is not authorized, whenever the hold
// began (EN 319 102-1 5.2.6.4).
func (d *Data) isAuthorized(a Answer, issuer *x509.Certificate, at Times) bool {
	isTrusted := func(c *x509.Certificate) bool { return c.Equal(issuer) || isExempt(c) }
	if isTrusted(a.Signer) {
		return true
	}
	var newest *Answer
	for _, own := range d.About(a.Signer, issuer) {
		if !d.index.work.spend(answerWork) {
			return false
		}
		if !isTrusted(own.Signer) || !own.coversCertificate(a.Signer) {
			continue
		}
		if own.Revoked != nil && !own.OnHold() && !a.predatesRevocation(own.Revoked.At, at) {
			return false
		}
		if own.isFresh(at.SigningTime) && (newest == nil || own.ThisUpdate.After(newest.ThisUpdate)) {
			newest = &own
		}
	}
	return newest != nil && !newest.OnHold()
}

// OnHold reports whether the certificate is revoked with the reason certificateHold.
func (a Answer) OnHold() bool { return a.Revoked != nil && a.Revoked.Reason == CertificateHold }

// coversCertificate reports whether the revocation data can state the status of the certificate:
// the certificate had been issued at thisUpdate and had not expired. An authority need not keep the
// status of an expired certificate, unless it states that it does (archive cutoff, RFC 6960 4.4.4;
// expiredCertsOnCRL of X.509).
func (a Answer) coversCertificate(cert *x509.Certificate) bool {
	return !a.ThisUpdate.Before(cert.NotBefore) &&
		(!a.ThisUpdate.After(cert.NotAfter) || !a.ArchiveCutoff.IsZero() && !a.ArchiveCutoff.After(cert.NotAfter))
}

// isFresh reports whether the revocation data was issued at the time used, at which the key was
// used, or later, or was in force then.
func (a Answer) isFresh(used time.Time) bool { return a.issuedSince(used) || a.NextUpdate.After(used) }

// issuedSince reports whether thisUpdate is the time t or later. It compares whole seconds, because
// authorities state no fractions.
func (a Answer) issuedSince(t time.Time) bool { return !a.ThisUpdate.Before(t.Truncate(time.Second)) }

// signerValidAt reports whether the signer's certificate was valid at known, a time of a POE for
// the revocation data. It reports true if known is zero. Another person may have the key of an
// expired certificate, and so sign with it (EN 319 102-1 5.6.2.3); an authority is not responsible
// for a certificate that is not valid yet. A self-signed certificate is trusted at any time.
func (a Answer) signerValidAt(known time.Time) bool {
	return known.IsZero() || !known.Before(a.Signer.NotBefore) && !known.After(a.Signer.NotAfter) || isSelfSigned(a.Signer)
}

// predatesRevocation reports whether the revocation data was made before its signer was revoked.
// Both its producedAt and the times at which it is known to have existed have to be earlier,
// because a stolen key can sign any time (EN 319 102-1 5.6.2.2).
func (a Answer) predatesRevocation(revoked time.Time, at Times) bool {
	return revoked.After(a.ProducedAt) && revoked.After(at.ValidationTime) && (at.POE.IsZero() || revoked.After(at.POE))
}

// checkAlgorithms applies [CheckAlgorithm] to the key of the signer of the revocation data, at a
// time at which the data existed, and to the signature of the signer's certificate. The hash of the
// revocation data needs no check here: data with a weak hash is not read.
func (a Answer) checkAlgorithms(issuer *x509.Certificate, at time.Time) error {
	algorithm, err := ades.DefaultAlgorithm(a.Signer.PublicKey)
	if err == nil {
		err = CheckAlgorithm(algorithm, a.Signer.PublicKey, at)
	}
	if err != nil {
		return fmt.Errorf("proof by %s: %w", ades.Identify(a.Signer), err)
	}
	if a.Signer.Equal(issuer) {
		return nil
	}
	return CheckChain([]*x509.Certificate{a.Signer, issuer}, at)
}

// readRevocationData parses and verifies revocation data about a certificate.
func (w *work) readRevocationData(p ades.RevocationData, cert, issuer *x509.Certificate) (Answer, error) {
	if p.OCSP != nil {
		response, err := ocsp.Parse(p.OCSP)
		if err != nil {
			return Answer{}, err
		}
		return w.readResponse(response, cert, issuer)
	}
	list, err := crl.Parse(p.CRL)
	if err != nil {
		return Answer{}, err
	}
	return w.readList(list, cert, issuer)
}

// readResponse reads an OCSP response about a certificate. The status "unknown" states nothing
// about the certificate (RFC 6960 2.2).
func (w *work) readResponse(r *ocsp.Response, cert, issuer *x509.Certificate) (Answer, error) {
	single, ok := r.For(cert, issuer)
	if !ok || single.Status == ocsp.Unknown {
		return Answer{}, errNotAbout
	}
	responder, err := w.verifyResponse(r, issuer)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		RevocationData: ades.RevocationData{OCSP: r.Raw}, Signer: responder,
		ProducedAt: r.ProducedAt, ThisUpdate: single.ThisUpdate, NextUpdate: single.NextUpdate, ArchiveCutoff: single.ArchiveCutoff,
	}
	if single.Status == ocsp.Revoked {
		a.Revoked = &ades.RevokedError{Certificate: cert, At: single.RevokedAt, Reason: single.Reason}
	}
	return a, nil
}

func (w *work) readList(l *crl.List, cert, issuer *x509.Certificate) (Answer, error) {
	if err := w.verifyList(l, issuer); err != nil {
		return Answer{}, err
	}
	if !w.spend(int64(len(l.Raw))) {
		return Answer{}, errTooMuch
	}
	entry, err := l.Find(cert)
	if err != nil {
		return Answer{}, err
	}
	a := Answer{
		RevocationData: ades.RevocationData{CRL: l.Raw}, Signer: issuer,
		ProducedAt: l.ThisUpdate, ThisUpdate: l.ThisUpdate, NextUpdate: l.NextUpdate, ArchiveCutoff: l.ExpiredSince,
	}
	if entry != nil {
		a.Revoked = &ades.RevokedError{Certificate: cert, At: entry.RevokedAt, Reason: entry.Reason}
	}
	return a, nil
}

// pathStatus returns the status of each certificate of a chain. The last certificate is a root, for
// which no revocation data is needed. Revocation data that is not in document was fetched.
func pathStatus(chain []*x509.Certificate, found Findings, document *Data) []ades.CertificateStatus {
	var path []ades.CertificateStatus
	for i, cert := range chain {
		var f Finding
		if i < len(found) {
			f = found[i]
		}
		path = append(path, certificateStatus(cert, f, document))
	}
	return path
}

func certificateStatus(cert *x509.Certificate, f Finding, document *Data) ades.CertificateStatus {
	s := ades.CertificateStatus{Certificate: cert, Revocation: revocationStatus(f)}
	if a := f.Answer; a != nil {
		s.Source, s.ProducedAt, s.ThisUpdate, s.Fetched = ades.SourceOCSP, a.ProducedAt, a.ThisUpdate, !document.contains(a.RevocationData)
		if a.RevocationData.CRL != nil {
			s.Source = ades.SourceCRL
		}
		if a.Revoked != nil {
			s.RevokedAt, s.Reason = a.Revoked.At, a.Revoked.Reason
		}
	}
	return s
}

func revocationStatus(f Finding) ades.RevocationStatus {
	switch {
	case f.Answer == nil && f.Err == nil:
		return ades.RevocationNotNeeded
	case f.Answer == nil:
		return ades.RevocationUnknown
	case f.Err == nil:
		return ades.RevocationGood
	case f.Answer.OnHold():
		return ades.RevocationOnHold
	}
	return ades.RevocationRevoked
}
