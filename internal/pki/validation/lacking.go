package validation

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// Lacking returns the targets for which something has to be collected, and why: what is
// [Data.Missing], and chains whose [Data.ChainStatus] is not known or bad, since a proof
// of another day says nothing about today.
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
	chain, err := d.Chain(k.of(t), t.Certificate, times.ValidationTime)
	if err != nil || len(chain) == 1 {
		return nil
	}
	return d.ChainStatus(chain, times)
}

// Complete collects the validation data that have lacks for the targets, and that of the others in any case. The result is
// what to add to have, some of which have may contain; it is empty if have suffices.
//
// If have contains only revocation data from before a signature about its signer, as when the same person signed the
// document a moment ago, Complete asks the sources again, because the certificate may have been revoked since. It is no
// error then if they have no newer data.
func Complete(ctx context.Context, sources ades.Sources, known *Known, have *Data, targets []Target, others ...Target) (*Data, error) {
	lacking, _ := have.Lacking(known, targets...)
	older := have.answeredBefore(known, targets, lacking)
	found, err := Collect(ctx, sources, known, append(lacking, others...)...)
	if err != nil {
		return nil, err
	}
	if _, err := Merge(have, found).ChargeTo(known).Lacking(known, targets...); err != nil {
		return nil, err
	}
	for _, t := range older {
		newer, err := Collect(ctx, sources, known, t)
		switch {
		case errors.Is(err, ades.ErrRevoked):
			return nil, err
		case err == nil:
			found = Merge(found, newer)
		}
	}
	return found, ctx.Err()
}

// answeredBefore returns the targets, except those of lacking, about which the data contains only revocation data from
// before the signature. An expired certificate is not among them: its authority need not know its status any more.
func (d *Data) answeredBefore(k *Known, targets, lacking []Target) (older []Target) {
	now := time.Now()
	for _, t := range targets {
		if t.BestSignatureTime.IsZero() || now.After(t.Certificate.NotAfter) || exempt(t.Certificate) || slices.Contains(lacking, t) {
			continue
		}
		chain, err := d.Chain(k.of(t), t.Certificate, t.BestSignatureTime)
		if err != nil || len(chain) == 1 {
			continue
		}
		if !slices.ContainsFunc(d.About(t.Certificate, chain[1]), func(a Answer) bool { return a.issuedSince(t.BestSignatureTime) }) {
			older = append(older, t)
		}
	}
	return older
}
