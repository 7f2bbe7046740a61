package telemetry

import (
	"context"
	"net/http"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"
)

// Traces begins the spans of a server. The work for one request has one trace. A nil *Traces begins no spans.
type Traces struct{ tracer trace.Tracer }

// NewTraces returns traces that a provider records; nil without a provider.
func NewTraces(p trace.TracerProvider) *Traces {
	if p == nil {
		return nil
	}
	return &Traces{p.Tracer(modulePath, trace.WithInstrumentationVersion(Version()))}
}

// Request begins the span of an HTTP request. The span continues the trace that the header names (W3C Trace Context).
// header is nil for clients that are not trusted, since they could have all of their requests recorded, or add them to
// traces of others.
func (t *Traces) Request(ctx context.Context, method string, header http.Header) (context.Context, func(Answer)) {
	if t == nil {
		return ctx, func(Answer) {}
	}
	if header != nil {
		ctx = propagation.TraceContext{}.Extract(ctx, propagation.HeaderCarrier(header))
	}
	ctx, span := t.tracer.Start(ctx, method, trace.WithSpanKind(trace.SpanKindServer))
	return ctx, func(a Answer) {
		span.SetName(a.Method + " " + a.Route)
		span.SetAttributes(
			attribute.String("http.request.method", a.Method),
			attribute.String("http.route", a.Route),
			attribute.Int("http.response.status_code", a.Status),
			attribute.String("innsigli.request_id", a.RequestID),
		)
		if a.Client != "" {
			span.SetAttributes(attribute.String("innsigli.client_id", a.Client))
		}
		if a.Status >= http.StatusInternalServerError {
			span.SetStatus(codes.Error, "")
		}
		span.End()
	}
}

// step begins a span within a recorded trace. Outside of one it does nothing.
func (t *Traces) step(ctx context.Context, name string) (context.Context, func(result string)) {
	if t == nil || !trace.SpanFromContext(ctx).IsRecording() {
		return ctx, func(string) {}
	}
	return t.begin(ctx, name)
}

// begin begins a span. Outside of a trace it begins a new trace.
func (t *Traces) begin(ctx context.Context, name string) (context.Context, func(result string)) {
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

// failedResult is the result of work that failed.
const failedResult = "failed"
