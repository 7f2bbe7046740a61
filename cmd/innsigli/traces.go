package main

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// traces are of OpenTelemetry. What is done for a request is in the spans of one trace. They have no more
// in them than the log does: no path, no person, no document. nil: there are none.
type traces struct {
	provider *sdktrace.TracerProvider
	tracer   trace.Tracer
}

func newTraces(p *sdktrace.TracerProvider) *traces {
	return &traces{p, p.Tracer("github.com/innsigli/innsigli", trace.WithInstrumentationVersion(version()))}
}

// close sends what has not been sent yet.
func (t *traces) close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// request begins the span of a request. It goes on with the trace that a trusted proxy names (W3C Trace
// Context): strangers could otherwise have all of theirs recorded, or mix them into those of others.
func (t *traces) request(ctx context.Context, r *http.Request, trusted bool) (context.Context, func(outcome)) {
	if t == nil {
		return ctx, func(outcome) {}
	}
	if trusted {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(r.Header))
	}
	ctx, span := t.tracer.Start(ctx, methodLabel(r), trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(o outcome) {
		span.SetName(o.method + " " + o.route)
		span.SetAttributes(
			attribute.String("http.request.method", o.method),
			attribute.String("http.route", o.route),
			attribute.Int("http.response.status_code", o.status),
		)
		if of := exchangeOf(ctx); of != nil {
			span.SetAttributes(attribute.String("innsigli.request_id", of.id))
			if of.client != "" {
				span.SetAttributes(attribute.String("innsigli.client_id", of.client))
			}
		}
		if o.status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// step begins a span within a trace, and outside of one does nothing.
func (t *traces) step(ctx context.Context, name string) (context.Context, func(result string)) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(string) {}
	}
	return t.begin(ctx, name)
}

// begin begins a span, of a trace of its own outside of one.
func (t *traces) begin(ctx context.Context, name string) (context.Context, func(result string)) {
	if t == nil {
		return ctx, func(string) {}
	}
	ctx, span := t.tracer.Start(ctx, name)
	return ctx, func(result string) {
		span.SetAttributes(attribute.String("innsigli.result", result))
		if result == failedResult || result == "unavailable" {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// failedResult is that of what was not done.
const failedResult = "failed"
