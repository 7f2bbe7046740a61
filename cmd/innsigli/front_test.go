package main

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	stdlog "log"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"github.com/prometheus/client_golang/prometheus"
)

// Each request has one line, with the pattern of its path and never the path, and a metric; whatever it says
// while it is answered has its ID.
func TestRequestsAreObserved(t *testing.T) {
	var log bytes.Buffer
	f := logFlag{LogLevel: slog.LevelInfo, LogFormat: "auto"}
	registry := prometheus.NewRegistry()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /sign/{token}", func(w http.ResponseWriter, r *http.Request) { io.WriteString(w, "a page") })
	mux.HandleFunc("POST /api/{id}/things", func(w http.ResponseWriter, r *http.Request) {
		exchangeOf(r.Context()).client = "client-7"
		w.WriteHeader(http.StatusEarlyHints)
		w.WriteHeader(http.StatusTeapot)
		f.log(&log).ErrorContext(r.Context(), "request failed")
	})
	mux.HandleFunc("GET /healthz", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("POST /gone", func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) })
	mux.HandleFunc("POST /fault", func(http.ResponseWriter, *http.Request) { panic("no such person: 0101302989") })
	var unasked bytes.Buffer
	server := httptest.NewUnstartedServer(front{
		next: mux, metrics: newRequestMetrics(registry), log: f.log(&log), level: slog.LevelInfo,
		proxies: proxiesOf(t, "[proxy]\ntrusted = [\"127.0.0.0/8\"]\n"),
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
		Level, Msg, RequestID, Method, Route, Client, Fault string
		Status                                              int
		Bytes                                               int64
		Milliseconds                                        float64
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
		{Level: "INFO", Msg: "request", RequestID: "one", Method: "GET", Route: "/sign/{token}", Status: 200, Bytes: 6},
		{Level: "ERROR", Msg: "request failed", RequestID: "two"},
		{Level: "INFO", Msg: "request", RequestID: "two", Method: "POST", Route: "/api/{id}/things", Status: 418, Client: "client-7"},
		{Level: "INFO", Msg: "request", RequestID: "three", Method: "other", Route: "none", Status: 404, Bytes: 19},
		{Level: "INFO", Msg: "request", RequestID: "five", Method: "POST", Route: "/gone", Status: 500},
		{Level: "ERROR", Msg: "answering a request panicked", RequestID: "six", Fault: "string"},
		{Level: "INFO", Msg: "request", RequestID: "six", Method: "POST", Route: "/fault", Status: 500},
	}, got, cmpopts.IgnoreFields(line{}, "Milliseconds")); diff != "" {
		t.Errorf("-want +got:\n%s\n%s", diff, &log)
	}
	if unasked.Len() > 0 || !strings.Contains(log.String(), "front_test.go") {
		t.Errorf("where it panicked is in the log, and nowhere else:\n%s\n%s", &unasked, &log)
	}
	for _, secret := range []string{"aSecretOfMine", "0101302989", "0b6c8f0e", "127.0.0.1"} {
		if strings.Contains(log.String(), secret) {
			t.Errorf("%s is in the log:\n%s", secret, &log)
		}
	}
	text := scrape(t, &metrics{registry: registry})
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

// Who goes away before the answer has no part in the faults of the server.
func TestClientThatLeft(t *testing.T) {
	text := leftBehind(t, func(w http.ResponseWriter, r *http.Request, leave func()) {
		leave()
		<-r.Context().Done()
		w.WriteHeader(http.StatusInternalServerError)
	})
	if !strings.Contains(text, `status="499"`) || strings.Contains(text, `status="500"`) {
		t.Error(text)
	}
}

// Who goes away after the answer has had it.
func TestClientThatLeftAfterwards(t *testing.T) {
	text := leftBehind(t, func(w http.ResponseWriter, r *http.Request, leave func()) {
		w.WriteHeader(http.StatusInternalServerError)
		leave()
		<-r.Context().Done()
	})
	if strings.Contains(text, `status="499"`) || !strings.Contains(text, `status="500"`) {
		t.Error(text)
	}
}

// leftBehind are the metrics of a request whose client leaves when the handler says so.
func leftBehind(t *testing.T, answer func(w http.ResponseWriter, r *http.Request, leave func())) string {
	t.Helper()
	registry := prometheus.NewRegistry()
	ctx, leave := context.WithCancel(t.Context())
	server := httptest.NewServer(front{
		metrics: newRequestMetrics(registry), log: slog.New(slog.DiscardHandler),
		next: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { answer(w, r, leave) }),
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
	return scrape(t, &metrics{registry: registry})
}
