// Package front is what stands between a server's connections and its handlers: listeners with their limits, request
// IDs, the addresses of clients behind proxies, and a line in the log, a count and a span for each request. None
// of these has the path of a request, which may have a link in it that is a credential, nor whom it is from.
package front

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/server/internal/telemetry"
)

// Middleware wraps a handler: each request gets an ID, is counted and traced, and has a line in the log.
type Middleware struct {
	Next    http.Handler
	Proxies Proxies
	Metrics *telemetry.Metrics
	Traces  *telemetry.Traces
	Log     *slog.Logger
	Level   slog.Level // of ordinary lines
}

// ServeHTTP implements [http.Handler].
func (m Middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, info := time.Now(), &requestInfo{id: m.Proxies.requestID(r)}
	w.Header().Set(requestIDHeader, info.id)
	traces := m.Traces
	if isProbe(r.URL.Path) { // there would be more of them than of all else
		traces = nil
	}
	var header http.Header
	if m.Proxies.trusts(peer(r)) {
		header = r.Header
	}
	ctx, end := traces.Request(context.WithValue(r.Context(), requestInfoKey{}, info), methodLabel(r), header)
	r = r.WithContext(ctx)
	recorder := &responseRecorder{ResponseWriter: w, status: http.StatusOK, clientLeft: func() bool { return context.Cause(ctx) == context.Canceled }}
	ended := m.Metrics.Begun()
	defer func() {
		ended()
		fault := recover()
		if fault != nil && !recorder.written { // the handler gave up, and net/http closes the connection
			recorder.record(http.StatusInternalServerError)
		}
		m.logPanic(ctx, fault)
		answer := telemetry.Answer{
			Method: methodLabel(r), Route: info.routeOf(r), Status: recorder.status, Bytes: recorder.bytes, Took: time.Since(began),
			RequestID: info.id, Client: info.client,
		}
		m.Metrics.Answered(answer)
		end(answer)
		m.log(ctx, answer)
		if fault != nil {
			panic(http.ErrAbortHandler) // of which net/http says nothing
		}
	}()
	m.Next.ServeHTTP(recorder, r)
}

// logPanic logs where the program has a fault, and not the value of the panic, which may be about people.
func (m Middleware) logPanic(ctx context.Context, fault any) {
	if fault == nil || fault == http.ErrAbortHandler {
		return
	}
	m.Log.ErrorContext(ctx, "request handler panicked", "fault", queue.PanicText(fault), "stack", string(debug.Stack()))
}

// log writes the line of a request. Those of probes are for debugging.
func (m Middleware) log(ctx context.Context, a telemetry.Answer) {
	level := m.Level
	if isProbe(a.Route) {
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{
		slog.String("method", a.Method), slog.String("route", a.Route), slog.Int("status", a.Status),
		slog.Int64("bytes", a.Bytes), slog.Float64("milliseconds", float64(a.Took.Microseconds())/1000),
	}
	if a.Client != "" {
		attributes = append(attributes, slog.String("client", a.Client))
	}
	m.Log.LogAttrs(ctx, level, "request", attributes...)
}

func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// methodLabel is one of the usual methods, or "other": clients can make up any.
func methodLabel(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// requestInfo is what the log tells of a request. It is in the context of all that is done for the request.
type requestInfo struct {
	id     string // that is answered as X-Request-Id
	client string // ID of the API client, once it has shown who it is
	route  string // pattern of the API's path, once it was found
}

type requestInfoKey struct{}

// infoOf returns that of the request that something is done for; nil when it is done for none.
func infoOf(ctx context.Context) *requestInfo {
	info, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return info
}

// noRoute is the route of a request that no path is for.
const noRoute = "none"

// routeOf is the pattern that was found for a request, without its method: "/api/v1/signing/{pollingId}".
func (i *requestInfo) routeOf(r *http.Request) string {
	path := cmp.Or(i.route, r.Pattern)
	if _, withoutMethod, ok := strings.Cut(path, " "); ok {
		path = withoutMethod
	}
	if path == "" || path == "/" {
		return noRoute
	}
	return path
}

// RecordRoute notes for the log which of the API's paths a request is for. It is an httpapi.Config's Wrap.
func RecordRoute(pattern string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info := infoOf(r.Context()); info != nil {
			info.route = pattern
		}
		h.ServeHTTP(w, r)
	})
}

// RecordClients returns accounts that note for the log who a request is by.
func RecordClients(accounts httpapi.Accounts) httpapi.Accounts { return recordedClients{accounts} }

type recordedClients struct{ httpapi.Accounts }

// Authenticate implements [httpapi.Accounts].
func (c recordedClients) Authenticate(ctx context.Context, bearer string) (account.Caller, error) {
	caller, err := c.Accounts.Authenticate(ctx, bearer)
	if info := infoOf(ctx); info != nil && err == nil {
		info.client = caller.ClientID
	}
	return caller, err
}

// LogHandler adds to each line which request, and which trace, it is about.
type LogHandler struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h LogHandler) Handle(ctx context.Context, r slog.Record) error {
	var about []slog.Attr
	if info := infoOf(ctx); info != nil {
		about = append(about, slog.String("requestId", info.id))
	}
	if span := trace.SpanContextFromContext(ctx); span.IsSampled() {
		about = append(about, slog.String("traceId", span.TraceID().String()))
	}
	if about == nil {
		return h.Handler.Handle(ctx, r)
	}
	return h.Handler.WithAttrs(about).Handle(ctx, r)
}

// WithAttrs implements [slog.Handler].
func (h LogHandler) WithAttrs(attributes []slog.Attr) slog.Handler {
	return LogHandler{h.Handler.WithAttrs(attributes)}
}

// WithGroup implements [slog.Handler].
func (h LogHandler) WithGroup(name string) slog.Handler { return LogHandler{h.Handler.WithGroup(name)} }

const (
	requestIDHeader = "X-Request-Id"
	maxRequestID    = 64 // characters
)

// requestID is the one that a trusted proxy has given to the request, or a new one.
func (p Proxies) requestID(r *http.Request) string {
	if given := r.Header.Values(requestIDHeader); len(given) == 1 && isRequestID(given[0]) && p.trusts(peer(r)) {
		return given[0]
	}
	return rand.Text()
}

// isRequestID reports whether a text is short, and has nothing in it that means something where it is written.
func isRequestID(text string) bool {
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return text != "" && len(text) <= maxRequestID
}

// statusClientLeft is the status of an answer that failed while the client had left, as nginx has it: such a failure
// is no fault of the server's.
const statusClientLeft = 499

// responseRecorder records the status and the length of an answer.
type responseRecorder struct {
	http.ResponseWriter
	status     int
	bytes      int64
	written    bool
	clientLeft func() bool
}

// record records the status of the answer that is about to be written.
func (a *responseRecorder) record(status int) {
	if a.status = status; status >= http.StatusInternalServerError && a.clientLeft() {
		a.status = statusClientLeft
	}
}

// WriteHeader implements [http.ResponseWriter]. Informational answers come before the one that counts.
func (a *responseRecorder) WriteHeader(status int) {
	if !a.written && status >= http.StatusOK {
		a.record(status)
		a.written = true
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *responseRecorder) Write(p []byte) (int, error) {
	a.written = true
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (a *responseRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }
