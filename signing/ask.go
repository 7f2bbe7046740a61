package signing

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
)

// ask makes the first calls to the provider.
func (t *turn) ask(ctx context.Context) error {
	known, err := t.known(ctx)
	if err != nil {
		return err
	}
	state, event, err := t.callBegin(ctx, known)
	if err != nil {
		return fmt.Errorf("signing: asking the identity provider: %w", err)
	}
	failpoint.Here("signing/begun")
	return t.follow(ctx, state, event)
}

// mostSteps bounds what a provider makes of one turn.
const mostSteps = 16

// follow stores the provider's answer and what it leads to. A digest that is asked
// for is prepared, stored and handed over.
func (t *turn) follow(ctx context.Context, state idp.State, event idp.Event) error {
	for range mostSteps {
		var over bool
		var err error
		switch e := event.(type) {
		case idp.NeedDigest:
			state, event, over, err = t.give(ctx, state, e)
		case idp.Continue:
			state, event, err = t.goOn(ctx, state, e)
		default:
			return t.conclude(ctx, state, event)
		}
		if over || err != nil {
			return err
		}
	}
	return errors.New("signing: the identity provider comes to no end")
}

// conclude stores an answer after which there is nothing to be said to the provider. A
// failure at the start refuses it.
func (t *turn) conclude(ctx context.Context, state idp.State, event idp.Event) error {
	if failed, ok := event.(idp.Failed); ok && t.tookOver && (failed.Code == idp.InvalidGrant || failed.Code == idp.ExpiredToken) {
		return t.fault(ctx, idp.State{}, errGivenAway)
	}
	return t.insist(ctx, func(ctx context.Context, r *Request) error {
		failed, ok := event.(idp.Failed)
		if ok && r.Phase == Starting {
			r.Refused = true
			t.converse(r, state)
			return errors.Join(t.failed(ctx, r, failed.Failure), t.end(ctx, r))
		}
		t.accept(r, state)
		return t.apply(ctx, r, event)
	})
}

// give hands the digest over that the provider asks for. over says that there is none: not
// now, while what the certificate is checked against is down, or not at all.
func (t *turn) give(ctx context.Context, state idp.State, need idp.NeedDigest) (_ idp.State, _ idp.Event, over bool, err error) {
	if !now().Before(t.limit(&t.r)) { // nobody would wait for the signature
		return state, nil, true, t.conclude(ctx, state, idp.Failed{Failure: expired})
	}
	pending, failure, err := t.prepare(ctx, need)
	if errors.Is(err, ades.ErrUnavailable) {
		return state, nil, true, errors.Join(t.postponeAsking(ctx, state, need), t.told(ctx, err))
	}
	if err != nil {
		return state, nil, true, err
	}
	if failure != nil {
		return state, nil, true, t.insist(ctx, func(ctx context.Context, r *Request) error {
			t.show(r, need.Code)
			t.accept(r, state)
			return t.failed(ctx, r, *failure)
		})
	}
	state, event, err := t.sign(ctx, state, pending, need.Code)
	return state, event, false, err
}

// postponeAsking has the provider ask for the digest again, a little later.
func (t *turn) postponeAsking(ctx context.Context, state idp.State, need idp.NeedDigest) error {
	t.faulty = true
	return t.insist(ctx, func(_ context.Context, r *Request) error {
		t.show(r, need.Code)
		t.accept(r, state)
		t.pause(r, retryAfter)
		return nil
	})
}

// goOn stores what the provider says only once, and asks further. What a person has answered
// is not lost because what is to be asked further takes its time: it has as long as a
// signature has to be completed.
func (t *turn) goOn(ctx context.Context, state idp.State, e idp.Continue) (idp.State, idp.Event, error) {
	err := t.insist(ctx, func(_ context.Context, r *Request) error {
		t.accept(r, state)
		r.NextAsk = time.Time{}
		if e.Answer {
			r.Expires = whole(now().Add(r.completeFor()))
		}
		return nil
	})
	if err != nil {
		return state, nil, err
	}
	failpoint.Here("signing/continued")
	state, event, err := t.callPoll(ctx)
	if err != nil {
		return state, nil, t.fault(ctx, state, err)
	}
	return state, event, nil
}

// sign stores the prepared signature and asks the person for it. A request that is
// starting stays so until the provider has answered: should the process die before,
// the person may not have been asked, and polls alone would never get a signature.
func (t *turn) sign(ctx context.Context, state idp.State, pending preparation, code string) (idp.State, idp.Event, error) {
	encoded, err := pending.MarshalBinary()
	if err != nil {
		return state, nil, err
	}
	err = t.insist(ctx, func(ctx context.Context, r *Request) error {
		t.converse(r, state)
		t.show(r, code)
		if bytes.Equal(r.Pending, encoded) { // asked the same again
			return nil
		}
		r.Pending = encoded
		return errors.Join(t.remember(ctx, r, pending.Signer().Certificate), t.recordPrepared(ctx, r, pending))
	})
	if err != nil {
		return state, nil, err
	}
	failpoint.Here("signing/prepared")
	state, event, err := t.callSign(ctx, state, pending.Digest())
	if err != nil {
		return state, nil, t.fault(ctx, state, err)
	}
	return state, event, nil
}
