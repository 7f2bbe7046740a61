package main

import (
	"context"
	"crypto/x509"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
)

// observedProvider times the calls to a provider.
type observedProvider struct {
	idp.Provider
	metrics *workMetrics
	traces  *traces
}

var _ idp.Provider = observedProvider{}

// Begin implements [idp.Provider].
func (o observedProvider) Begin(ctx context.Context, key string, p idp.Person, t idp.Text, known *x509.Certificate) (idp.State, idp.Event, error) {
	return o.call(ctx, "begin", func(ctx context.Context) (idp.State, idp.Event, error) {
		return o.Provider.Begin(ctx, key, p, t, known)
	})
}

// Sign implements [idp.Provider].
func (o observedProvider) Sign(ctx context.Context, s idp.State, digests []ades.Digest) (idp.State, idp.Event, error) {
	return o.call(ctx, "sign", func(ctx context.Context) (idp.State, idp.Event, error) {
		return o.Provider.Sign(ctx, s, digests)
	})
}

// Poll implements [idp.Provider].
func (o observedProvider) Poll(ctx context.Context, s idp.State) (idp.State, idp.Event, error) {
	return o.call(ctx, "poll", func(ctx context.Context) (idp.State, idp.Event, error) { return o.Provider.Poll(ctx, s) })
}

func (o observedProvider) call(ctx context.Context, name string, do func(context.Context) (idp.State, idp.Event, error)) (idp.State, idp.Event, error) {
	ctx, end := o.traces.step(ctx, "provider."+name)
	began := time.Now()
	state, event, err := do(ctx)
	result := resultOfCall(event, err)
	o.metrics.calls.WithLabelValues(name, result).Observe(time.Since(began).Seconds())
	end(result)
	return state, event, err
}

// resultOfCall is what a call came to. That somebody cancelled is an answer, and no failure of the call.
func resultOfCall(event idp.Event, err error) string {
	switch event := event.(type) {
	case idp.Waiting, idp.NeedDigest, idp.Continue:
		return "pending"
	case idp.Signed:
		return "signed"
	case idp.Failed:
		if event.Cause == nil && !away(event.Code) {
			return "refused"
		}
	}
	return failedResult
}
