package evidence

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Times are what a certificate is judged by. A signature that is known to have existed at
// some time is judged by that alone. A timestamp says itself when its key was Used, and is
// Judged at the later time at which it is known to have existed.
type Times struct{ Used, Judged time.Time }

// Status judges a certificate by the proofs: nil when it was not revoked at the time of
// judgement, an [*ades.RevokedError] when it was, and [ades.ErrNoRevocation] when no proof
// is as new as the use of the key or was in force then. The newest proof holds, since a
// certificate may be put on hold and released.
func (d *Data) Status(cert, issuer *x509.Certificate, at Times) error {
	if exempt(cert) {
		return nil
	}
	answers := slices.DeleteFunc(slices.Clone(d.About(cert, issuer)), func(a Answer) bool {
		return !a.tells(cert) || !a.fresh(at.Used) || !d.authorized(a, issuer, at)
	})
	if len(answers) == 0 {
		return fmt.Errorf("%w for %s", ades.ErrNoRevocation, cert.Subject)
	}
	newest := slices.MaxFunc(answers, func(a, b Answer) int { return a.ThisUpdate.Compare(b.ThisUpdate) })
	if newest.Revoked != nil && !newest.Revoked.At.After(at.Judged) {
		return newest.Revoked
	}
	return nil
}

// ChainStatus judges the certificates of a chain below its root: the lowest that was
// revoked, or else what is not known, joined.
func (d *Data) ChainStatus(chain []*x509.Certificate, at Times) error {
	var unknown []error
	for i := 0; i+1 < len(chain); i++ {
		err := d.Status(chain[i], chain[i+1], at)
		if errors.Is(err, ades.ErrRevoked) {
			return err
		}
		if err != nil {
			unknown = append(unknown, err)
		}
	}
	return errors.Join(unknown...)
}

// tells says whether a proof of its time says anything about the certificate: it was
// issued then, and had not expired, which is when authorities may forget about it.
func (a Answer) tells(cert *x509.Certificate) bool {
	return !a.ThisUpdate.Before(cert.NotBefore) && !a.ThisUpdate.After(cert.NotAfter)
}

// fresh compares in seconds, as authorities count.
func (a Answer) fresh(used time.Time) bool {
	return !a.ThisUpdate.Before(used.Truncate(time.Second)) || a.NextUpdate.After(used)
}

// authorized says whether who signed the proof is the issuer, or a responder that the
// issuer itself says is not revoked or need not be asked about.
func (d *Data) authorized(a Answer, issuer *x509.Certificate, at Times) bool {
	if a.Signer.Equal(issuer) || exempt(a.Signer) {
		return true
	}
	return slices.ContainsFunc(d.About(a.Signer, issuer), func(own Answer) bool {
		return own.Signer.Equal(issuer) && own.tells(a.Signer) && own.fresh(at.Used) &&
			(own.Revoked == nil || own.Revoked.At.After(at.Judged))
	})
}
