package main

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// observed times the jobs of a kind. Each is a trace of its own.
func (s *server) observed(k queue.Kind) queue.Kind {
	if do := k.Do; do != nil {
		k.Do = func(ctx context.Context, job storage.Job) (retry time.Time, err error) {
			ctx, end := s.job(ctx, k.Name)
			retry, err = do(ctx, job)
			end(!retry.IsZero(), err)
			return retry, err
		}
	}
	if do := k.DoThen; do != nil {
		k.DoThen = func(ctx context.Context, job storage.Job) (then func(context.Context) error, err error) {
			ctx, end := s.job(ctx, k.Name)
			then, err = do(ctx, job)
			end(false, err)
			return then, err
		}
	}
	return k
}

// job begins one of a kind.
func (s *server) job(ctx context.Context, kind string) (context.Context, func(later bool, err error)) {
	ctx, end := s.traces.begin(ctx, "job "+kind)
	began := time.Now()
	return ctx, func(later bool, err error) {
		result := "done"
		switch {
		case err != nil:
			result = failedResult
		case later:
			result = "later"
		}
		s.metrics.work.jobs.WithLabelValues(kind, result).Observe(time.Since(began).Seconds())
		end(result)
	}
}
