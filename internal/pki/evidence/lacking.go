package evidence

import (
	"crypto/x509"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Lacking returns the targets for which something has to be collected, and why: what is
// [Data.Missing], and chains whose [Data.ChainStatus] is not known or bad, since a proof
// of another day says nothing about today. The same person may have signed before, so that
// a signer's proof has to be newer than its Fresh, as far as there can still be one: the
// status of an expired certificate need not be known any more.
//
// A target whose chain is not valid at the time by which it is judged lacks nothing by
// that, which no proof would change.
func (d *Data) Lacking(k *Known, targets ...Target) (lacking []Target, why error) {
	var reasons []error
	now := time.Now()
	for _, t := range targets {
		if err := d.suffices(k, t, now); err != nil {
			lacking, reasons = append(lacking, t), append(reasons, err)
		}
	}
	return lacking, errors.Join(reasons...)
}

func (d *Data) suffices(k *Known, t Target, now time.Time) error {
	if missing := d.Missing(k, t); len(missing) > 0 {
		return fmt.Errorf("%w: %s", ades.ErrNoRevocation, strings.Join(missing, "; "))
	}
	times := t.times(now)
	chain, err := d.Chain(k, t.Certificate, times.Judged)
	if err != nil || len(chain) == 1 {
		return nil
	}
	if err := d.ChainStatus(chain, times); err != nil {
		return err
	}
	if !t.Fresh.IsZero() && !now.After(t.Certificate.NotAfter) && !d.follows(t, chain[1]) {
		return fmt.Errorf("%w for %s from after its signature", ades.ErrNoRevocation, ades.Identify(t.Certificate))
	}
	return nil
}

// follows says whether there is a proof about a signer from after the signature.
func (d *Data) follows(t Target, issuer *x509.Certificate) bool {
	return exempt(t.Certificate) || slices.ContainsFunc(d.About(t.Certificate, issuer), func(a Answer) bool {
		return a.tells(t.Certificate) && a.follows(t.Fresh, t.Certificate)
	})
}
