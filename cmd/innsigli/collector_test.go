package main

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

// collector takes traces by OTLP over HTTP. An ExportTraceServiceRequest is a TracesData on the wire.
type collector struct {
	*httptest.Server
	header string // of Authorization, that is asked for
	busy   int    // how often it cannot take anything, at first

	mu    sync.Mutex
	taken []*tracepb.ResourceSpans
	raw   []byte
}

func startCollector(t *testing.T) *collector {
	t.Helper()
	c := new(collector)
	c.Server = httptest.NewServer(c)
	t.Cleanup(c.Close)
	return c
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
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
	case r.Header.Get("Authorization") != c.header:
		w.WriteHeader(http.StatusUnauthorized)
	case c.busy > 0:
		c.busy--
		w.Header().Set("Retry-After", "1")
		w.WriteHeader(http.StatusServiceUnavailable)
	case err != nil || proto.Unmarshal(content, &data) != nil:
		w.WriteHeader(http.StatusBadRequest)
	default:
		c.taken, c.raw = append(c.taken, data.ResourceSpans...), append(c.raw, content...)
	}
}

// takenSpan is a span as it came.
type takenSpan struct {
	*tracepb.Span
	about map[string]string // attributes, the resource's too
}

func (c *collector) spans() (all []takenSpan) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, of := range c.taken {
		for _, scope := range of.ScopeSpans {
			for _, s := range scope.Spans {
				about := make(map[string]string)
				for _, a := range append(of.Resource.Attributes, s.Attributes...) {
					about[a.Key] = a.Value.GetStringValue()
				}
				all = append(all, takenSpan{s, about})
			}
		}
	}
	return all
}

// named is the first span of a name.
func (c *collector) named(t *testing.T, name string) takenSpan {
	t.Helper()
	for _, s := range c.spans() {
		if s.Name == name {
			return s
		}
	}
	t.Fatalf("no span %q among %d", name, len(c.spans()))
	return takenSpan{}
}

func (s takenSpan) trace() string { return hex.EncodeToString(s.TraceId) }
