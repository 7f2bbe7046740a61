package main

import (
	"strconv"
	"sync"

	"github.com/prometheus/client_golang/prometheus"
)

// requestMetrics are those of requests to the server.
type requestMetrics struct {
	inFlight  prometheus.Gauge
	total     *prometheus.CounterVec
	durations *prometheus.HistogramVec
	bytes     *prometheus.CounterVec
	underWay  *bytesUnderWay
}

func newRequestMetrics(r prometheus.Registerer) *requestMetrics {
	m := &requestMetrics{
		inFlight: prometheus.NewGauge(prometheus.GaugeOpts{
			Name: "innsigli_http_requests_in_flight",
			Help: "Requests that are being answered.",
		}),
		total: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "innsigli_http_requests_total",
			Help: "Requests that were answered, by the pattern of their path (none: no path is for it) and by status (499: the client had left).",
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
	m.underWay = &bytesUnderWay{desc: prometheus.NewDesc("innsigli_http_bytes_under_way",
		"Bytes that count against [limits] documents, of requests and of answers, and those that are held in memory of other bodies.", []string{"of"}, nil)}
	r.MustRegister(m.inFlight, m.total, m.durations, m.bytes, m.underWay)
	return m
}

func (m *requestMetrics) observe(o outcome) {
	m.total.WithLabelValues(o.method, o.route, strconv.Itoa(o.status)).Inc()
	m.durations.WithLabelValues(o.method, o.route).Observe(o.took.Seconds())
	m.bytes.WithLabelValues(o.route).Add(float64(o.bytes))
}

// bytesUnderWay are asked for with each scrape.
type bytesUnderWay struct {
	desc *prometheus.Desc
	of   sync.Map // a name to a func() int64
}

// watch is told where to ask.
func (u *bytesUnderWay) watch(of string, bytes func() int64) { u.of.Store(of, bytes) }

// Describe implements [prometheus.Collector].
func (u *bytesUnderWay) Describe(ch chan<- *prometheus.Desc) { ch <- u.desc }

// Collect implements [prometheus.Collector].
func (u *bytesUnderWay) Collect(ch chan<- prometheus.Metric) {
	for of, bytes := range u.of.Range {
		ch <- prometheus.MustNewConstMetric(u.desc, prometheus.GaugeValue, float64(bytes.(func() int64)()), of.(string))
	}
}
