package signing

import (
	"context"
	"errors"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// discard removes a request that could not be started for a fault of ours or of
// the way to the provider, or of the store's: then perhaps after the call.
func (t *turn) discard(ctx context.Context) error {
	err := t.discardNow(context.WithoutCancel(ctx))
	if away(err) {
		t.afterwards(t.discardNow)
		return nil
	}
	return err
}

// failedAtStart notes that the client was told of an error. The person may have been asked.
func (t *turn) failedAtStart(ctx context.Context, r *Request) error {
	if r.over() {
		return nil
	}
	return t.failed(ctx, r, idp.Failure{Code: idp.InternalError})
}

// discardNow leaves what was started after all, its commit being unheard of, to the client
// that repeats its call with the same idempotency key, and what was ordered to its job.
func (t *turn) discardNow(ctx context.Context) error {
	return t.inTx(ctx, func(ctx context.Context) error {
		r, err := t.Service.store.Request(ctx, t.id)
		switch {
		case errors.Is(err, storage.ErrNotFound):
			return nil
		case err != nil:
			return err
		case r.Lease.Token != t.token:
			return errLeaseLost
		case r.Phase != Starting && (r.Key != nil || r.ordered()):
			return errors.Join(giveBack(ctx, &r), t.put(ctx, &r))
		}
		if err := t.failedAtStart(ctx, &r); err != nil {
			return err
		}
		return t.remove(ctx, r)
	})
}
