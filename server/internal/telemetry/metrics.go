// Package telemetry has the metrics of a server, for Prometheus, and its traces, for OpenTelemetry. Like the log,
// neither has paths of requests or data about people and documents.
package telemetry

import (
	"cmp"
	"context"
	"net/http"
	"net/http/pprof"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/innsigli/innsigli/signing"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// modulePath is the path of this module.
const modulePath = "github.com/innsigli/innsigli"

// Version returns the version of this module in the program, "(devel)" when it was built from a checkout.
func Version() string {
	build, ok := debug.ReadBuildInfo()
	if !ok {
		return "(devel)"
	}
	version := ""
	if build.Main.Path == modulePath {
		version = build.Main.Version
	}
	for _, module := range build.Deps {
		if module.Path == modulePath {
			version = module.Version
		}
	}
	return cmp.Or(version, "(devel)")
}

// Metrics are the metrics of a server.
type Metrics struct {
	registry     *prometheus.Registry
	inFlight     prometheus.Gauge
	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	bytes        *prometheus.CounterVec
	held         *heldBytes
	signatures   *prometheus.CounterVec
	failures     *prometheus.CounterVec
	authFailures *prometheus.CounterVec
	secrets      *prometheus.CounterVec
	calls        *prometheus.HistogramVec
	evidence     *prometheus.HistogramVec
	transactions *prometheus.HistogramVec
	jobs         *prometheus.HistogramVec
	attempts     *prometheus.CounterVec
	attemptTimes *prometheus.HistogramVec
}

// NewMetrics returns new metrics.
func NewMetrics() *Metrics {
	m := &Metrics{
		registry:  prometheus.NewRegistry(),
		inFlight:  prometheus.NewGauge(prometheus.GaugeOpts{Name: "innsigli_http_requests_in_flight", Help: "Requests that are being handled."}),
		requests:  counter("innsigli_http_requests_total", "Requests that were answered, by the pattern of their path (none: no pattern matches) and by status (499: the client closed the connection first).", "method", "route", "status"),
		durations: histogram("innsigli_http_request_duration_seconds", "Time from the header of a request to the end of the response.", []float64{.003, .01, .03, .1, .3, 1, 3, 10, 30, 100}, "method", "route"),
		bytes:     counter("innsigli_http_response_bytes_total", "Bytes in the bodies of responses.", "route"),
		held: &heldBytes{desc: prometheus.NewDesc("innsigli_http_inflight_bytes",
			"Bytes that requests in progress hold: documents of requests and of responses, up to [limits] documents, and other bodies.", []string{"of"}, nil)},
		signatures: counter("innsigli_signatures_total", "Signatures that were made and stored, by level.", "level"),
		failures:   counter("innsigli_signing_failures_total", "Signing requests that ended without a signature, by errorCode (none: no errorCode).", "code"),
		authFailures: counter("innsigli_authentication_failures_total",
			"Authentications that failed, by kind: of API calls missing_token, invalid_token, invalid_client, too_many_secrets and invalid_notification; of logins on the signing page login_ and the reason.", "kind"),
		secrets: counter("innsigli_refused_secrets_total",
			"Secrets in the store that did not open, by reason: plain (not encrypted), key (encrypted with another master key) or damaged (changed, or of another record).", "reason"),
		calls: histogram("innsigli_provider_call_duration_seconds", "Duration of calls to the identity provider, by call and result.", workTimes, "call", "result"),
		evidence: histogram("innsigli_evidence_call_duration_seconds",
			"Time to get a timestamp or a revocation status, cached ones included, by call and result: found, revoked, unavailable or failed.", workTimes, "call", "result"),
		transactions: histogram("innsigli_store_transaction_duration_seconds",
			"Duration of transactions of the store, by result: committed, rolled_back, unavailable or full.", workTimes, "result"),
		jobs:         histogram("innsigli_job_duration_seconds", "Duration of attempts of jobs, by kind and result: done, later (the job goes on later), failed, or cut (the server stopped, or lost the lease).", workTimes, "kind", "result"),
		attempts:     counter("innsigli_webhook_attempts_total", "Requests to webhook endpoints, by purpose and failure (none: the endpoint accepted the request).", "purpose", "failure"),
		attemptTimes: histogram("innsigli_webhook_attempt_duration_seconds", "Time that webhook endpoints take to answer, by purpose.", []float64{.01, .03, .1, .3, 1, 3, 10, 15}, "purpose"),
	}
	m.registry.MustRegister(buildInfo(), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		m.inFlight, m.requests, m.durations, m.bytes, m.held, m.signatures, m.failures, m.authFailures, m.secrets, m.calls, m.evidence, m.transactions, m.jobs, m.attempts, m.attemptTimes)
	return m
}

// workTimes are the buckets of histograms of durations of work, in seconds.
var workTimes = []float64{.001, .003, .01, .03, .1, .3, 1, 3, 10, 30}

func counter(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

func histogram(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
	return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
}

// buildInfo returns a metric that is always 1, with the versions as labels.
func buildInfo() prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "innsigli_build_info",
		Help: "Always 1. The labels have the version of the server, and the version of Go that built it.",
	}, []string{"version", "goversion"})
	g.WithLabelValues(Version(), runtime.Version()).Set(1)
	return g
}

// Handler serves the metrics at /metrics, and the profiles of package pprof except the command line, which may have
// passwords in it. Only operators may reach it. A metric that cannot be read is left out.
func (m *Metrics) Handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// Answer is an HTTP request with its response.
type Answer struct {
	Method, Route string // Route is the pattern of the path, such as "/api/v1/signing/{pollingId}"
	Status        int
	Bytes         int64 // of the response body
	Took          time.Duration
	RequestID     string
	Client        string // ID of the API client; empty: not authenticated
}

// Begun counts a request as in flight until the caller calls the function that it returns.
func (m *Metrics) Begun() (ended func()) {
	m.inFlight.Inc()
	return m.inFlight.Dec
}

// Answered counts a request after its response.
func (m *Metrics) Answered(a Answer) {
	m.requests.WithLabelValues(a.Method, a.Route, strconv.Itoa(a.Status)).Inc()
	m.durations.WithLabelValues(a.Method, a.Route).Observe(a.Took.Seconds())
	m.bytes.WithLabelValues(a.Route).Add(float64(a.Bytes))
}

// WatchBytes adds a value of innsigli_http_inflight_bytes with a name. Each scrape calls bytes.
func (m *Metrics) WatchBytes(name string, bytes func() int64) { m.held.of.Store(name, bytes) }

// heldBytes is the collector of innsigli_http_inflight_bytes.
type heldBytes struct {
	desc *prometheus.Desc
	of   sync.Map // from a name to a func() int64
}

// Describe implements [prometheus.Collector].
func (h *heldBytes) Describe(ch chan<- *prometheus.Desc) { ch <- h.desc }

// Collect implements [prometheus.Collector].
func (h *heldBytes) Collect(ch chan<- prometheus.Metric) {
	for of, bytes := range h.of.Range {
		ch <- prometheus.MustNewConstMetric(h.desc, prometheus.GaugeValue, float64(bytes.(func() int64)()), of.(string))
	}
}

// Step counts the end of a signing request. Other steps are not counted.
func (m *Metrics) Step(s signing.Step) {
	switch {
	case s.Level != "":
		m.signatures.WithLabelValues(s.Level).Inc()
	case s.Name == "signature.failed":
		m.failures.WithLabelValues(cmp.Or(string(s.Code), "none")).Inc()
	}
}

// AuthFailed counts an authentication that failed. kind is one of a few values.
func (m *Metrics) AuthFailed(kind string) { m.authFailures.WithLabelValues(kind).Inc() }

// RefusedSecret counts a secret in the store that did not open, with its reason: plain, key or damaged.
func (m *Metrics) RefusedSecret(reason string) { m.secrets.WithLabelValues(reason).Inc() }

// Attempt counts a request to the endpoint of a webhook.
func (m *Metrics) Attempt(a delivery.Attempt) {
	m.attempts.WithLabelValues(string(a.Purpose), cmp.Or(string(a.Failure), "none")).Inc()
	m.attemptTimes.WithLabelValues(string(a.Purpose)).Observe(a.Duration.Seconds())
}

// WatchDeliveries adds a metric of how long the oldest due delivery has been due, in the whole deployment. Each scrape
// calls oldestDue.
func (m *Metrics) WatchDeliveries(oldestDue func(context.Context) (time.Time, error)) {
	m.registry.MustRegister(scraped{
		desc: prometheus.NewDesc("innsigli_webhook_oldest_due_seconds", "How long the oldest due webhook delivery has been due; 0: none is due.", nil, nil),
		read: func(ctx context.Context) (map[string]float64, error) {
			due, err := oldestDue(ctx)
			return map[string]float64{"": overdue(due)}, err
		},
	})
}

// Jobs is the part of [storage.Jobs] that metrics need.
type Jobs interface {
	NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error)
	CountParked(ctx context.Context) (map[string]int, error)
}

// WatchJobs adds metrics of how long the oldest due job of each kind has been due, and of how many are parked, in the whole
// deployment. Each scrape reads them.
func (m *Metrics) WatchJobs(jobs Jobs, kinds []string) {
	m.registry.MustRegister(scraped{
		desc:  prometheus.NewDesc("innsigli_job_oldest_due_seconds", "How long the oldest due job of a kind has been due; 0: none is due.", []string{"kind"}, nil),
		label: true,
		read: func(ctx context.Context) (map[string]float64, error) {
			due, err := jobs.NextDue(ctx, kinds...)
			ages := make(map[string]float64)
			for _, kind := range kinds {
				ages[kind] = overdue(due[kind])
			}
			return ages, err
		},
	}, scraped{
		desc:  prometheus.NewDesc("innsigli_jobs_parked", "Parked jobs of a kind: their attempts failed, and an operator must retry or drop them (innsigli job).", []string{"kind"}, nil),
		label: true,
		read: func(ctx context.Context) (map[string]float64, error) {
			parked, err := jobs.CountParked(ctx)
			numbers := make(map[string]float64)
			for _, kind := range kinds {
				numbers[kind] = 0
			}
			for kind, n := range parked {
				numbers[kind] = float64(n)
			}
			return numbers, err
		},
	})
}

// WatchFileSize adds metrics of the size of the store's file, and of how many bytes of it are free. Each scrape calls read.
func (m *Metrics) WatchFileSize(read func() (size, free int64, err error)) {
	m.registry.MustRegister(scraped{
		desc: prometheus.NewDesc("innsigli_store_file_bytes", "Size of the store's file, without documents.", nil, nil),
		read: func(context.Context) (map[string]float64, error) {
			size, _, err := read()
			return map[string]float64{"": float64(size)}, err
		},
	}, scraped{
		desc: prometheus.NewDesc("innsigli_store_file_free_bytes", "Free bytes in the store's file: the store uses them again, and innsigli store compact returns them to the file system.", nil, nil),
		read: func(context.Context) (map[string]float64, error) {
			_, free, err := read()
			return map[string]float64{"": float64(free)}, err
		},
	})
}

// overdue returns the seconds since a time; 0 for the zero time and for a time in the future.
func overdue(since time.Time) float64 {
	if since.IsZero() {
		return 0
	}
	return max(0, time.Since(since)).Seconds()
}

// scraped is a metric that each scrape reads. read returns its values by the value of the label, or one value by "".
type scraped struct {
	desc  *prometheus.Desc
	label bool
	read  func(ctx context.Context) (map[string]float64, error)
}

// Describe implements [prometheus.Collector].
func (s scraped) Describe(ch chan<- *prometheus.Desc) { ch <- s.desc }

// Collect implements [prometheus.Collector].
func (s scraped) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	values, err := s.read(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(s.desc, err)
		return
	}
	for label, value := range values {
		var labels []string
		if s.label {
			labels = append(labels, label)
		}
		ch <- prometheus.MustNewConstMetric(s.desc, prometheus.GaugeValue, value, labels...)
	}
}
