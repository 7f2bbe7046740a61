package signing

import (
	"context"
	"errors"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// finished is a signed document that is about to be stored.
type finished struct {
	signer ades.SignerIdentity
	draft  draft
	content
}

// land stores a signed document, and that it is the request's. What was stored of it for a
// transaction that came to nothing is dropped, unless it is not known what came of that: then it is
// swept.
func (t *turn) land(ctx context.Context, signed finished) (err error) {
	if signed.content, err = signed.draft.finish(ctx, t.documents); err == nil {
		failpoint.Here("signing/finished")
		if err = t.landed(ctx, signed); err == nil {
			failpoint.Here("signing/completed")
			return nil
		}
		if !errors.Is(err, storage.ErrUnavailable) {
			_ = t.drop(ctx, signed.draft.fresh()...) // what stays is swept
		}
	}
	switch {
	case errors.Is(err, ErrUnwanted), t.r.ordered() && errors.Is(err, storage.ErrMoved):
		return t.fail(ctx, *unwanted)
	case errors.Is(err, storage.ErrFull):
		t.putOffFull(ctx, signed.draft)
	}
	return err
}

// putOffFull puts off what a store has no room for. There may be some for what it has come to, as what is
// kept of XML is small, or else for so little that it is put off.
func (t *turn) putOffFull(ctx context.Context, d draft) {
	later := func(_ context.Context, r *Request) error {
		r.NextTry = now().Add(retrySeldom)
		return nil
	}
	err := t.store(ctx, func(ctx context.Context, r *Request) error {
		return errors.Join(later(ctx, r), d.keep(ctx, t.documents, r))
	})
	if err != nil {
		_ = t.store(ctx, later)
	}
}

func (t *turn) landed(ctx context.Context, signed finished) error {
	return t.store(ctx, func(ctx context.Context, r *Request) error {
		r.Phase = Complete
		return errors.Join(
			signed.draft.land(ctx, t.documents, r),
			t.jobs.DropUnique(ctx, r.completionKind(), r.ID),
			t.record(ctx, r, completedEntry, completedFacts{Level: r.Level.String(), content: signed.content}),
			t.handOver(ctx, r, signed),
		)
	})
}
