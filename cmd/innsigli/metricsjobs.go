package main

import (
	"context"
	"errors"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// jobsDue has it read with each scrape how long the oldest job of each kind has been due.
type jobsDue struct {
	desc  *prometheus.Desc
	next  func(ctx context.Context, kind string) (time.Time, error)
	kinds []queue.Kind
}

// dueJobs registers them. They are of the deployment, whichever of its servers is asked.
func (m *metrics) dueJobs(next func(ctx context.Context, kind string) (time.Time, error), kinds []queue.Kind) {
	m.registry.MustRegister(jobsDue{
		desc:  prometheus.NewDesc("innsigli_job_oldest_due_seconds", "For how long the job of a kind has been due that has been waiting longest; 0: none is due.", []string{"kind"}, nil),
		next:  next,
		kinds: kinds,
	})
}

// Describe implements [prometheus.Collector].
func (j jobsDue) Describe(ch chan<- *prometheus.Desc) { ch <- j.desc }

// Collect implements [prometheus.Collector].
func (j jobsDue) Collect(ch chan<- prometheus.Metric) {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	for _, kind := range j.kinds {
		due, err := j.next(ctx, kind.Name)
		if err != nil && !errors.Is(err, storage.ErrNotFound) {
			ch <- prometheus.NewInvalidMetric(j.desc, err)
			return
		}
		var age time.Duration
		if err == nil {
			age = max(0, time.Since(due))
		}
		ch <- prometheus.MustNewConstMetric(j.desc, prometheus.GaugeValue, age.Seconds(), kind.Name)
	}
}
