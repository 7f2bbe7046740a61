package validation

import (
	"bytes"
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

// Times are what a certificate is judged by. A signature that is proven to have existed at some time is judged by that
// time alone. A timestamp states its SigningTime itself, and is judged at the later ValidationTime at which it is known to
// have existed. With a POE, the time at which the revocation data is proven to have existed (EN 319 102-1 3.1), that data
// counts whose signers were valid then.
type Times struct{ SigningTime, ValidationTime, POE time.Time }

// relied is when algorithms have to be some to rely on.
func (t Times) algorithmTime() time.Time {
	if t.POE.IsZero() {
		return t.ValidationTime
	}
	return t.POE
}

// Finding is what was found about a certificate: what [Data.Status] says of it, and the proof by which it does,
// which is nil where none is needed or none counts.
type Finding struct {
	Answer *Answer
	Err    error
}

// Status judges a certificate by the proofs: nil when it was not revoked at the time of
// judgement, an [*ades.RevokedError] when it was, and [ades.ErrNoRevocation] when no proof
// is as new as the use of the key or was in force then, beside [ades.ErrAlgorithm] when
// there is one by a key that [CheckAlgorithm] does not rely on. The newest proof
// holds, since a certificate may be put on hold and released; all else is for good.
func (d *Data) Status(cert, issuer *x509.Certificate, at Times) error {
	return d.Find(cert, issuer, at).Err
}

// Find is [Data.Status] with the proof.
func (d *Data) Find(cert, issuer *x509.Certificate, at Times) Finding {
	if isExempt(cert) {
		return Finding{}
	}
	answers := d.About(cert, issuer)
	if a := permanentRevocation(answers, at.ValidationTime); a != nil {
		return Finding{a, a.Revoked}
	}
	var newest *Answer
	unreliable := cmp.Or(d.algorithmError(cert, issuer), errors.New("no proof of that time"))
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

// RevokedBy returns an [*ades.RevokedError] if the certificate was revoked at a time or before, for good, by
// whatever proof.
func (d *Data) RevokedBy(cert, issuer *x509.Certificate, at time.Time) error {
	if a := permanentRevocation(d.About(cert, issuer), at); a != nil {
		return a.Revoked
	}
	return nil
}

// IsOutdated reports whether the newest proof about a certificate, be it of whatever day, is from who is not in force
// at a time.
func (d *Data) IsOutdated(cert, issuer *x509.Certificate, at time.Time) bool {
	answers := d.About(cert, issuer)
	if isExempt(cert) || len(answers) == 0 {
		return false
	}
	newest := slices.MaxFunc(answers, func(a, b Answer) int { return a.ThisUpdate.Compare(b.ThisUpdate) })
	return !newest.signerValidAt(at)
}

// Findings are about the certificates of a chain below its root.
type Findings []Finding

// FindAll looks at each certificate of a chain below its root.
func (d *Data) FindAll(chain []*x509.Certificate, at Times) Findings {
	var all Findings
	for i := 0; i+1 < len(chain); i++ {
		all = append(all, d.Find(chain[i], chain[i+1], at))
	}
	return all
}

// Err is about the lowest that was revoked, or else what is not known, joined.
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

// ChainStatus judges the certificates of a chain below its root.
func (d *Data) ChainStatus(chain []*x509.Certificate, at Times) error {
	return d.FindAll(chain, at).Err()
}

// CertificateHold is the one reason that can be undone (RFC 5280 5.3.1).
const CertificateHold = 6

// OnHold reports whether the proof is of a revocation that may be undone.
func (a Answer) OnHold() bool { return a.Revoked != nil && a.Revoked.Reason == CertificateHold }

// permanentRevocation returns what says of a revocation that no newer proof undoes: an authority may forget
// about it, and a responder not have heard of it yet.
func permanentRevocation(answers []Answer, judged time.Time) *Answer {
	for _, a := range answers {
		if a.Revoked != nil && !a.OnHold() && !a.Revoked.At.After(judged) {
			return &a
		}
	}
	return nil
}

// isAuthorized reports whether who signed the proof is the issuer, or a responder about which the issuer says that it
// is not revoked, itself or by one that need not be asked about. A responder on hold speaks for nobody, since when
// it may be (EN 319 102-1 5.2.6.4).
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

// predatesRevocation reports whether a proof is from before its signer was revoked: as it says itself, and as is known of it,
// since a key that is somebody else's signs whatever time (EN 319 102-1 5.6.2.2).
func (a Answer) predatesRevocation(revoked time.Time, at Times) bool {
	return revoked.After(a.ProducedAt) && revoked.After(at.ValidationTime) && (at.POE.IsZero() || revoked.After(at.POE))
}

// pathStatus is a chain with what was found about each certificate, by the data that the document carries and what was
// fetched. The last is a root, about which nobody is asked.
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

// certificateStatus says what was found about one certificate.
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

// carries reports whether a proof is among the data.
func (d *Data) contains(p ades.RevocationData) bool {
	all, der := d.OCSP, p.OCSP
	if p.CRL != nil {
		all, der = d.CRLs, p.CRL
	}
	return slices.ContainsFunc(all, func(one []byte) bool { return bytes.Equal(one, der) })
}

// Answer is what a proof says about a certificate. The proof was verified; whether
// its times fit is left to whoever knows the time that matters.
type Answer struct {
	RevocationData ades.RevocationData
	Signer         *x509.Certificate  // the responder, or the issuer itself
	ProducedAt     time.Time          // when it was signed; of a CRL its ThisUpdate
	ThisUpdate     time.Time          // since when it is known to be so
	NextUpdate     time.Time          // zero when not said
	ArchiveCutoff  time.Time          // of what expired since then the status is kept; zero: not said
	Revoked        *ades.RevokedError // nil: good
}

var (
	errNotAbout = errors.New("validation: the revocation data is not about the certificate")
	errTooMuch  = errors.New("validation: too much to verify")
)

// readRevocationData reads and verifies a proof about a certificate.
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

// readResponse: "unknown" is no proof of anything (RFC 6960 2.2).
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

// coversCertificate reports whether a proof of its time says anything about the certificate: it was
// issued then, and had not expired, which is when authorities may forget about it unless
// they say that they do not (RFC 6960 4.4.4, expiredCertsOnCRL of X.509).
func (a Answer) coversCertificate(cert *x509.Certificate) bool {
	return !a.ThisUpdate.Before(cert.NotBefore) &&
		(!a.ThisUpdate.After(cert.NotAfter) || !a.ArchiveCutoff.IsZero() && !a.ArchiveCutoff.After(cert.NotAfter))
}

// signerValidAt reports whether the proof is from whom it seems to be, given a time at which it is known to have existed;
// zero: any. The key of one that has expired may be anybody's (EN 319 102-1 5.6.2.3), and nobody answers for one that
// is not valid yet. Roots are trusted as they are.
func (a Answer) signerValidAt(known time.Time) bool {
	return known.IsZero() || !known.Before(a.Signer.NotBefore) && !known.After(a.Signer.NotAfter) || isSelfSigned(a.Signer)
}

// issuedSince reports whether the proof is from a time or later, in seconds, as authorities count.
func (a Answer) issuedSince(t time.Time) bool { return !a.ThisUpdate.Before(t.Truncate(time.Second)) }

// isFresh reports whether the proof is as new as the use of a key, or was in force then.
func (a Answer) isFresh(used time.Time) bool { return a.issuedSince(used) || a.NextUpdate.After(used) }
