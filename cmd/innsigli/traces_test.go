package main

import (
	"bytes"
	"encoding/hex"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"go.opentelemetry.io/otel"
)

// tracesOf opens traces with the variables.
func tracesOf(t *testing.T, variables map[string]string) (*traces, faults) {
	t.Helper()
	var found faults
	s := readOTLP(func(name string) string { return variables[name] }, &found)
	if len(found) > 0 {
		return nil, found
	}
	opened, err := s.open(t.Context(), slog.New(slog.DiscardHandler))
	if err != nil {
		t.Fatal(err)
	}
	return opened, nil
}

// A request is a span, of the trace that a trusted proxy names and of one of its own otherwise. A collector that
// is busy gets it later.
func TestTraces(t *testing.T) {
	c := startCollector(t)
	c.header, c.busy = "Bearer a secret of mine", 1
	opened, found := tracesOf(t, map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20a%20secret%20of%20mine",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
	})
	if err := found.err(); err != nil {
		t.Fatal(err)
	}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign/{token}", func(w http.ResponseWriter, r *http.Request) {
		_, end := opened.step(r.Context(), "store.transaction")
		end("unavailable")
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	f := front{
		next: mux, metrics: newRequestMetrics(prometheus.NewRegistry()), traces: opened, log: slog.New(slog.DiscardHandler),
		proxies: proxiesOf(t, "[proxy]\ntrusted = [\"10.0.0.1\"]\n"),
	}
	const before = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, from := range []string{"10.0.0.1:9", "10.0.0.2:9"} {
		r := httptest.NewRequest("GET", "/sign/aSecretLink?kennitala=0101302989", nil)
		r.RemoteAddr = from
		r.Header.Set("traceparent", "00-"+before+"-00f067aa0ba902b7-01")
		f.ServeHTTP(httptest.NewRecorder(), r)
	}
	if err := opened.close(t.Context()); err != nil {
		t.Fatal(err)
	}
	var roots, steps []takenSpan
	for _, s := range c.spans() {
		switch s.Name {
		case "GET /sign/{token}":
			roots = append(roots, s)
		case "store.transaction":
			steps = append(steps, s)
		}
	}
	if len(roots) != 2 || len(steps) != 2 {
		t.Fatalf("%v", c.spans())
	}
	for i, trusted := range []bool{true, false} {
		if (roots[i].trace() == before) != trusted || (hex.EncodeToString(roots[i].ParentSpanId) == "00f067aa0ba902b7") != trusted {
			t.Errorf("trusted %t: %v", trusted, roots[i])
		}
		if !slices.Equal(steps[i].ParentSpanId, roots[i].SpanId) || steps[i].trace() != roots[i].trace() {
			t.Errorf("a step of %v is %v", roots[i], steps[i])
		}
		if roots[i].about["http.route"] != "/sign/{token}" || roots[i].about["service.name"] != "innsigli" || steps[i].about["innsigli.result"] != "unavailable" {
			t.Errorf("%v, %v", roots[i].about, steps[i].about)
		}
		if roots[i].Status.GetCode() != 2 {
			t.Errorf("status %v", roots[i].Status)
		}
	}
	for _, secret := range []string{"aSecretLink", "0101302989", "10.0.0.1"} {
		if strings.Contains(string(c.raw), secret) {
			t.Errorf("%s is in a trace", secret)
		}
	}
}

// Outside of a request nothing is traced that would be a part of one; without traces nothing is traced.
func TestNoTraces(t *testing.T) {
	c := startCollector(t)
	opened, _ := tracesOf(t, map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/v1/traces"})
	_, end := opened.step(t.Context(), "store.transaction")
	end("committed")
	if err := opened.close(t.Context()); err != nil || len(c.spans()) != 0 {
		t.Errorf("%v, %v", c.spans(), err)
	}
	for name, variables := range map[string]map[string]string{
		"none":     {},
		"disabled": {"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
		"to none":  {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
	} {
		if opened, found := tracesOf(t, variables); opened != nil || found != nil {
			t.Errorf("%s: %v, %v", name, opened, found)
		}
	}
	var none *traces
	_, end = none.begin(t.Context(), "job")
	end("done")
}

func TestTraceFaults(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://", "OTEL_EXPORTER_OTLP_HEADERS": "a secret of mine", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "br", "OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "none.pem",
	} {
		variables := map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}
		variables[name] = value
		_, found := tracesOf(t, variables)
		if len(found) != 1 || !strings.HasPrefix(found[0], name+": ") || strings.Contains(found[0], "secret") {
			t.Errorf("%s=%s: %q", name, value, found)
		}
	}
}

// A collector that does not take traces is told of in the log alone, and without what is secret in its address;
// nobody that it leads to gets any.
func TestTracesThatAreNotTaken(t *testing.T) {
	var strangers atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { strangers.Add(1) }))
	defer elsewhere.Close()
	away := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	for address, want := range map[string]string{
		away.URL + "/v1/traces?key=aSecretOfMine":                "the collector answered 307",
		"http://me:aSecretOfMine@127.0.0.1:1/?key=aSecretOfMine": "connection refused",
	} {
		var found faults
		var log bytes.Buffer
		s := readOTLP(func(name string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": address}[name]
		}, &found)
		opened, err := s.open(t.Context(), slog.New(slog.NewTextHandler(&log, nil)))
		if err != nil || found.err() != nil {
			t.Fatal(err, found)
		}
		if err := opened.close(t.Context()); err != nil {
			t.Error(err)
		}
		_, err = s.client().post(t.Context(), nil)
		otel.Handle(err)
		if said := log.String(); !strings.Contains(said, want) || !strings.Contains(said, "traces were not sent") || strings.Contains(said, "aSecretOfMine") {
			t.Errorf("%v: %s", err, said)
		}
	}
	if strangers.Load() > 0 {
		t.Error("the collector's address led elsewhere")
	}
}

// A collector that is away neither keeps a server from stopping in time, nor is that a fault of the server.
func TestStopWithoutACollector(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var found faults
		var log bytes.Buffer
		to := slog.New(slog.NewTextHandler(&log, nil))
		s := readOTLP(func(name string) string {
			return map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "http://127.0.0.1:1/"}[name]
		}, &found)
		opened, err := s.open(t.Context(), to)
		if err != nil || found.err() != nil {
			t.Fatal(err, found)
		}
		_, end := opened.begin(t.Context(), "what was done")
		end("done")
		began := time.Now()
		(&server{traces: opened, log: to}).closeTraces()
		if took := time.Since(began); took > stopTime/2 || !strings.Contains(log.String(), "traces were not sent") {
			t.Errorf("%v: %s", took, &log)
		}
		time.Sleep(time.Minute) // until the last try is given up
	})
}

// What would fail at the start is found by --check.
func TestResourceAttributesThatAreNone(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "production")
	var found faults
	readOTLP(func(name string) string {
		return map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"}[name]
	}, &found)
	if err := found.err(); err == nil || !strings.Contains(err.Error(), "OTEL_RESOURCE_ATTRIBUTES: ") {
		t.Error(err)
	}
}
