package validation

import (
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/pki/crl"
	"github.com/innsigli/innsigli/internal/pki/ocsp"
)

// Answer is what a proof says about a certificate. The proof was verified; whether
// its times fit is left to whoever knows the time that matters.
type Answer struct {
	Proof      ades.RevocationData
	Signer     *x509.Certificate  // the responder, or the issuer itself
	ProducedAt time.Time          // when it was signed; of a CRL its ThisUpdate
	ThisUpdate time.Time          // since when it is known to be so
	NextUpdate time.Time          // zero when not said
	Cutoff     time.Time          // of what expired since then the status is kept; zero: not said
	Revoked    *ades.RevokedError // nil: good
}

var (
	errNotAbout = errors.New("validation: the revocation data is not about the certificate")
	errTooMuch  = errors.New("validation: too much to verify")
)

// readProof reads and verifies a proof about a certificate.
func (w *work) readProof(p ades.RevocationData, cert, issuer *x509.Certificate) (Answer, error) {
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
		Proof: ades.RevocationData{OCSP: r.Raw}, Signer: responder,
		ProducedAt: r.ProducedAt, ThisUpdate: single.ThisUpdate, NextUpdate: single.NextUpdate, Cutoff: single.ArchiveCutoff,
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
		Proof: ades.RevocationData{CRL: l.Raw}, Signer: issuer,
		ProducedAt: l.ThisUpdate, ThisUpdate: l.ThisUpdate, NextUpdate: l.NextUpdate, Cutoff: l.ExpiredSince,
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
		(!a.ThisUpdate.After(cert.NotAfter) || !a.Cutoff.IsZero() && !a.Cutoff.After(cert.NotAfter))
}

// signerValidAt reports whether the proof is from whom it seems to be, given a time at which it is known to have existed;
// zero: any. The key of one that has expired may be anybody's (EN 319 102-1 5.6.2.3), and nobody answers for one that
// is not valid yet. Roots are trusted as they are.
func (a Answer) signerValidAt(known time.Time) bool {
	return known.IsZero() || !known.Before(a.Signer.NotBefore) && !known.After(a.Signer.NotAfter) || selfSigned(a.Signer)
}

// issuedSince reports whether the proof is from a time or later, in seconds, as authorities count.
func (a Answer) issuedSince(t time.Time) bool { return !a.ThisUpdate.Before(t.Truncate(time.Second)) }

// isFresh reports whether the proof is as new as the use of a key, or was in force then.
func (a Answer) isFresh(used time.Time) bool { return a.issuedSince(used) || a.NextUpdate.After(used) }
