package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/storage"
)

// extending counts the statements that extend leases, and the leases in them.
type extending struct {
	storage.Jobs
	statements, leases atomic.Int64
}

func (e *extending) Extend(ctx context.Context, leases []storage.Lease, until time.Time) ([]bool, error) {
	e.statements.Add(1)
	e.leases.Add(int64(len(leases)))
	return e.Jobs.Extend(ctx, leases, until)
}

// Leases of jobs that take long are extended, all by one statement, so that no other runner claims the jobs; those of
// jobs that are short cost nothing.
func TestLeasesAreExtended(t *testing.T) {
	for _, test := range []struct {
		name       string
		takes      time.Duration
		statements int64 // at most
	}{{"short", 4 * time.Second, 0}, {"long", 99 * time.Second, 20}} { // they end between two extensions
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(many(100)...)
				r := q.runner(lasting(test.takes))
				r.Kinds[0].Concurrency = 100
				counted := &extending{Jobs: r.Jobs}
				r.Jobs = counted
				stop := q.start(r)
				time.Sleep(time.Second)
				other := q.start(q.runner(func(context.Context, storage.Job) (time.Time, error) {
					t.Error("a job was claimed by another runner")
					return time.Time{}, nil
				}))
				time.Sleep(200 * time.Second)
				if err := errors.Join(stop(), other()); err != nil {
					t.Error(err)
				}
				if _, none := q.left(); !none || q.reported != nil {
					t.Errorf("all done: %v, reported %v", none, q.reported)
				}
				n, leases := counted.statements.Load(), counted.leases.Load()
				if n > test.statements || leases != 100*n || (n == 0) != (test.statements == 0) {
					t.Errorf("%d statements extended %d leases", n, leases)
				}
			})
		})
	}
}

// A handler's context ends when its lease is lost: at the next extension if an operator dropped the job, and a little
// before the lease ends if the store is away. Neither is a failed attempt.
func TestHandlerWhoseLeaseIsLost(t *testing.T) {
	for _, test := range []struct {
		name string
		lose func(q *fixture)
		away time.Duration // the store, from the sixth second on
		at   time.Duration
		left int // jobs, and so many reports
	}{
		{"dropped", func(q *fixture) {
			q.tx(func(ctx context.Context) error { return q.db.Jobs().Remove(ctx, q.only().ID) })
		}, 0, 10 * time.Second, 0},
		{"the store is away", func(*fixture) {}, 19 * time.Second, 17 * time.Second, 1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				var ended []time.Duration
				r := q.runner(func(ctx context.Context, _ storage.Job) (time.Time, error) {
					<-ctx.Done()
					q.mu.Lock()
					defer q.mu.Unlock()
					ended = append(ended, time.Since(q.began))
					return time.Time{}, ctx.Err()
				})
				r.Tx = &unreachable{Transactor: q.db, from: q.began.Add(6 * time.Second), to: q.began.Add(6*time.Second + test.away)}
				stop := q.start(r)
				time.Sleep(6 * time.Second)
				test.lose(q)
				time.Sleep(24 * time.Second)
				if err := stop(); err != nil {
					t.Error(err)
				}
				if diff := cmp.Diff(test.at, ended[0]); diff != "" {
					t.Errorf("the context ended at another time (-want +got):\n%s", diff)
				}
				list, err := q.db.Jobs().List(t.Context(), storage.JobQuery{Limit: 10})
				if err != nil || len(list) != test.left || len(list) > 0 && list[0].Failures != 0 {
					t.Errorf("left: %+v, error %v", list, err)
				}
				if len(q.reported) != test.left {
					t.Errorf("%d reports, want %d", len(q.reported), test.left)
				}
				for i, err := range q.reported {
					if !errors.Is(err, storage.ErrUnavailable) || q.kinds[i] != "" {
						t.Errorf("reported %v of %q", err, q.kinds[i])
					}
				}
			})
		})
	}
}

// A handler that does not heed its context loses its lease.
func TestLeaseOfAHandlerThatDoesNotEnd(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		var calls atomic.Int64
		stuck := make(chan struct{})
		r := q.runner(func(context.Context, storage.Job) (time.Time, error) {
			if calls.Add(1) == 1 {
				<-stuck
			}
			return time.Time{}, nil
		})
		r.Kinds[0].Timeout = time.Minute
		stop := q.start(r)
		time.Sleep(80 * time.Second)
		close(stuck)
		if err := stop(); err != nil || calls.Load() != 2 {
			t.Errorf("%d calls, error %v", calls.Load(), err)
		}
		if diff := cmp.Diff([]time.Duration{0, 70 * time.Second}, q.done); diff != "" {
			t.Errorf("called at other times (-want +got):\n%s", diff)
		}
	})
}

// The jobs of a process that died are claimed when their leases have run out; at once by a runner that has the store to itself.
func TestJobsOfAProcessThatDied(t *testing.T) {
	for _, single := range []bool{false, true} {
		t.Run(fmt.Sprint("single process ", single), func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(storage.Job{})
				q.tx(func(ctx context.Context) error {
					_, err := q.db.Jobs().Claim(ctx, kind, time.Now(), 1, 1, 15*time.Second)
					return err
				})
				r := q.runner(do)
				r.SingleProcess = single
				q.during(time.Minute, r)
				want := []time.Duration{map[bool]time.Duration{false: 15 * time.Second}[single]}
				if diff := cmp.Diff(want, q.done); diff != "" {
					t.Errorf("done at other times (-want +got):\n%s", diff)
				}
				if len(q.reported) != 1 || q.reported[0].Error() != interrupted || q.kinds[0] != kind {
					t.Errorf("reported %v of %q", q.reported, q.kinds)
				}
			})
		})
	}
}

// Two runners share one store, and one of them dies while it has many jobs in work: the other does them, soon.
func TestRunnerThatDies(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(many(30)...)
		dead := &unreachable{Transactor: q.db, from: q.began.Add(7 * time.Second), to: q.began.Add(time.Hour)}
		first := q.runner(lasting(time.Hour))
		first.Kinds[0].Concurrency, first.Tx = 30, dead
		stop := q.start(first)
		time.Sleep(time.Second)
		done := make(map[string]time.Duration)
		second := q.runner(func(_ context.Context, job storage.Job) (time.Time, error) {
			q.mu.Lock()
			defer q.mu.Unlock()
			done[job.Unique] = time.Since(q.began)
			return time.Time{}, nil
		})
		q.during(40*time.Second, second)
		if len(done) != 30 {
			t.Errorf("%d jobs done", len(done))
		}
		for _, at := range done {
			if at > 7*time.Second+15*time.Second {
				t.Errorf("one was done after %v", at)
			}
		}
		stop()
	})
}
