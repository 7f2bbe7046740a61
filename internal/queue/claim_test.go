package queue_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
)

// many are so many jobs of the test's kind, one in a group.
func many(n int) (jobs []storage.Job) {
	for i := range n {
		jobs = append(jobs, storage.Job{Group: fmt.Sprint("group ", i), Unique: fmt.Sprint(i)})
	}
	return jobs
}

// A kind whose room is taken for long keeps none from the others.
func TestKindsHaveRoomOfTheirOwn(t *testing.T) {
	bubble(t, func(q *fixture) {
		q.add(many(20)...)
		r := q.runner(lasting(time.Minute))
		var began time.Duration
		r.Kinds = append(r.Kinds, queue.Kind{Name: "another kind", Concurrency: 1, Do: func(context.Context, storage.Job) (time.Time, error) {
			began = time.Since(q.began)
			return time.Time{}, nil
		}})
		stop := q.start(r)
		time.Sleep(10 * time.Second)
		q.tx(func(ctx context.Context) error { return q.db.Jobs().Enqueue(ctx, storage.Job{Kind: "another kind"}) })
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(q.done) != 8 || began != 10*time.Second {
			t.Errorf("%d jobs of the first kind begun, that of the other after %v", len(q.done), began)
		}
	})
}

// The numbers of a kind are its own.
func TestNumbersOfAKind(t *testing.T) {
	for _, test := range []struct {
		name    string
		kind    queue.Kind
		begun   int // of 20 jobs in 10 groups
		timeout time.Duration
	}{
		{"as they are", queue.Kind{}, 8, 2 * time.Minute},
		{"room", queue.Kind{Concurrency: 3}, 3, 2 * time.Minute},
		{"groups", queue.Kind{Concurrency: 100, PerGroup: 1}, 10, 2 * time.Minute},
		{"groups without an end", queue.Kind{Concurrency: 100, PerGroup: 100}, 20, 2 * time.Minute},
		{"time", queue.Kind{Timeout: time.Minute}, 8, time.Minute},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(append(many(10), storage.Job{Group: "group 0"})...)
				for i := range 9 {
					q.add(storage.Job{Group: fmt.Sprint("group ", i+1)})
				}
				k := test.kind
				k.Name = kind
				var begun, wrong atomic.Int64
				k.Do = func(ctx context.Context, _ storage.Job) (time.Time, error) {
					begun.Add(1)
					end, _ := ctx.Deadline()
					if time.Until(end) != test.timeout {
						wrong.Add(1)
					}
					<-ctx.Done()
					return time.Time{}, ctx.Err()
				}
				r := q.runner(do)
				r.Kinds = []queue.Kind{k}
				q.during(10*time.Second, r)
				if int(begun.Load()) != test.begun || wrong.Load() > 0 {
					t.Errorf("%d jobs begun, want %d; %d of them with another time limit", begun.Load(), test.begun, wrong.Load())
				}
			})
		})
	}
}

// A queue to which jobs are announced again and again is not read and claimed from for each of them, and
// they wait for next to nothing.
func TestJobsThatComeSteadily(t *testing.T) {
	bubble(t, func(q *fixture) {
		r := q.runner(do)
		// Were a transaction over at once, it would be a matter of chance what ends while it is written.
		const takes = time.Millisecond
		store := &counted{Jobs: r.Jobs, Transactor: r.Tx, takes: takes}
		r.Jobs, r.Tx = store, store
		r.Kinds[0].Concurrency, r.Kinds[0].PerGroup = 100, 100
		for i := range 7 {
			r.Kinds = append(r.Kinds, queue.Kind{Name: fmt.Sprint("kind ", i), Do: do})
		}
		var slowest time.Duration
		handle := r.Kinds[0].Do
		r.Kinds[0].Do = func(ctx context.Context, job storage.Job) (time.Time, error) {
			q.mu.Lock()
			slowest = max(slowest, time.Since(job.Due))
			q.mu.Unlock()
			return handle(ctx, job)
		}
		stop := q.start(r)
		const jobs = 400
		for range jobs {
			q.add(storage.Job{Due: time.Now()})
			time.Sleep(5 * time.Millisecond)
		}
		time.Sleep(time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if len(q.done) != jobs || slowest > 20*time.Millisecond+takes {
			t.Errorf("%d jobs done, one of them after %v", len(q.done), slowest)
		}
		if reads, writes := store.reads.Load(), store.writes.Load(); reads > 5*jobs/2 || writes > jobs {
			t.Errorf("%d jobs cost %d reads and %d transactions", jobs, reads, writes)
		}
	})
}

// counted is a store that says how often it is asked, and takes its time for transactions.
type counted struct {
	storage.Jobs
	storage.Transactor
	takes         time.Duration
	reads, writes atomic.Int64
}

func (c *counted) NextDue(ctx context.Context, kinds ...string) (map[string]time.Time, error) {
	c.reads.Add(1)
	return c.Jobs.NextDue(ctx, kinds...)
}

func (c *counted) InTx(ctx context.Context, f func(context.Context) error) error {
	c.writes.Add(1)
	time.Sleep(c.takes) // time: virtual, as in all tests of the runner
	return c.Transactor.InTx(ctx, f)
}

// An idle queue is read once in five seconds for all kinds together, and not written. A burst costs few
// transactions: jobs that end while one is written are finished together in the next.
func TestWhatTheStoreIsAsked(t *testing.T) {
	for _, test := range []struct {
		name          string
		jobs          int
		takes         time.Duration // the handler
		reads, writes int64         // at most
	}{
		{"idle", 0, 0, 13, 0},
		{"one job", 1, 0, 23, 2},
		{"100 that end at once", 100, time.Second, 25, 3},
		{"1000 that end at once", 1000, time.Second, 30, 7},
		{"1000 that take no time", 1000, 0, 30, 7},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubble(t, func(q *fixture) {
				q.add(many(test.jobs)...)
				r := q.runner(lasting(test.takes))
				store := &counted{Jobs: r.Jobs, Transactor: r.Tx, takes: time.Millisecond}
				r.Jobs, r.Tx = store, store
				r.Kinds[0].Concurrency = 1000
				for i := range 3 {
					r.Kinds = append(r.Kinds, queue.Kind{Name: fmt.Sprint("kind ", i), Do: do})
				}
				q.during(time.Minute-time.Millisecond, r)
				if _, none := q.left(); len(q.done) != test.jobs || !none {
					t.Errorf("%d jobs done, all: %v", len(q.done), none)
				}
				if reads, writes := store.reads.Load(), store.writes.Load(); reads > test.reads || writes > test.writes {
					t.Errorf("%d reads, want %d at most; %d transactions, want %d", reads, test.reads, writes, test.writes)
				} else {
					t.Logf("figure: %d jobs cost %d transactions and %d reads", test.jobs, writes, reads)
				}
			})
		})
	}
}

// Groups whose jobs take long, many as they are, do not keep one waiting that has none in work.
func TestRoomForOthers(t *testing.T) {
	bubble(t, func(q *fixture) {
		began := make(map[string]time.Duration)
		r := q.runner(func(ctx context.Context, job storage.Job) (time.Time, error) {
			q.mu.Lock()
			if _, again := began[job.Group]; !again {
				began[job.Group] = time.Since(q.began)
			}
			q.mu.Unlock()
			return lasting(15*time.Second)(ctx, job)
		})
		r.Kinds[0].Concurrency, r.Kinds[0].PerGroup = 64, 8
		for i := range 20 {
			for range 50 {
				q.add(storage.Job{Group: fmt.Sprint("slow ", i)})
			}
		}
		stop := q.start(r)
		time.Sleep(5 * time.Second)
		q.add(storage.Job{Group: "another"})
		time.Sleep(5 * time.Second)
		if err := stop(); err != nil {
			t.Error(err)
		}
		if at, ok := began["another"]; !ok || at > 5*time.Second+100*time.Millisecond {
			t.Errorf("it began after %v (%v)", at, ok)
		}
		if len(began) != 21 {
			t.Errorf("%d groups had a turn", len(began))
		}
	})
}
