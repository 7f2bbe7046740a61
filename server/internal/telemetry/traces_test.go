package telemetry

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"

	"go.opentelemetry.io/otel"

	"github.com/innsigli/innsigli/internal/test/collector"
)

// read reads the variables.
func read(variables map[string]string) (c Collector, faults []string) {
	c = ReadCollector(func(name string) string { return variables[name] }, func(name, text string) { faults = append(faults, name+": "+text) })
	return c, faults
}

// Outside of a request nothing is traced that would be a part of one; without traces nothing is traced.
func TestNoTraces(t *testing.T) {
	c := collector.Start(t)
	to, _ := read(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": c.URL + "/v1/traces"})
	provider, err := to.Open(t.Context(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	_, end := NewTraces(provider).step(t.Context(), "store.transaction")
	end("committed")
	if err := provider.Shutdown(t.Context()); err != nil || len(c.Spans()) != 0 {
		t.Errorf("%v, %v", c.Spans(), err)
	}
	for name, variables := range map[string]map[string]string{
		"none":     {},
		"disabled": {"OTEL_SDK_DISABLED": "True", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
		"to none":  {"OTEL_TRACES_EXPORTER": "none", "OTEL_EXPORTER_OTLP_ENDPOINT": c.URL},
	} {
		to, faults := read(variables)
		if provider, err := to.Open(t.Context(), nil); provider != nil || err != nil || faults != nil {
			t.Errorf("%s: %v, %v, %v", name, provider, err, faults)
		}
	}
	_, end = NewTraces(nil).begin(t.Context(), "job")
	end("done")
}

func TestCollectorFaults(t *testing.T) {
	for name, value := range map[string]string{
		"OTEL_TRACES_EXPORTER": "zipkin", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc", "OTEL_EXPORTER_OTLP_ENDPOINT": "collector:4317",
		"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": "https://", "OTEL_EXPORTER_OTLP_HEADERS": "a secret of mine", "OTEL_EXPORTER_OTLP_TIMEOUT": "10s",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "br", "OTEL_EXPORTER_OTLP_CERTIFICATE": "none.pem", "OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE": "none.pem",
	} {
		variables := map[string]string{"OTEL_TRACES_EXPORTER": "otlp"}
		variables[name] = value
		_, faults := read(variables)
		if len(faults) != 1 || !strings.HasPrefix(faults[0], name+": ") || strings.Contains(faults[0], "secret") {
			t.Errorf("%s=%s: %q", name, value, faults)
		}
	}
}

// A collector that does not take traces is told of without what is secret in its address; a redirect is not followed.
func TestTracesThatAreNotTaken(t *testing.T) {
	var followed atomic.Int64
	elsewhere := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { followed.Add(1) }))
	defer elsewhere.Close()
	away := httptest.NewServer(http.RedirectHandler(elsewhere.URL, http.StatusTemporaryRedirect))
	defer away.Close()
	for address, want := range map[string]string{
		away.URL + "/v1/traces?key=aSecretOfMine":                "the collector answered 307",
		"http://me:aSecretOfMine@127.0.0.1:1/?key=aSecretOfMine": "connection refused",
	} {
		to, faults := read(map[string]string{"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": address})
		var failed []string
		provider, err := to.Open(t.Context(), func(err error) { failed = append(failed, err.Error()) })
		if err != nil || faults != nil {
			t.Fatal(err, faults)
		}
		if err := provider.Shutdown(t.Context()); err != nil {
			t.Error(err)
		}
		err = to.Check(t.Context())
		otel.Handle(err)
		if said := strings.Join(failed, " "); !strings.Contains(said, want) || strings.Contains(said, "aSecretOfMine") {
			t.Errorf("%v: %s", err, said)
		}
	}
	if followed.Load() > 0 {
		t.Error("the collector's redirect was followed")
	}
}

// What would fail at the start is found when the variables are read.
func TestResourceAttributesThatAreNone(t *testing.T) {
	t.Setenv("OTEL_RESOURCE_ATTRIBUTES", "production")
	_, faults := read(map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://collector:4318"})
	if len(faults) != 1 || !strings.HasPrefix(faults[0], "OTEL_RESOURCE_ATTRIBUTES: ") {
		t.Error(faults)
	}
}
