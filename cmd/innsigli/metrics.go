package main

import (
	"context"
	"net"
	"net/http"
	"net/http/pprof"
	"runtime"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/innsigli/innsigli/webhook/delivery"
)

// metrics is what the server counts, for Prometheus.
type metrics struct {
	registry  *prometheus.Registry
	attempts  *prometheus.CounterVec
	durations *prometheus.HistogramVec
	requests  *requestMetrics
	work      *workMetrics
}

func newMetrics() *metrics {
	m := &metrics{
		registry: prometheus.NewRegistry(),
		attempts: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_webhook_attempts_total",
			Help: "Requests made to webhook endpoints, by what for and by what kept them from going well (none: nothing).",
		}, []string{"purpose", "failure"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "innsigli_webhook_attempt_duration_seconds",
			Help:    "How long endpoints take to answer.",
			Buckets: []float64{.01, .03, .1, .3, 1, 3, 10, 15},
		}, []string{"purpose"}),
	}
	m.requests, m.work = newRequestMetrics(m.registry), newWorkMetrics(m.registry)
	m.registry.MustRegister(buildInfo(), m.attempts, m.durations, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	return m
}

// buildInfo is always 1, under the version.
func buildInfo() prometheus.Collector {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{
		Name: "innsigli_build_info",
		Help: "1, with the version of the server and of Go that it was built with.",
	}, []string{"version", "goversion"})
	g.WithLabelValues(version(), runtime.Version()).Set(1)
	return g
}

// attempt counts a request to an endpoint.
func (m *metrics) attempt(a delivery.Attempt) {
	failure := string(a.Failure)
	if failure == "" {
		failure = "none"
	}
	m.attempts.WithLabelValues(string(a.Purpose), failure).Inc()
	m.durations.WithLabelValues(string(a.Purpose)).Observe(a.Duration.Seconds())
}

// backlog has the age of the oldest delivery that is due read with each scrape: how far behind the
// deployment is, whichever of its servers is asked.
func (m *metrics) backlog(oldestDue func(context.Context) (time.Time, error)) {
	m.registry.MustRegister(backlogCollector{
		desc:      prometheus.NewDesc("innsigli_webhook_oldest_due_seconds", "For how long the delivery has been due that has been waiting longest; 0: none is due.", nil, nil),
		oldestDue: oldestDue,
	})
}

type backlogCollector struct {
	desc      *prometheus.Desc
	oldestDue func(context.Context) (time.Time, error)
}

func (c backlogCollector) Describe(ch chan<- *prometheus.Desc) { ch <- c.desc }

func (c backlogCollector) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	due, err := c.oldestDue(ctx)
	if err != nil {
		ch <- prometheus.NewInvalidMetric(c.desc, err)
		return
	}
	var age time.Duration
	if !due.IsZero() {
		age = max(0, time.Since(due))
	}
	ch <- prometheus.MustNewConstMetric(c.desc, prometheus.GaugeValue, age.Seconds())
}

// handler serves the metrics, and the profiles of package pprof, but for the command line, which may
// have passwords in it. None is for strangers. What
// cannot be read is left out of an answer, and does not keep the rest from being told.
func (m *metrics) handler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{ErrorHandling: promhttp.ContinueOnError}))
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// orLoopback is an address to listen on. One without a host gets this machine's own.
func orLoopback(address string) (string, error) {
	host, port, err := net.SplitHostPort(address)
	if err == nil && host == "" {
		host = "127.0.0.1"
	}
	return net.JoinHostPort(host, port), err
}
