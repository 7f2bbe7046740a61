package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
)

// apply is what an event means for a request.
func (t *turn) apply(ctx context.Context, r *Request, event idp.Event) error {
	switch e := event.(type) {
	case idp.Waiting:
		return t.waits(ctx, r, e)
	case idp.Signed:
		if len(e.Values) != 1 {
			return t.failed(ctx, r, idp.Failure{Code: idp.InternalError, Description: "The identity provider returned no single signature."})
		}
		now := now()
		r.Phase, r.Value, r.SignedAt, r.NextTry = Signed, e.Values[0], now, now
		return errors.Join(t.recordMade(ctx, r), t.enqueueCompletion(ctx, r))
	case idp.Failed:
		return t.failed(ctx, r, e.Failure)
	}
	return nil
}

// waits notes that the person has not answered, and until when that will be so. There is
// nothing more to do in this turn, so the lease goes back with the same write.
func (t *turn) waits(ctx context.Context, r *Request, e idp.Waiting) error {
	if now().After(r.Expires) {
		return t.failed(ctx, r, expired)
	}
	t.show(r, e.Code)
	t.heard = e
	t.pause(r, e.RetryAfter)
	return giveBack(ctx, r)
}

// pause notes until when there is no use in asking. At the end of the request there always
// is: the person may have answered at the last moment.
func (t *turn) pause(r *Request, long time.Duration) {
	r.NextAsk = time.Time{}
	if long > 0 {
		r.NextAsk = whole(t.asked.Add(long))
	}
	if r.NextAsk.After(r.Expires) {
		r.NextAsk = r.Expires
	}
}

// show notes a verification code. The one that is known at the start is the start call's.
func (t *turn) show(r *Request, code string) {
	if code == "" {
		return
	}
	r.Code = code
	if t.starts {
		r.StartCode = code
	}
}

// accept notes that the provider has taken the request up.
func (t *turn) accept(r *Request, state idp.State) {
	t.converse(r, state)
	if r.Phase == Starting {
		r.Phase = Waiting
	}
}

// converse notes how far the conversation with the provider is. It prolongs no request but
// one that has its answer.
func (t *turn) converse(r *Request, state idp.State) {
	r.hear(state)
	limit := t.limit(r)
	if r.Expires.After(limit) {
		return
	}
	r.Expires = limit
	if expires := r.State.Expires; !expires.IsZero() && expires.Before(r.Expires) {
		r.Expires = expires
	}
	if r.Phase == Starting {
		r.StartExpires = r.Expires
	}
}

// limit is how long a request without an answer lives.
func (s *Service) limit(r *Request) time.Time { return whole(r.CreatedAt.Add(s.options.Expiry)) }

// hear notes the provider's side of the conversation.
func (r *Request) hear(state idp.State) {
	r.State = state
	r.State.Expires = whole(state.Expires)
}

// fail ends the request without a signature.
func (t *turn) fail(ctx context.Context, f idp.Failure) error {
	return t.store(ctx, func(ctx context.Context, r *Request) error { return t.failed(ctx, r, f) })
}

// failed notes the failure. One that repeats has no poll that ends the request, so
// it frees the busy signal itself.
func (t *turn) failed(ctx context.Context, r *Request, f idp.Failure) error {
	r.fail(f)
	err := t.record(ctx, r, failedEntry, failedFacts{Provider: r.State.Provider, Code: f.Code})
	switch {
	case r.ordered(): // nobody polls for what came of it
		err = errors.Join(err, t.end(ctx, r))
	case repeats(&f):
		err = errors.Join(err, t.free(ctx, r))
	}
	return err
}
