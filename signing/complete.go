package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/evidence"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/pades"
	"github.com/innsigli/innsigli/storage"
)

const (
	// completeFor is how long a stored value waits for its timestamp and for what says
	// that nothing was revoked (decisions.md 4.8).
	completeFor = 15 * time.Minute
	// retryAfter is the pause before a completion is tried again. Polls in between do
	// not try: they would wait for what does not answer.
	retryAfter = 5 * time.Second
)

// complete puts the stored value into the document and stores what that appends, all of
// it at once: the document has its level or is not signed. A completion that lacks
// something is put off.
func (t *turn) complete(ctx context.Context) error {
	if time.Now().Before(t.r.NextTry) {
		return nil
	}
	revisions, failure, err := t.finish(ctx)
	switch {
	case failure != nil:
		return t.fail(ctx, *failure)
	case err != nil:
		return t.postpone(ctx, err)
	}
	err = t.store(ctx, func(ctx context.Context, r *Request) error {
		r.Phase = Complete
		return t.documents.Append(ctx, r.Document, revisions...)
	})
	if err == nil {
		failpoint.Here("signing/completed")
	}
	return err
}

// finish makes what is appended to the document. What keeps it from being signed for
// good is the failure, in the order of decisions.md 4.9.
func (t *turn) finish(ctx context.Context) ([]storage.Revision, *idp.Failure, error) {
	var p pades.Pending
	if err := p.UnmarshalBinary(t.r.Pending); err != nil {
		return nil, nil, fmt.Errorf("signing: reading the prepared signature: %w", err)
	}
	signer := p.Signer()
	if f := t.checkCertificate(signer.Certificate, signer.Chain, time.Now()); f != nil {
		return nil, f, nil
	}
	sources := t.options.Sources()
	first, err := p.Complete(ctx, t.r.Value, sources.Time)
	if errors.Is(err, ades.ErrValue) {
		return nil, &idp.Failure{Code: idp.SignatureVerificationError, Description: "The signature does not belong to the document and the certificate."}, nil
	}
	if err != nil {
		return nil, nil, err
	}
	revisions, err := t.prove(ctx, first, signer, sources)
	return revisions, cmp.Or(revoked(err, signer), documentFailure(err)), err
}

// prove adds what the level asks for to a signature, and sees to it that the signer's
// certificate is not revoked at any level.
func (t *turn) prove(ctx context.Context, first pades.Revision, signer ades.Signer, sources ades.Sources) ([]storage.Revision, error) {
	revisions := []storage.Revision{stored(first)}
	if t.r.Level < ades.LT {
		return revisions, checkRevocation(ctx, signer, sources)
	}
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return nil, fmt.Errorf("signing: opening the document: %w", err)
	}
	defer blob.Close()
	further, err := pades.ExtendLast(ctx, document(blob).With(first), t.r.Level, sources)
	for _, r := range further {
		revisions = append(revisions, stored(r))
	}
	return revisions, err
}

// checkRevocation asks about the certificates below the root, about the signer's as of
// now. Without a source it cannot: that is an operator's choice, and level LT is not to be
// had then.
func checkRevocation(ctx context.Context, signer ades.Signer, sources ades.Sources) error {
	if sources.Revocation == nil {
		return nil
	}
	_, err := evidence.Collect(ctx, sources, signer.Chain, evidence.Target{Certificate: signer.Certificate, Fresh: time.Now()})
	return err
}

// revoked is the failure of a signer whose certificate is revoked, or one above it. A
// revoked certificate of another chain is not the signer's fault, and no failure.
func revoked(err error, signer ades.Signer) *idp.Failure {
	var r *ades.RevokedError
	switch {
	case !errors.As(err, &r):
		return nil
	case r.Certificate.Equal(signer.Certificate):
		return &idp.Failure{Code: idp.CertificateIsRevoked, Description: "The certificate is revoked."}
	case slices.ContainsFunc(signer.Chain, r.Certificate.Equal):
		return &idp.Failure{Code: idp.CertificateValidationError, Description: "The certificate of the certificate's issuer is revoked."}
	}
	return nil
}

// postpone lets a completion be tried again, until its time is over. That a source of
// evidence is down is nobody's error until then; others are the caller's to hear of.
func (t *turn) postpone(ctx context.Context, cause error) error {
	now := time.Now().UTC()
	if now.After(cmp.Or(t.r.SignedAt, t.r.Expires).Add(completeFor)) {
		return errors.Join(t.fail(ctx, incomplete), t.told(ctx, cause))
	}
	err := t.store(ctx, func(_ context.Context, r *Request) error {
		r.NextTry = now.Add(retryAfter)
		return nil
	})
	return errors.Join(err, t.told(ctx, cause))
}

var incomplete = idp.Failure{Code: idp.InternalError, Description: "The signature could not be completed: what a timestamp authority or a revocation service says about it was not to be had."}

// told passes on why a completion failed, and returns what is not the fault of a source.
func (t *turn) told(ctx context.Context, cause error) error {
	if !errors.Is(cause, ades.ErrTimestamp) && !errors.Is(cause, ades.ErrNoRevocation) && !errors.Is(cause, ades.ErrUnavailable) && !errors.Is(cause, ades.ErrRevoked) {
		return cause
	}
	if t.options.Postponed != nil {
		t.options.Postponed(ctx, cause)
	}
	return nil
}

// Complete completes requests whose value is stored but whose document is not, because
// a source of evidence was down or the process died (decisions.md 4.8). It takes a batch
// of those that are due and says how many they were. A server calls it every few seconds:
// then a signature does not depend on its client's polls.
func (s *Service) Complete(ctx context.Context) (n int, err error) {
	due, err := s.store.Due(ctx, time.Now(), batch)
	if err != nil {
		return 0, err
	}
	errs := make([]error, len(due))
	var all sync.WaitGroup
	for i, r := range due {
		all.Go(func() { errs[i] = s.completeDue(ctx, r.ID) }) // one that waits holds up no other
	}
	all.Wait()
	return len(due), errors.Join(errs...)
}

// completeDue completes a request, unless a poll is at it.
func (s *Service) completeDue(ctx context.Context, id string) error {
	t, err := s.lease(ctx, id, func(r *Request, _ time.Time) error {
		if r.Phase != Signed {
			return ErrFinished
		}
		return nil
	})
	if errors.Is(err, errHeld) || errors.Is(err, ErrFinished) {
		return nil
	}
	if err != nil {
		return err
	}
	work, stop := t.hold(ctx)
	defer stop()
	err = t.complete(work)
	stop()
	if ctx.Err() != nil { // the server stops; the next one goes on
		err = nil
	}
	return errors.Join(err, t.release(ctx))
}
