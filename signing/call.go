package signing

import (
	"context"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
)

// The calls to the provider. A program that looks for calls made twice finds them in the
// trace of internal/failpoint.

func (t *turn) callBegin(ctx context.Context) (idp.State, idp.Event, error) {
	return t.call("begin", func() (idp.State, idp.Event, error) {
		return t.provider.Begin(ctx, t.id, t.r.Person, t.r.Text, nil)
	})
}

func (t *turn) callSign(ctx context.Context, state idp.State, d ades.Digest) (idp.State, idp.Event, error) {
	return t.call("sign", func() (idp.State, idp.Event, error) {
		return t.provider.Sign(ctx, state, []ades.Digest{d})
	})
}

func (t *turn) callPoll(ctx context.Context) (idp.State, idp.Event, error) {
	return t.call("poll", func() (idp.State, idp.Event, error) { return t.provider.Poll(ctx, t.r.State) })
}

func (t *turn) call(name string, do func() (idp.State, idp.Event, error)) (idp.State, idp.Event, error) {
	t.asked, t.called = now(), name
	failpoint.Called(name, t.id)
	state, event, err := do()
	failpoint.Returned(name, t.id, outcome(event))
	return state, event, err
}

// outcome names what a call came to, for the trace.
func outcome(event idp.Event) string {
	switch event.(type) {
	case idp.Waiting:
		return "waiting"
	case idp.NeedDigest:
		return "needdigest"
	case idp.Signed:
		return "signed"
	case idp.Failed:
		return "failed"
	}
	return "error"
}
