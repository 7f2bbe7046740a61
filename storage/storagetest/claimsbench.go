package storagetest

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// BenchmarkClaims measures what it takes to claim a job of each of ten groups and to
// finish it, in an empty queue and in one where another group has 100,000 jobs waiting and
// as many in work as it may. It reports the medians, and how many times the first the
// second takes (x-empty).
func BenchmarkClaims(b *testing.B, tx storage.Transactor, jobs storage.Jobs) {
	empty := claimsTake(b, tx, jobs, 10)
	const backlog, step, perGroup = 100_000, 1000, 2
	for range backlog / step {
		waiting := make([]storage.Job, step)
		for i := range waiting {
			waiting[i] = work("k", "huge", -1)
		}
		transact(b, tx, func(ctx context.Context) error { return jobs.Enqueue(ctx, waiting...) })
	}
	transact(b, tx, func(ctx context.Context) error {
		_, err := jobs.Claim(ctx, "k", base, perGroup, perGroup, lease)
		return err
	})
	full := claimsTake(b, tx, jobs, 10)
	b.ReportMetric(0, "ns/op") // which has the preparations in it
	b.ReportMetric(empty.Seconds()*1000, "ms-empty")
	b.ReportMetric(full.Seconds()*1000, "ms-backlog")
	b.ReportMetric(full.Seconds()/empty.Seconds(), "x-empty")
}

// claimsTake is the median of several claims.
func claimsTake(b *testing.B, tx storage.Transactor, jobs storage.Jobs, groups int) time.Duration {
	b.Helper()
	var times []time.Duration
	for range 100 {
		for i := range groups {
			transact(b, tx, func(ctx context.Context) error { return jobs.Enqueue(ctx, work("k", fmt.Sprint(i), 0)) })
		}
		start := time.Now()
		transact(b, tx, func(ctx context.Context) error {
			leases, err := jobs.Claim(ctx, "k", base, groups, 2, lease)
			if err == nil && len(leases) != groups {
				err = fmt.Errorf("%d jobs were claimed", len(leases))
			}
			for _, l := range leases {
				if err := jobs.Finish(ctx, l); err != nil {
					return err
				}
			}
			return err
		})
		times = append(times, time.Since(start))
	}
	return median(times)
}

func transact(b *testing.B, tx storage.Transactor, fn func(ctx context.Context) error) {
	b.Helper()
	if err := tx.InTx(b.Context(), fn); err != nil {
		b.Fatal(err)
	}
}
