// Package collector takes traces for tests, as a collector of OpenTelemetry does.
package collector

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	tracepb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// Collector takes traces by OTLP over HTTP. An ExportTraceServiceRequest is a TracesData on the wire.
type Collector struct {
	*httptest.Server
	Authorization string // the header that it asks for
	Busy          int    // how many requests it refuses at first

	mu    sync.Mutex
	taken []*tracepb.ResourceSpans
	raw   []byte
}

// Start starts a collector, which stops at the end of the test.
func Start(t *testing.T) *Collector {
	t.Helper()
	c := new(Collector)
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

// ServeHTTP implements [http.Handler].
func (c *Collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	c.mu.Lock()
	defer c.mu.Unlock()
	body := io.Reader(r.Body)
	if r.Header.Get("Content-Encoding") == "gzip" {
		body, _ = gzip.NewReader(r.Body)
	}
	content, err := io.ReadAll(body)
	var data tracepb.TracesData
	switch {
	case r.Method != http.MethodPost || r.URL.Path != "/v1/traces" || r.Header.Get("Content-Type") != "application/x-protobuf":
		w.WriteHeader(http.StatusNotFound)
	case r.Header.Get("Authorization") != c.Authorization:
		w.WriteHeader(http.StatusUnauthorized)
	case c.Busy > 0:
		c.Busy--
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case err != nil || proto.Unmarshal(content, &data) != nil:
		w.WriteHeader(http.StatusBadRequest)
	default:
		c.taken, c.raw = append(c.taken, data.ResourceSpans...), append(c.raw, content...)
	}
}

// Span is a span that was taken.
type Span struct {
	*tracepb.Span
	Attributes map[string]string // those of the resource too
}

// Spans returns those that were taken.
func (c *Collector) Spans() (all []Span) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.taken {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				about := make(map[string]string)
				for _, a := range append(of.Resource.Attributes, s.Attributes...) {
					about[a.Key] = a.Value.GetStringValue()
				}
				all = append(all, Span{s, about})
			}
		}
	}
	return all
}

// Named returns the first span of a name.
func (c *Collector) Named(t *testing.T, name string) Span {
	t.Helper()
	for _, s := range c.Spans() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %q among %d", name, len(c.Spans()))
	return Span{}
}

// Trace returns the ID of the trace in hexadecimal.
func (s Span) Trace() string { return hex.EncodeToString(s.TraceId) }

// Raw returns all that was taken, as it came.
func (c *Collector) Raw() []byte {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.raw
}
