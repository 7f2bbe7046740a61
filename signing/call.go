package signing

import (
	"context"
	"crypto/x509"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
)

// The calls to the provider. A program that looks for calls made twice finds them in the
// trace of internal/failpoint.

func (t *turn) callBegin(ctx context.Context, known *x509.Certificate) (idp.State, idp.Event, error) {
	return t.call(ctx, "begin", idp.State{}, func() (idp.State, idp.Event, error) {
		return t.provider.Begin(ctx, t.id, t.r.Person, t.r.Text, known)
	})
}

func (t *turn) callSign(ctx context.Context, state idp.State, d ades.Digest) (idp.State, idp.Event, error) {
	return t.call(ctx, "sign", state, func() (idp.State, idp.Event, error) {
		return t.provider.Sign(ctx, state, []ades.Digest{d})
	})
}

func (t *turn) callPoll(ctx context.Context) (idp.State, idp.Event, error) {
	return t.call(ctx, "poll", t.r.State, func() (idp.State, idp.Event, error) { return t.provider.Poll(ctx, t.r.State) })
}

func (t *turn) call(ctx context.Context, name string, with idp.State, do func() (idp.State, idp.Event, error)) (idp.State, idp.Event, error) {
	t.asked, t.called, t.with = now(), name, with
	failpoint.Called(name, t.id)
	state, event, err := do()
	came := outcome(event)
	failpoint.Returned(name, t.id, came)
	t.report(ctx, Step{Request: t.id, Name: "provider.asked", Note: name + " " + came})
	cause := err
	if failed, ok := event.(idp.Failed); ok {
		cause = failed.Cause
	}
	if cause != nil {
		t.report(ctx, Step{Request: t.id, Name: "provider.failed", Err: cause})
	}
	return state, event, err
}

// outcome names what a call came to.
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
	case idp.Continue:
		return "continue"
	}
	return "error"
}
