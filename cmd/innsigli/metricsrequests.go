package main

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics are those of requests to the server.
type requestMetrics struct {
	inFlight  prometheus.Gauge
	total     *prometheus.CounterVec
	durations *prometheus.HistogramVec
	bytes     *prometheus.CounterVec
}

func newRequestMetrics(r prometheus.Registerer) *requestMetrics {
	m := &requestMetrics{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "innsigli_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_http_requests_total",
			Help: "Requests that were answered, by the pattern of their path (none: no path is for it) and by status.",
		}, []string{"method", "route", "status"}),
		durations: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name:    "innsigli_http_request_duration_seconds",
			Help:    "From the header of a request to the end of its answer.",
			Buckets: []float64{.003, .01, .03, .1, .3, 1, 3, 10, 30, 100},
		}, []string{"method", "route"}),
		bytes: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_http_response_bytes_total",
			Help: "Bytes in the bodies of answers.",
		}, []string{"route"}),
	}
	r.MustRegister(m.inFlight, m.total, m.durations, m.bytes)
	return m
}

func (m *requestMetrics) observe(o outcome) {
	m.total.WithLabelValues(o.method, o.route, strconv.Itoa(o.status)).Inc()
	m.durations.WithLabelValues(o.method, o.route).Observe(o.took.Seconds())
	m.bytes.WithLabelValues(o.route).Add(float64(o.bytes))
}
