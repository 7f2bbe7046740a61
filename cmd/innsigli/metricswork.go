package main

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/storage"
)

// workMetrics are those of what the server does: signatures, calls to the provider, transactions and jobs.
type workMetrics struct {
	signatures   *prometheus.CounterVec
	failures     *prometheus.CounterVec
	calls        *prometheus.HistogramVec
	evidence     *prometheus.HistogramVec
	transactions *prometheus.HistogramVec
	jobs         *prometheus.HistogramVec
}

func newWorkMetrics(r prometheus.Registerer) *workMetrics {
	m := &workMetrics{
		signatures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_signatures_total",
			Help: "Signatures that were made and stored, by level.",
		}, []string{"level"}),
		failures: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_signing_failures_total",
			Help: "Signing requests that ended without a signature, by errorCode (none: no errorCode is for it).",
		}, []string{"code"}),
		calls: durations("innsigli_provider_call_duration_seconds", "How long calls to the identity provider take, by call and by what they came to.", "call", "result"),
		evidence: durations("innsigli_evidence_call_duration_seconds",
			"How long timestamps and revocation status take, which may also be known from before, by call and by what it came to: found, revoked, unavailable or failed.", "call", "result"),
		transactions: durations("innsigli_store_transaction_duration_seconds",
			"How long transactions of the store take, by what they came to: committed, rolled_back, unavailable or full.", "result"),
		jobs: durations("innsigli_job_duration_seconds", "How long jobs take, by kind and by what they came to: done, later or failed.", "kind", "result"),
	}
	r.MustRegister(m.signatures, m.failures, m.calls, m.evidence, m.transactions, m.jobs)
	return m
}

func durations(name, help string, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}}, labels)
}

// step counts how requests end.
func (m *workMetrics) step(s signing.Step) {
	switch {
	case s.Level != "":
		m.signatures.WithLabelValues(s.Level).Inc()
	case s.Name == "signature.failed":
		m.failures.WithLabelValues(cmp.Or(string(s.Code), "none")).Inc()
	}
}

// observedStore times the transactions of a store. Those inside of another are part of it.
type observedStore struct {
	storage.Transactor
	metrics *workMetrics
	traces  *traces
}

type inTxKey struct{}

// InTx implements [storage.Transactor].
func (o observedStore) InTx(ctx context.Context, fn func(ctx context.Context) error) error {
	if ctx.Value(inTxKey{}) != nil {
		return o.Transactor.InTx(ctx, fn)
	}
	ctx, end := o.traces.step(context.WithValue(ctx, inTxKey{}, true), "store.transaction")
	began := time.Now()
	err := o.Transactor.InTx(ctx, fn)
	result := resultOfTx(err)
	o.metrics.transactions.WithLabelValues(result).Observe(time.Since(began).Seconds())
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
