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
// Judged at the later time at which it is known to have existed. With a time at which the proofs are Known to
// have existed, those hold whose signers were in force then.
type Times struct{ Used, Judged, Known time.Time }

// Status judges a certificate by the proofs: nil when it was not revoked at the time of
// judgement, an [*ades.RevokedError] when it was, and [ades.ErrNoRevocation] when no proof
// is as new as the use of the key or was in force then, beside [ades.ErrAlgorithm] when
// there is one by a key that [ades.Algorithm.CheckSuite] does not rely on. The newest proof
// holds, since a certificate may be put on hold and released; all else is for good.
func (d *Data) Status(cert, issuer *x509.Certificate, at Times) error {
	if exempt(cert) {
		return nil
	}
	answers := d.About(cert, issuer)
	if revoked := revokedForGood(answers, at.Judged); revoked != nil {
		return revoked
	}
	var newest *Answer
	unreliable := errors.New("no proof of that time")
	for _, a := range answers {
		if !a.tells(cert) || !a.fresh(at.Used) || !a.stands(at.Known) || !d.isAuthorized(a, issuer, at) {
			continue
		}
		if err := a.checkSuite(issuer); err != nil {
			unreliable = err
		} else if newest == nil || a.ThisUpdate.After(newest.ThisUpdate) {
			newest = &a
		}
	}
	switch {
	case newest == nil:
		return fmt.Errorf("%w for %s: %w", ades.ErrNoRevocation, ades.Identify(cert), unreliable)
	case newest.Revoked != nil && !newest.Revoked.At.After(at.Judged):
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

// certificateHold is the one reason that can be undone (RFC 5280 5.3.1).
const certificateHold = 6

// revokedForGood returns a revocation that no newer proof undoes: an authority may forget
// about it, and a responder not have heard of it yet.
func revokedForGood(answers []Answer, judged time.Time) *ades.RevokedError {
	for _, a := range answers {
		if a.Revoked != nil && a.Revoked.Reason != certificateHold && !a.Revoked.At.After(judged) {
			return a.Revoked
		}
	}
	return nil
}

// isAuthorized says whether who signed the proof is the issuer, or a responder about which
// the issuer says that it is not revoked, itself or by one that need not be asked about.
func (d *Data) isAuthorized(a Answer, issuer *x509.Certificate, at Times) bool {
	speaks := func(c *x509.Certificate) bool { return c.Equal(issuer) || exempt(c) }
	return speaks(a.Signer) || slices.ContainsFunc(d.About(a.Signer, issuer), func(own Answer) bool {
		return d.index.work.spend(answerWork) && speaks(own.Signer) && own.tells(a.Signer) && own.fresh(at.Used) &&
			(own.Revoked == nil || own.Revoked.At.After(at.Judged))
	})
}
