package server

import (
	"context"
	"fmt"
	"time"
)

const (
	// cleanupInterval is the time between two cleanups.
	cleanupInterval = time.Minute
	// uploadTime is how long after its upload began a document without a signing request is deleted.
	uploadTime = time.Hour
	// cleanupBatch is the most records that one transaction deletes.
	cleanupBatch = 1000
)

// cleanupTask deletes records that are not needed any more. do deletes one bounded batch and returns how many records it
// deleted; unless that is 0, there may be more.
type cleanupTask struct {
	what string
	do   func(context.Context) (int, error)
}

// cleanupTasks returns the tasks of the retention table (spec 7.2). Documents of requests and processes are not in it: they
// are deleted when their request is delivered, or with their process.
func (s *Server) cleanupTasks() []cleanupTask {
	b := s.config.Backend
	inTx := func(what string, do func(context.Context) (int, error)) func(context.Context) (int, error) {
		return func(ctx context.Context) (n int, err error) {
			err = b.InTx(ctx, func(ctx context.Context) error {
				n, err = do(ctx)
				return err
			})
			if err != nil {
				return 0, fmt.Errorf("deleting %s: %w", what, err)
			}
			return n, nil
		}
	}
	return []cleanupTask{
		{"documents without a request", func(ctx context.Context) (int, error) {
			return b.Documents().Sweep(ctx, time.Now().Add(-uploadTime))
		}},
		{"requests and idempotency keys", s.signing.Sweep},
		{"kept certificates", inTx("certificates that have expired", func(ctx context.Context) (int, error) {
			return b.Requests().DropCertificates(ctx, time.Now(), cleanupBatch)
		})},
		{"access tokens", s.accounts.Sweep},
		{"busy signals", s.signals.Sweep},
		{"expired links of processes, expired processes, and idempotency keys", s.processes.Sweep},
		{"processes that ended", func(ctx context.Context) (int, error) {
			if s.config.Retention.Processes == (Period{}) {
				return 0, nil // a client or the operator deletes them
			}
			return s.processes.DeleteEnded(ctx, s.config.Retention.Processes.before(time.Now()))
		}},
		{"records of the signing page", inTx("records of the signing page", func(ctx context.Context) (int, error) {
			return b.Pages().DeleteRecords(ctx, time.Now(), cleanupBatch)
		})},
		{"webhook attempts and dropped events", func(ctx context.Context) (int, error) {
			return s.hooks.Sweep(ctx, s.config.Retention.DeliveryAttempts.before(time.Now()))
		}},
		{"evidence log", s.evidence.prune},
		{"counters of rate limits", func(ctx context.Context) (int, error) {
			buckets := bucketsOf(b)
			if buckets == nil {
				return 0, nil
			}
			return buckets.DeleteFull(ctx, cleanupBatch)
		}},
	}
}

// cleanup runs all tasks. Several servers may run them at once on one backend.
func (s *Server) cleanup(ctx context.Context) {
	for _, task := range s.cleanupTasks() {
		if err := task.run(ctx); err != nil && ctx.Err() == nil {
			s.config.Log.Error("cleanup failed", "what", task.what, "error", err)
		}
	}
}

// run deletes batches until no records are left, or the context ends.
func (t cleanupTask) run(ctx context.Context) error {
	for ctx.Err() == nil {
		if n, err := t.do(ctx); n == 0 || err != nil {
			return err
		}
	}
	return nil
}

// every calls do at once, and then once in each interval, until the context ends.
func every(ctx context.Context, interval time.Duration, do func(context.Context)) error {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	for {
		do(ctx)
		select {
		case <-ctx.Done():
			return nil
		case <-ticker.C:
		}
	}
}
