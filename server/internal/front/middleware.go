// Package front has the layer between the connections of a server and its handlers: listeners with limits, request IDs, the
// addresses of clients behind proxies, and a log line, metrics and a span for each request. None of them has the path of a
// request, which may be a link that is a credential. The log line alone has the address of the client.
package front

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"
	"regexp"
	"runtime/debug"
	"strings"
	"time"

	"go.opentelemetry.io/otel/trace"

	"github.com/innsigli/innsigli/account"
	"github.com/innsigli/innsigli/httpapi"
	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/server/internal/telemetry"
)

// Middleware wraps a handler. It gives each request an ID, and counts, traces and logs it.
type Middleware struct {
	Next    http.Handler
	Proxies Proxies
	Metrics *telemetry.Metrics
	Traces  *telemetry.Traces
	Log     *slog.Logger
	Level   slog.Level // of the lines of requests other than probes
}

// ServeHTTP implements [http.Handler].
func (m Middleware) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, info := time.Now(), &requestInfo{id: m.Proxies.requestID(r)}
	w.Header().Set(requestIDHeader, info.id)
	traces := m.Traces
	if isProbe(r.URL.Path) { // probes would outnumber all other traces
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
		if fault != nil && !recorder.written { // net/http closes the connection without a response
			recorder.record(http.StatusInternalServerError)
		}
		m.logPanic(ctx, fault)
		answer := telemetry.Answer{
			Method: methodLabel(r), Route: info.routeOf(r), Status: recorder.status, Bytes: recorder.bytes, Took: time.Since(began),
			RequestID: info.id, Client: info.client,
		}
		address := ""
		if client := m.Proxies.Client(r); client.IsValid() {
			address = client.String()
		}
		m.Metrics.Answered(answer)
		end(answer)
		m.log(ctx, answer, info, address)
		if fault != nil {
			panic(http.ErrAbortHandler) // which net/http does not log
		}
	}()
	m.Next.ServeHTTP(recorder, r)
}

// logPanic logs the stack of a panic. It does not log the value of the panic, which may have personal data.
func (m Middleware) logPanic(ctx context.Context, fault any) {
	if fault == nil || fault == http.ErrAbortHandler {
		return
	}
	m.Log.ErrorContext(ctx, "request handler panicked", "fault", queue.PanicText(fault), "stack", string(debug.Stack()))
}

// log writes the line of a request. The lines of probes have the level debug.
func (m Middleware) log(ctx context.Context, a telemetry.Answer, info *requestInfo, address string) {
	level := m.Level
	if isProbe(a.Route) {
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{
		slog.String("method", a.Method), slog.String("route", a.Route), slog.Int("status", a.Status),
		slog.Int64("bytes", a.Bytes), slog.Float64("milliseconds", float64(a.Took.Microseconds())/1000),
	}
	for _, optional := range []struct{ key, value string }{
		{"address", address}, {"client", a.Client}, {"authFailure", info.authFailure}, {"namedClient", info.namedClient},
	} {
		if optional.value != "" {
			attributes = append(attributes, slog.String(optional.key, optional.value))
		}
	}
	m.Log.LogAttrs(ctx, level, "request", attributes...)
}

func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// methodLabel returns the method of a request if it is a usual one, and else "other", since clients can send any text.
func methodLabel(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// requestInfo has what the log needs about a request. It is in the context of the request.
type requestInfo struct {
	id     string // as in the X-Request-Id of the response
	client string // ID of the API client; empty until it is authenticated
	route  string // pattern of the path; empty until it is found

	authFailure string // kind of the failure of authentication; empty: none failed
	namedClient string // as loggedName returns it, if the authentication of that client failed
}

type requestInfoKey struct{}

// infoOf returns the requestInfo of a context; nil if it is not that of a request.
func infoOf(ctx context.Context) *requestInfo {
	info, _ := ctx.Value(requestInfoKey{}).(*requestInfo)
	return info
}

// noRoute is the route of a request whose path matches no pattern.
const noRoute = "none"

// routeOf returns the pattern of a request's path, without the method, such as "/api/v1/signing/{pollingId}".
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

// RecordRoute records the pattern of a request's path for the log. It is a Wrap of [httpapi.Config].
func RecordRoute(pattern string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if info := infoOf(r.Context()); info != nil {
			info.route = pattern
		}
		h.ServeHTTP(w, r)
	})
}

// RecordClients returns accounts that record the client of a request for the log.
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

// Issue implements [httpapi.Accounts].
func (c recordedClients) Issue(ctx context.Context, clientID, secret string, scopes []string) (account.Token, error) {
	token, err := c.Accounts.Issue(ctx, clientID, secret, scopes)
	if info := infoOf(ctx); info != nil && err == nil {
		info.client = clientID
	}
	return token, err
}

// Revoke implements [httpapi.Accounts].
func (c recordedClients) Revoke(ctx context.Context, clientID, secret, token string) error {
	err := c.Accounts.Revoke(ctx, clientID, secret, token)
	if info := infoOf(ctx); info != nil && err == nil {
		info.client = clientID
	}
	return err
}

// RecordAuthFailure records for the log that the authentication of a request failed. client is what the request named as
// its client.
func RecordAuthFailure(ctx context.Context, kind httpapi.AuthFailure, client string) {
	if info := infoOf(ctx); info != nil {
		info.authFailure, info.namedClient = string(kind), loggedName(client)
	}
}

// otherName stands in the log for what a request named as its client and is not likely to be the ID of one.
const otherName = "other"

// personalNumber matches what may have a kennitala or a phone number in it.
var personalNumber = regexp.MustCompile(`\d{7}|\d{6}[-.]\d{4}|\d{3}[-.]\d{4}`)

// loggedName returns a client ID that a request without a valid secret named as the log has it. It is the ID if that has
// the form of one, and otherName if it may be a secret, a token or about a person, as after a mistake of a form or of a
// configuration.
func loggedName(client string) string {
	switch {
	case client == "" || isUUID.MatchString(client):
		return client
	case !isRequestID(client), len(client) >= shortestSecret, personalNumber.MatchString(client):
		return otherName
	}
	return client
}

// isUUID matches the IDs that the server gives to clients.
var isUUID = regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`)

// shortestSecret is the least length of a secret that an operator may choose (package account).
const shortestSecret = 22

// LogHandler adds the IDs of the request and the trace to each line.
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

// requestID returns the ID that a trusted proxy has given to the request, or else a new one.
func (p Proxies) requestID(r *http.Request) string {
	if given := r.Header.Values(requestIDHeader); len(given) == 1 && isRequestID(given[0]) && p.trusts(peer(r)) {
		return given[0]
	}
	return rand.Text()
}

// isRequestID reports whether a text is short, and has only letters, digits and some harmless punctuation.
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

// statusClientLeft is the recorded status of a failed response whose client had closed the connection, as in nginx: that is
// not a fault of the server.
const statusClientLeft = 499

// responseRecorder records the status and the length of a response.
type responseRecorder struct {
	http.ResponseWriter
	status     int
	bytes      int64
	written    bool
	clientLeft func() bool
}

// record records the status of a response that is about to be written.
func (a *responseRecorder) record(status int) {
	if a.status = status; status >= http.StatusInternalServerError && a.clientLeft() {
		a.status = statusClientLeft
	}
}

// WriteHeader implements [http.ResponseWriter]. It does not record informational responses (1xx).
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

// Unwrap returns the writer for [http.ResponseController].
func (a *responseRecorder) Unwrap() http.ResponseWriter { return a.ResponseWriter }
