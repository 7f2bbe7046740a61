package queue_test

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// compact keeps the store's transactions waiting for so long, as the compaction of a large store does, and compacts it.
func (q *fixture) compact(long time.Duration) {
	q.Helper()
	q.tx(func(context.Context) error {
		time.Sleep(long) // time: virtual, as in all tests of the runner
		return nil
	})
	if _, _, err := q.db.Compact(q.Context()); err != nil {
		q.Error(err)
	}
}

// While a store is compacted that one process uses, its jobs go on, and none is done twice: neither one that ends
// meanwhile, nor one that ends later, nor one that is claimed meanwhile.
func TestCompactionWhileJobsAreInWork(t *testing.T) {
	bubble(t, func(q *fixture) {
		const jobs = 100
		q.add(many(jobs)...)
		q.add(storage.Job{Due: q.began.Add(20 * time.Second), Unique: "due meanwhile"})
		r := q.runner(func(ctx context.Context, job storage.Job) (time.Time, error) {
			long := 10 * time.Second // of which none is left when the compaction ends
			if len(job.Unique)%2 == 0 {
				long = 100 * time.Second
			}
			return lasting(long)(ctx, job)
		})
		r.SingleProcess = true
		r.Kinds[0].Concurrency, r.Kinds[0].PerGroup = 1000, 1000
		stop := q.start(r)
		time.Sleep(6 * time.Second)
		q.compact(time.Minute)
		time.Sleep(3 * time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if _, none := q.left(); !none || len(q.done) != jobs+1 {
			t.Errorf("%d calls for %d jobs; all done: %v", len(q.done), jobs+1, none)
		}
		if q.reported != nil {
			t.Errorf("reported %v", q.reported)
		}
	})
}

// An operator's drop ends the context of a handler although the store was busy in between.
func TestDroppedAfterACompaction(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		var ended time.Duration
		r := q.runner(func(ctx context.Context, _ storage.Job) (time.Time, error) {
			<-ctx.Done()
			ended = time.Since(q.began)
			return time.Time{}, ctx.Err()
		})
		r.SingleProcess = true
		stop := q.start(r)
		time.Sleep(6 * time.Second)
		q.compact(time.Minute)
		q.tx(func(ctx context.Context) error { return q.db.Jobs().Remove(ctx, q.only().ID) })
		time.Sleep(time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if want := 71 * time.Second; ended != want { // at the next extension
			t.Errorf("the context ended after %v, want %v", ended, want)
		}
	})
}

// Where other processes use the store, a handler's context ends before its lease may be lost, and that the store does not
// answer is reported once.
func TestBusyStoreOfSeveralProcesses(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		stop := q.start(q.runner(lasting(40 * time.Second)))
		time.Sleep(6 * time.Second)
		q.compact(time.Minute)
		time.Sleep(3 * time.Minute)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if diff := cmp.Diff([]time.Duration{0, 66 * time.Second}, q.done); diff != "" {
			t.Errorf("called at other times (-want +got):\n%s", diff)
		}
		if len(q.reported) != 1 || !errors.Is(q.reported[0], storage.ErrUnavailable) || q.kinds[0] != "" {
			t.Errorf("reported %v of %q", q.reported, q.kinds)
		}
	})
}

// A lease begins when the transaction that takes it does, however long that had to wait.
func TestClaimThatWaitsForTheStore(t *testing.T) {
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprint("single process ", single), func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{Due: q.began.Add(10 * time.Second)})
				r := q.runner(lasting(4 * time.Second))
				r.SingleProcess = single
				stop := q.start(r)
				time.Sleep(6 * time.Second)
				q.compact(time.Minute)
				time.Sleep(time.Second)
				if leased, want := q.only().LeasedUntil.Sub(q.began), 81*time.Second; leased != want {
					t.Errorf("leased until %v, want %v", leased, want)
				}
				time.Sleep(time.Minute)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff([]time.Duration{66 * time.Second}, q.done); diff != "" || q.reported != nil {
					t.Errorf("reported %v, called at other times (-want +got):\n%s", q.reported, diff)
				}
			})
		})
	}
}
