package telemetry

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// Observer measures and traces the work of a server. It wraps the services that do the work.
type Observer struct {
	Metrics *Metrics
	Traces  *Traces // nil: nothing is traced
}

// Transactor returns a Transactor that measures the transactions of tx. It counts nested transactions as part of the
// outer one.
func (o Observer) Transactor(tx storage.Transactor) storage.Transactor { return observedStore{tx, o} }

type observedStore struct {
	storage.Transactor
	Observer
}

type inTxKey struct{}

// InTx implements [storage.Transactor].
func (o observedStore) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx.Value(inTxKey{}) != nil {
		return o.Transactor.InTx(ctx, fn)
	}
	ctx, end := o.Traces.step(context.WithValue(ctx, inTxKey{}, true), "store.transaction")
	began := time.Now()
	err := o.Transactor.InTx(ctx, fn)
	result := resultOfTx(err)
	o.Metrics.transactions.WithLabelValues(result).Observe(time.Since(began).Seconds())
	end(result)
	return err
}

func resultOfTx(err error) string {
	switch {
	case err == nil:
		return "committed"
	case errors.Is(err, storage.ErrUnavailable):
		return "unavailable"
	case errors.Is(err, storage.ErrFull):
		return "full"
	}
	return "rolled_back"
}

// Provider returns a provider that measures the calls of p.
func (o Observer) Provider(p idp.Provider) idp.Provider { return observedProvider{p, o} }

type observedProvider struct {
	idp.Provider
	Observer
}

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
	ctx, end := o.Traces.step(ctx, "provider."+name)
	began := time.Now()
	state, event, err := do(ctx)
	result := resultOfCall(event, err)
	o.Metrics.calls.WithLabelValues(name, result).Observe(time.Since(began).Seconds())
	end(result)
	return state, event, err
}

// resultOfCall returns the result of a call. "refused" is an answer, such as that the person cancelled, and not a
// failure of the call.
func resultOfCall(event idp.Event, err error) string {
	if err != nil {
		return failedResult
	}
	switch event := event.(type) {
	case idp.Waiting, idp.NeedDigest, idp.Continue:
		return "pending"
	case idp.Signed:
		return "signed"
	case idp.Failed:
		if event.Cause == nil && event.Code != idp.CommunicationError && event.Code != idp.SystemUnderMaintenance {
			return "refused"
		}
	}
	return failedResult
}

// Sources returns sources that measure the calls of s for timestamps and revocation status.
func (o Observer) Sources(s ades.Sources) ades.Sources {
	if s.Time != nil {
		s.Time = observedTime{s.Time, o}
	}
	if s.Revocation != nil {
		s.Revocation = observedRevocation{s.Revocation, o}
	}
	return s
}

type observedTime struct {
	source ades.Timestamper
	Observer
}

// Timestamp implements [ades.Timestamper].
func (o observedTime) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) (token []byte, err error) {
	ctx, end := o.beginEvidence(ctx, "timestamp")
	token, err = o.source.Timestamp(ctx, h, sum)
	end(err)
	return token, err
}

type observedRevocation struct {
	source ades.Revocation
	Observer
}

// Revocation implements [ades.Revocation].
func (o observedRevocation) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.RevocationData, error) {
	ctx, end := o.beginEvidence(ctx, "revocation")
	proof, err := o.source.Revocation(ctx, cert, issuer, notBefore)
	end(err)
	return proof, err
}

// beginEvidence begins a call for evidence.
func (o Observer) beginEvidence(ctx context.Context, call string) (context.Context, func(error)) {
	ctx, end := o.Traces.step(ctx, "evidence."+call)
	began := time.Now()
	return ctx, func(err error) {
		result := resultOfEvidence(err)
		o.Metrics.evidence.WithLabelValues(call, result).Observe(time.Since(began).Seconds())
		end(result)
	}
}

// resultOfEvidence returns the result of a call. "revoked" is an answer, and not a failure.
func resultOfEvidence(err error) string {
	switch {
	case err == nil:
		return "found"
	case errors.Is(err, ades.ErrRevoked):
		return "revoked"
	case errors.Is(err, ades.ErrUnavailable):
		return "unavailable"
	}
	return failedResult
}

// Kind returns a kind of jobs that measures the jobs of k. Each attempt has its own trace.
func (o Observer) Kind(k queue.Kind) queue.Kind {
	if do := k.Do; do != nil {
		k.Do = func(ctx context.Context, job storage.Job) (retry time.Time, err error) {
			ctx, end := o.beginJob(ctx, k.Name)
			retry, err = do(ctx, job)
			end(!retry.IsZero(), err)
			return retry, err
		}
	}
	if do := k.DoThen; do != nil {
		k.DoThen = func(ctx context.Context, job storage.Job) (then func(context.Context) error, err error) {
			ctx, end := o.beginJob(ctx, k.Name)
			then, err = do(ctx, job)
			end(false, err)
			return then, err
		}
	}
	return k
}

// beginJob begins to measure an attempt of a job. The caller calls the function that it returns at the end.
func (o Observer) beginJob(ctx context.Context, kind string) (context.Context, func(later bool, err error)) {
	ctx, end := o.Traces.begin(ctx, "job "+kind)
	began := time.Now()
	return ctx, func(later bool, err error) {
		result := "done"
		switch {
		case err != nil && errors.Is(ctx.Err(), context.Canceled): // the time limit would be DeadlineExceeded
			result = "cut"
		case err != nil:
			result = failedResult
		case later:
			result = "later"
		}
		o.Metrics.jobs.WithLabelValues(kind, result).Observe(time.Since(began).Seconds())
		end(result)
	}
}
