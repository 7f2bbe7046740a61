package main

import (
	"context"
	"crypto"
	"crypto/x509"
	"errors"
	"time"

	"github.com/innsigli/innsigli/ades"
)

// observedTime times the calls for timestamps.
type observedTime struct {
	source  ades.Timestamper
	metrics *workMetrics
	traces  *traces
}

// Timestamp implements [ades.Timestamper].
func (o observedTime) Timestamp(ctx context.Context, h crypto.Hash, sum []byte) (token []byte, err error) {
	ctx, end := observedEvidence(ctx, o.metrics, o.traces, "timestamp")
	token, err = o.source.Timestamp(ctx, h, sum)
	end(err)
	return token, err
}

// observedRevocation times the calls for revocation status.
type observedRevocation struct {
	source  ades.Revocation
	metrics *workMetrics
	traces  *traces
}

// Revocation implements [ades.Revocation].
func (o observedRevocation) Revocation(ctx context.Context, cert, issuer *x509.Certificate, notBefore time.Time) (ades.Proof, error) {
	ctx, end := observedEvidence(ctx, o.metrics, o.traces, "revocation")
	proof, err := o.source.Revocation(ctx, cert, issuer, notBefore)
	end(err)
	return proof, err
}

// observedEvidence begins a call for evidence.
func observedEvidence(ctx context.Context, m *workMetrics, t *traces, call string) (context.Context, func(error)) {
	ctx, end := t.step(ctx, "evidence."+call)
	began := time.Now()
	return ctx, func(err error) {
		result := resultOfEvidence(err)
		m.evidence.WithLabelValues(call, result).Observe(time.Since(began).Seconds())
		end(result)
	}
}

// resultOfEvidence is what a call came to. That a certificate was revoked is an answer.
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

// observed are sources whose calls are timed.
func (m *workMetrics) observed(s ades.Sources, t *traces) ades.Sources {
	if s.Time != nil {
		s.Time = observedTime{s.Time, m, t}
	}
	if s.Revocation != nil {
		s.Revocation = observedRevocation{s.Revocation, m, t}
	}
	return s
}
