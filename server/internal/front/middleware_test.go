package front

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	stdlog "log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/innsigli/innsigli/internal/test/collector"
	"github.com/innsigli/innsigli/server/internal/telemetry"
	"github.com/innsigli/innsigli/storage"
)

// Each request has one line, with the pattern of its path and never the path, and a metric; whatever it says
// while it is answered has its ID.
func TestRequestsAreObserved(t *testing.T) {
	var log bytes.Buffer
	to, metrics := slog.New(LogHandler{slog.NewJSONHandler(&log, nil)}), telemetry.NewMetrics()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign/{token}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a page") })
	mux.HandleFunc("POST /api/{id}/things", func(w http.ResponseWriter, r *http.Request) {
		infoOf(r.Context()).client = "client-7"
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
		to.ErrorContext(r.Context(), "request failed")
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /gone", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("POST /fault", func(_ http.ResponseWriter, r *http.Request) {
		RecordAuthFailure(r.Context(), "invalid_client", "mine")
		panic("no such person: 0101302989")
	})
	var unasked bytes.Buffer
	server := httptest.NewUnstartedServer(Middleware{
		Next: mux, Metrics: metrics, Log: to, Proxies: Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("127.0.0.0/8")}},
	})
	defer server.Close()
	server.Config.ErrorLog = stdlog.New(&unasked, "", 0)
	server.Start()
	send := func(method, path, id string) string {
		t.Helper()
		r, err := http.NewRequestWithContext(t.Context(), method, server.URL+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("X-Request-Id", id)
		r.Header.Set("X-Forwarded-For", "198.51.100.1, 203.0.113.7")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			return ""
		}
		response.Body.Close()
		return response.Header.Get("X-Request-Id")
	}
	if got := send("GET", "/sign/aSecretOfMine?kennitala=0101302989", "one"); got != "one" {
		t.Errorf("X-Request-Id: %q", got)
	}
	send("POST", "/api/0b6c8f0e/things", "two")
	send("BREW", "/nowhere/0101302989", "three")
	send("GET", "/healthz", "four")
	send("POST", "/gone", "five")
	send("POST", "/fault", "six")
	server.Close() // all are answered

	type line struct {
		Level, Msg, RequestID, Method, Route, Client, Address, AuthFailure, NamedClient, Fault string
		Status                                                                                 int
		Bytes                                                                                  int64
		Milliseconds                                                                           float64
	}
	var got []line
	for text := range strings.Lines(log.String()) {
		var l line
		if err := json.Unmarshal([]byte(text), &l); err != nil {
			t.Fatalf("%v: %s", err, text)
		}
		got = append(got, l)
	}
	if diff := cmp.Diff([]line{
		{Level: "INFO", Msg: "request", RequestID: "one", Method: "GET", Route: "/sign/{token}", Address: "203.0.113.7", Status: 200, Bytes: 6},
		{Level: "ERROR", Msg: "request failed", RequestID: "two"},
		{Level: "INFO", Msg: "request", RequestID: "two", Method: "POST", Route: "/api/{id}/things", Address: "203.0.113.7", Status: 418, Client: "client-7"},
		{Level: "INFO", Msg: "request", RequestID: "three", Method: "other", Route: "none", Address: "203.0.113.7", Status: 404, Bytes: 19},
		{Level: "INFO", Msg: "request", RequestID: "five", Method: "POST", Route: "/gone", Address: "203.0.113.7", Status: 500},
		{Level: "ERROR", Msg: "request handler panicked", RequestID: "six", Fault: "string"},
		{Level: "INFO", Msg: "request", RequestID: "six", Method: "POST", Route: "/fault", Address: "203.0.113.7", AuthFailure: "invalid_client", NamedClient: "mine", Status: 500},
	}, got, cmpopts.IgnoreFields(line{}, "Milliseconds")); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, &log)
	}
	if unasked.Len() > 0 || !strings.Contains(log.String(), "middleware_test.go") {
		t.Errorf("where it panicked is in the log, and nowhere else:\n%s\n%s", &unasked, &log)
	}
	for _, secret := range []string{"aSecretOfMine", "0101302989", "0b6c8f0e", "127.0.0.1", "198.51.100.1"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, &log)
		}
	}
	text := scrape(t, metrics)
	for _, want := range []string{
		`innsigli_http_requests_total{method="GET",route="/sign/{token}",status="200"} 1`,
		`innsigli_http_requests_total{method="other",route="none",status="404"} 1`,
		`innsigli_http_request_duration_seconds_count{method="POST",route="/api/{id}/things"} 1`,
		`innsigli_http_response_bytes_total{route="/sign/{token}"} 6`,
		"innsigli_http_requests_in_flight 0",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("no %s in\n%s", want, text)
		}
	}
}

// A client that leaves before the answer is not counted as a fault of the server, and one that leaves after it is.
func TestClientThatLeft(t *testing.T) {
	before := leftBehind(t, func(w http.ResponseWriter, r *http.Request, leave func()) {
		leave()
		<-r.Context().Done()
		w.WriteHeader(http.StatusInternalServerError)
	})
	after := leftBehind(t, func(w http.ResponseWriter, r *http.Request, leave func()) {
		w.WriteHeader(http.StatusInternalServerError)
		leave()
		<-r.Context().Done()
	})
	for status, text := range map[string]string{`status="499"`: before, `status="500"`: after} {
		if strings.Count(before+after, status) != strings.Count(text, status) || !strings.Contains(text, status) {
			t.Errorf("%s: before the answer %s, after it %s", status, before, after)
		}
	}
}

// leftBehind are the metrics of a request whose client leaves when the handler says so.
func leftBehind(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, leave func())) string {
	t.Helper()
	metrics := telemetry.NewMetrics()
	ctx, leave := context.WithCancel(t.Context())
	server := httptest.NewServer(Middleware{
		Metrics: metrics, Log: slog.New(slog.DiscardHandler),
		Next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, leave) }),
	})
	defer server.Close()
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, nil)
	if err != nil {
		t.Fatal(err)
	}
	if response, err := http.DefaultClient.Do(r); err == nil {
		response.Body.Close()
		t.Fatal(response.Status)
	}
	server.Close()
	return scrape(t, metrics)
}

func scrape(t *testing.T, m *telemetry.Metrics) string {
	t.Helper()
	w := httptest.NewRecorder()
	m.Handler().ServeHTTP(w, httptest.NewRequest("GET", "/metrics", nil))
	return w.Body.String()
}

// A request is a span, of the trace that a trusted proxy names and of one of its own otherwise. A collector that
// is busy gets it later.
func TestTraces(t *testing.T) {
	c := collector.Start(t)
	c.Authorization, c.Busy = "Bearer a secret of mine", 1
	variables := map[string]string{
		"OTEL_EXPORTER_OTLP_ENDPOINT": c.URL + "/", "OTEL_EXPORTER_OTLP_HEADERS": "Authorization=Bearer%20a%20secret%20of%20mine",
		"OTEL_EXPORTER_OTLP_COMPRESSION": "gzip", "OTEL_EXPORTER_OTLP_TIMEOUT": "60000",
	}
	to := telemetry.ReadCollector(func(name string) string { return variables[name] }, func(name, text string) { t.Fatal(name, text) })
	provider, err := to.Open(t.Context(), func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	observer := telemetry.Observer{Metrics: telemetry.NewMetrics(), Traces: telemetry.NewTraces(provider)}
	store := observer.Transactor(unavailable{})
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign/{token}", func(w http.ResponseWriter, r *http.Request) {
		if err := store.InTx(r.Context(), nil); !errors.Is(err, storage.ErrUnavailable) {
			t.Error(err)
		}
		w.WriteHeader(http.StatusServiceUnavailable)
	})
	m := Middleware{
		Next: mux, Metrics: observer.Metrics, Traces: observer.Traces, Log: slog.New(slog.DiscardHandler),
		Proxies: Proxies{Trusted: []netip.Prefix{netip.MustParsePrefix("10.0.0.1/32")}},
	}
	const before = "4bf92f3577b34da6a3ce929d0e0e4736"
	for _, from := range []string{"10.0.0.1:9", "10.0.0.2:9"} {
		r := httptest.NewRequest("GET", "/sign/aSecretLink?kennitala=0101302989", nil)
		r.RemoteAddr = from
		r.Header.Set("traceparent", "00-"+before+"-00f067aa0ba902b7-01")
		m.ServeHTTP(httptest.NewRecorder(), r)
	}
	if err := provider.Shutdown(t.Context()); err != nil {
		t.Fatal(err)
	}
	var roots, steps []collector.Span
	for _, s := range c.Spans() {
		switch s.Name {
		case "GET /sign/{token}":
			roots = append(roots, s)
		case "store.transaction":
			steps = append(steps, s)
		}
	}
	if len(roots) != 2 || len(steps) != 2 {
		t.Fatalf("%v", c.Spans())
	}
	for i, trusted := range []bool{true, false} {
		if (roots[i].Trace() == before) != trusted || (hex.EncodeToString(roots[i].ParentSpanId) == "00f067aa0ba902b7") != trusted {
			t.Errorf("trusted %t: %v", trusted, roots[i])
		}
		if !slices.Equal(steps[i].ParentSpanId, roots[i].SpanId) || steps[i].Trace() != roots[i].Trace() {
			t.Errorf("a step of %v is %v", roots[i], steps[i])
		}
		if roots[i].Attributes["http.route"] != "/sign/{token}" || roots[i].Attributes["service.name"] != "innsigli" || steps[i].Attributes["innsigli.result"] != "unavailable" {
			t.Errorf("%v, %v", roots[i].Attributes, steps[i].Attributes)
		}
		if roots[i].Status.GetCode() != 2 {
			t.Errorf("status %v", roots[i].Status)
		}
	}
	for _, secret := range []string{"aSecretLink", "0101302989", "10.0.0.1"} {
		if strings.Contains(string(c.Raw()), secret) {
			t.Errorf("%s is in a trace", secret)
		}
	}
}

// unavailable is a store that cannot be reached.
type unavailable struct{}

func (unavailable) InTx(context.Context, func(context.Context) error) error {
	return storage.ErrUnavailable
}

// What a request names as its client is in the log if it may be the ID of one, and not if it may be a secret or about a person.
func TestLoggedName(t *testing.T) {
	for client, want := range map[string]string{
		"": "", "archive": "archive", "my.client_7": "my.client_7", "9922c74f-1582-493b-8842-812345678905": "9922c74f-1582-493b-8842-812345678905",
		"0101302989": otherName, "010130-2989": otherName, "anna-0101302989": otherName, "5550101": otherName, "555-0101": otherName,
		"anna@example.is": otherName, "Anna Jónsdóttir": otherName, "a\nb": otherName, "a\x1b[31m": otherName, `a" b="c`: otherName,
		"qLkY0xkQ2dXv8mUq8nqf3w": otherName, strings.Repeat("a", 5000): otherName,
	} {
		if got := loggedName(client); got != want {
			t.Errorf("%q: %q, want %q", client, got, want)
		}
	}
}
