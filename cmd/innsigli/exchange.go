package main

import (
	"context"
	"crypto/rand"
	"log/slog"
	"net/http"

	"go.opentelemetry.io/otel/trace"

	"github.com/innsigli/innsigli/account"
)

// exchange is a request to the server, as its log tells of it. It is in the context of all that is done for
// the request.
type exchange struct {
	id     string // that is answered as X-Request-Id
	client string // ID of the API client, once it has shown who it is
	route  string // pattern of the API's path, once it was found
}

type exchangeKey struct{}

func withExchange(ctx context.Context, e *exchange) context.Context {
	return context.WithValue(ctx, exchangeKey{}, e)
}

// exchangeOf is the request that something is done for; nil: none.
func exchangeOf(ctx context.Context) *exchange {
	c, _ := ctx.Value(exchangeKey{}).(*exchange)
	return c
}

// callLog adds to each line which request, and which trace, it is about.
type callLog struct{ slog.Handler }

// Handle implements [slog.Handler].
func (h callLog) Handle(ctx context.Context, r slog.Record) error {
	var about []slog.Attr
	if c := exchangeOf(ctx); c != nil {
		about = append(about, slog.String("requestId", c.id))
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
func (h callLog) WithAttrs(attributes []slog.Attr) slog.Handler {
	return callLog{h.Handler.WithAttrs(attributes)}
}

// WithGroup implements [slog.Handler].
func (h callLog) WithGroup(name string) slog.Handler { return callLog{h.Handler.WithGroup(name)} }

// routed notes which of the API's paths a request is for.
func routed(pattern string, h http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if of := exchangeOf(r.Context()); of != nil {
			of.route = pattern
		}
		h.ServeHTTP(w, r)
	})
}

// callers are the accounts, which note who a request is by.
type callers struct{ *account.Service }

// Authenticate implements httpapi.Accounts.
func (c callers) Authenticate(ctx context.Context, bearer string) (account.Caller, error) {
	caller, err := c.Service.Authenticate(ctx, bearer)
	if of := exchangeOf(ctx); of != nil && err == nil {
		of.client = caller.ClientID
	}
	return caller, err
}

const (
	requestIDHeader  = "X-Request-Id"
	longestRequestID = 64
)

// requestID is the one that a trusted proxy has given to the request, or a new one.
func (p proxies) requestID(r *http.Request) string {
	if given := r.Header.Values(requestIDHeader); len(given) == 1 && isRequestID(given[0]) && p.trusts(peer(r)) {
		return given[0]
	}
	return rand.Text()
}

// isRequestID: short, and nothing in it that means something where it is written.
func isRequestID(text string) bool {
	for _, c := range []byte(text) {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9':
		case c == '-', c == '_', c == '.', c == ':':
		default:
			return false
		}
	}
	return text != "" && len(text) <= longestRequestID
}
