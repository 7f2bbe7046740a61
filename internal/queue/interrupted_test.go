package queue_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

const interrupted = "no result was stored before the lease ran out"

// killable is a store that a process can no longer use once it was killed.
type killable struct {
	storage.Jobs
	storage.Transactor
	killed atomic.Bool
}

func (k *killable) InTx(ctx context.Context, fn func(context.Context) error) error {
	if k.killed.Load() {
		return storage.ErrUnavailable
	}
	return k.Transactor.InTx(ctx, fn)
}

func (k *killable) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	if k.killed.Load() {
		return nil, storage.ErrUnavailable
	}
	return k.Jobs.NextDue(ctx, kinds...)
}

// killed lets a runner work, as the only process on the store, until kill returns. Nothing that it does afterwards
// reaches the store.
func (q *fixture) killed(r queue.Runner, kill func()) {
	store := &killable{Jobs: r.Jobs, Transactor: r.Tx}
	r.Jobs, r.Tx, r.SingleProcess, r.Grace = store, store, true, 1
	r.Failed = func(ctx context.Context, job storage.Job, err error) {
		if !store.killed.Load() {
			q.failed(ctx, job, err)
		}
	}
	stop := q.start(r)
	kill()
	store.killed.Store(true)
	go stop()
}

// A server that is killed again and again parks nothing within minutes: not the job that it works on each time, which is
// done soon after the last kill.
func TestServerThatIsKilledAgainAndAgain(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		for range 200 {
			q.killed(q.runner(lasting(time.Hour)), func() { time.Sleep(1500 * time.Millisecond) })
		}
		got := q.only()
		if got.Parked || got.Failures != got.Interruptions || got.Interruptions < 5 || got.Interruptions > 10 {
			t.Errorf("after 200 kills: %+v", got)
		}
		for i, at := range []time.Duration{0, 1500, 3000} { // no pause: a restart delays nothing
			if diff := cmp.Diff(at*time.Millisecond, q.done[i]); diff != "" {
				t.Errorf("attempt %d (-want +got):\n%s", i+1, diff)
			}
		}
		r := q.runner(do)
		r.SingleProcess = true
		q.during(7*time.Minute, r)
		if _, none := q.left(); !none {
			t.Error("the job was not done")
		}
	})
}

// A job that kills its server each time is parked, at last, and leaves the server time for other jobs.
func TestJobThatKillsItsServer(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(storage.Job{})
		called := make(chan struct{})
		poison := q.runner(func(ctx context.Context, _ storage.Job) (time.Time, error) {
			called <- struct{}{}
			<-ctx.Done()
			return time.Time{}, ctx.Err()
		})
		poison.Kinds[0].MaxAttempts = 400
		for len(q.parked) == 0 && len(q.done) < 100 {
			q.killed(poison, func() {
				select {
				case <-called:
				case <-time.After(10 * time.Minute): // it was parked meanwhile
				}
			})
		}
		got := q.only()
		if !got.Parked || got.Attempt != queue.MaxInterruptions || got.Failures != queue.MaxInterruptions || got.LastError != interrupted || got.LeasedUntil != (time.Time{}) {
			t.Errorf("it became %+v", got)
		}
		if diff := cmp.Diff([]storage.Job{got.Job}, q.parked); diff != "" {
			t.Errorf("reported as parked (-want +got):\n%s", diff)
		}
		if took := got.FailedAt.Sub(q.began); took < 41*time.Minute || took > 70*time.Minute {
			t.Errorf("parked after %v", took)
		}
		if len(q.reported) != queue.MaxInterruptions {
			t.Errorf("reported %v", q.reported)
		}
	})
}

// A job that kills its process is parked alone: those that were in work beside it each time are done, also those of other
// kinds, and those that take longer than the job needs to kill its process.
func TestJobsBesideOneThatKillsItsServer(t *testing.T) {
	bubble(t, func(q *fixture) {
		const other = "another kind"
		for i := range 5 {
			q.add(storage.Job{Unique: fmt.Sprint("innocent ", i), Group: fmt.Sprint(i)})
		}
		q.add(storage.Job{Unique: "poison", Group: "p"})
		q.tx(func(ctx context.Context) error { return q.db.Jobs().Enqueue(ctx, storage.Job{Kind: other}) })
		suspects, most := make(map[string]bool), 0 // in work
		for len(q.parked) == 0 {
			hit := make(chan struct{}, 1)
			handler := func(ctx context.Context, job storage.Job) (time.Time, error) {
				if job.Interruptions > 3 {
					q.mu.Lock()
					suspects[job.ID] = true
					most = max(most, len(suspects))
					q.mu.Unlock()
					defer func() {
						q.mu.Lock()
						defer q.mu.Unlock()
						delete(suspects, job.ID)
					}()
				}
				if job.Unique != "poison" {
					return lasting(2*time.Second)(ctx, job)
				}
				time.Sleep(10 * time.Millisecond) // time: virtual, as in all tests of the runner
				hit <- struct{}{}
				<-ctx.Done()
				return time.Time{}, ctx.Err()
			}
			r := q.runner(handler)
			r.Kinds[0].MaxAttempts = 400
			r.Kinds = append(r.Kinds, queue.Kind{Name: other, Do: handler, MaxAttempts: 400})
			q.killed(r, func() {
				select {
				case <-hit:
				case <-time.After(10 * time.Minute): // it was parked meanwhile
				}
			})
			synctest.Wait()
			time.Sleep(time.Nanosecond) // the handlers of the process that was killed have ended
			synctest.Wait()
		}
		if got := q.only(); got.Unique != "poison" || !got.Parked || got.Interruptions != queue.MaxInterruptions {
			t.Errorf("left: %+v", got)
		}
		if most != 1 {
			t.Errorf("%d jobs in work at once that were interrupted more than three times", most)
		}
	})
}

// finishFails is a store in which no job can be finished.
type finishFails struct {
	storage.Jobs
	err error
}

func (f finishFails) FinishAll(ctx context.Context, leases []storage.Lease) ([]bool, error) {
	if len(leases) == 0 {
		return nil, nil
	}
	return nil, f.err
}

// A job is parked, too, whose result cannot be stored, and whose handler does not heed its context for longer than its
// lease lasts, whether or not there is room to claim it again meanwhile.
func TestJobsWithoutAResultAreParked(t *testing.T) {
	fault := errors.New("a fault")
	heedless := func(ctx context.Context, _ storage.Job) (time.Time, error) {
		time.Sleep(100 * time.Second) // time: virtual, as in all tests of the runner
		return time.Time{}, ctx.Err()
	}
	for _, test := range []struct {
		name    string
		handler queue.Handler
		finish  error
		room    int
		text    string
		reports int
	}{
		{"its result cannot be stored", do, fault, 8, interrupted, 6}, // the error of the store, and the interruption
		{"its handler goes on, and there is room", heedless, nil, 8, interrupted, 3},
		{"its handler goes on, and there is none", heedless, nil, 1, "context deadline exceeded", 3},
	} {
		for _, single := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, single process %v", test.name, single), func(t *testing.T) {
				bubble(t, func(q *fixture) {
					q.add(storage.Job{})
					r := q.runner(test.handler)
					r.SingleProcess = single
					r.Kinds[0].MaxAttempts, r.Kinds[0].Timeout, r.Kinds[0].Concurrency = 3, time.Minute, test.room
					if test.finish != nil {
						r.Jobs = finishFails{r.Jobs, test.finish}
					}
					q.during(time.Hour, r)
					got := q.only()
					if !got.Parked || got.Failures != 3 || got.Attempt != 3 || got.LastError != test.text {
						t.Errorf("it became %+v", got)
					}
					if len(q.done) != 3 || len(q.reported) != test.reports || len(q.parked) != 1 {
						t.Errorf("called at %v, reported %v, parked %v", q.done, q.reported, q.parked)
					}
				})
			})
		}
	}
}
