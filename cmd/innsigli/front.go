package main

import (
	"cmp"
	"context"
	"log/slog"
	"net/http"
	"runtime/debug"
	"strings"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
)

// front is what each request goes through before it is answered: it gets an ID, is counted and traced, and
// has a line in the log. None of them has its path, which may have a link in it that is a credential, nor
// whom it is from.
type front struct {
	next    http.Handler
	proxies proxies
	metrics *requestMetrics
	traces  *traces
	log     *slog.Logger
	level   slog.Level // of ordinary lines
}

func (f front) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	began, of := time.Now(), &exchange{id: f.proxies.requestID(r)}
	w.Header().Set(requestIDHeader, of.id)
	traced := f.traces
	if isProbe(r.URL.Path) { // there would be more of them than of all else
		traced = nil
	}
	ctx, end := traced.request(withExchange(r.Context(), of), r, f.proxies.trusts(peer(r)))
	r = r.WithContext(ctx)
	a := &noted{ResponseWriter: w, status: http.StatusOK, left: func() bool { return context.Cause(ctx) == context.Canceled }}
	f.metrics.inFlight.Inc()
	defer func() {
		f.metrics.inFlight.Dec()
		found := recover()
		if found != nil && !a.written { // the handler gave up, and net/http closes the connection
			a.note(http.StatusInternalServerError)
		}
		f.panicked(ctx, found)
		o := outcome{methodLabel(r), routeOf(of, r), a.status, a.bytes, time.Since(began)}
		f.metrics.observe(o)
		end(o)
		f.write(r, of, o)
		if found != nil {
			panic(http.ErrAbortHandler) // of which net/http says nothing
		}
	}()
	f.next.ServeHTTP(a, r)
}

// clientLeft is the status of what nobody was there to hear of, as nginx has it: that the answer was not made is no
// fault of the server's.
const clientLeft = 499

// panicked tells of a fault of the program where it is, and not what was found, which may be about people.
func (f front) panicked(ctx context.Context, found any) {
	if found == nil || found == http.ErrAbortHandler {
		return
	}
	f.log.ErrorContext(ctx, "answering a request panicked", "fault", queue.PanicText(found), "stack", string(debug.Stack()))
}

// outcome is what a request came to.
type outcome struct {
	method, route string
	status        int
	bytes         int64 // of the answer's body
	took          time.Duration
}

// write writes the line of a request. Those of probes are for who looks for a fault.
func (f front) write(r *http.Request, of *exchange, o outcome) {
	level := f.level
	if isProbe(o.route) {
		level = slog.LevelDebug
	}
	attributes := []slog.Attr{
		slog.String("method", o.method), slog.String("route", o.route), slog.Int("status", o.status),
		slog.Int64("bytes", o.bytes), slog.Float64("milliseconds", float64(o.took.Microseconds())/1000),
	}
	if of.client != "" {
		attributes = append(attributes, slog.String("client", of.client))
	}
	f.log.LogAttrs(r.Context(), level, "request", attributes...)
}

func isProbe(path string) bool { return path == "/healthz" || path == "/readyz" }

// noRoute is the route of what no path is for.
const noRoute = "none"

// routeOf is the pattern that was found for a request, without its method: "/api/v1/signing/{pollingId}".
func routeOf(of *exchange, r *http.Request) string {
	path := cmp.Or(of.route, r.Pattern)
	if _, withoutMethod, ok := strings.Cut(path, " "); ok {
		path = withoutMethod
	}
	if path == "" || path == "/" {
		return noRoute
	}
	return path
}

// methodLabel is one of the few that there are; others are whatever somebody made up.
func methodLabel(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions:
		return r.Method
	}
	return "other"
}

// noted is an answer of which note is taken.
type noted struct {
	http.ResponseWriter
	status  int
	bytes   int64
	written bool
	left    func() bool // whether the client has
}

// note notes the status of the answer that is about to be written.
func (a *noted) note(status int) {
	if a.status = status; status >= http.StatusInternalServerError && a.left() {
		a.status = clientLeft
	}
}

// WriteHeader implements [http.ResponseWriter]. Informational answers come before the one that counts.
func (a *noted) WriteHeader(status int) {
	if !a.written && status >= http.StatusOK {
		a.note(status)
		a.written = true
	}
	a.ResponseWriter.WriteHeader(status)
}

func (a *noted) Write(p []byte) (int, error) {
	a.written = true
	n, err := a.ResponseWriter.Write(p)
	a.bytes += int64(n)
	return n, err
}

// Unwrap is for [http.ResponseController].
func (a *noted) Unwrap() http.ResponseWriter { return a.ResponseWriter }
