package signing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

const (
	// retryAfter is the pause before a completion is tried again, and retrySeldom the one
	// that it grows to, since a try may cost a large revocation list. Polls in between do
	// not try: they would wait for what does not answer.
	retryAfter  = 5 * time.Second
	retrySeldom = 30 * time.Second
)

// postpone lets a completion be tried again, until its time is over, and keeps what it has
// come to, unless that is nil. One that was cut short is due at once, for whoever has more time. That a source
// of evidence is down is nobody's error until then; others are the caller's to hear of.
func (t *turn) postpone(ctx context.Context, cause error, d draft) error {
	now := now()
	waited := now.Sub(cmp.Or(t.r.SignedAt, t.r.Expires))
	if waited > t.r.completeFor() {
		return errors.Join(t.fail(ctx, incomplete), t.told(ctx, cause))
	}
	pause := min(max(waited/4, retryAfter), retrySeldom)
	if errors.Is(cause, errCutShort) {
		pause = 0
	}
	err := t.store(ctx, func(ctx context.Context, r *Request) error {
		r.NextTry = whole(now.Add(pause))
		if d == nil {
			return nil
		}
		return d.keep(ctx, t.documents, r)
	})
	return errors.Join(err, t.told(ctx, cause))
}

var incomplete = idp.Failure{Code: idp.InternalError, Description: "The signature could not be completed: what a timestamp authority or a revocation service says about it was not to be had."}

// told passes on why a completion failed, and returns what is not the fault of a source.
func (t *turn) told(ctx context.Context, cause error) error {
	if !slices.ContainsFunc(faultsOfSources, func(fault error) bool { return errors.Is(cause, fault) }) {
		return cause
	}
	t.report(ctx, Step{Request: t.id, Name: "signature.postponed", Err: cause})
	return nil
}

// faultsOfSources are what evidence is not to be had for. A chain that is missing or
// expired is that of a timestamp authority or a responder: the signer's was looked at.
var faultsOfSources = []error{
	ades.ErrTimestamp, ades.ErrNoRevocation, ades.ErrUnavailable, ades.ErrRevoked, ades.ErrNoChain, ades.ErrOutsideValidity,
}
