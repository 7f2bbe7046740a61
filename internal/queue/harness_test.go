package queue_test

import (
	"context"
	"path/filepath"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/innsigli/innsigli/internal/queue"
	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/storage/bolt"
)

const kind = "a kind"

// fixture is a queue in its own store, with the calls of handlers and the reports of runners.
type fixture struct {
	*testing.T
	db    *bolt.DB
	began time.Time

	mu       sync.Mutex
	done     []time.Duration // when handlers were called, since began
	unique   []string        // for which jobs
	reported []error
	kinds    []string // of the jobs that were reported as failed
	parked   []storage.Job
}

// bubble runs a test in virtual time.
func bubble(t *testing.T, test func(q *fixture)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		db, err := bolt.Open(filepath.Join(t.TempDir(), "store.db"), bolt.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer db.Close()
		test(&fixture{T: t, db: db, began: time.Now()})
	})
}

func (q *fixture) tx(f func(ctx context.Context) error) {
	q.Helper()
	if err := q.db.InTx(q.Context(), f); err != nil {
		q.Fatal(err)
	}
}

func (q *fixture) add(jobs ...storage.Job) {
	q.Helper()
	for i := range jobs {
		jobs[i].Kind = kind
	}
	q.tx(func(ctx context.Context) error { return q.db.Jobs().Enqueue(ctx, jobs...) })
}

// runner is one whose handler notes the call and does the rest.
func (q *fixture) runner(rest queue.Handler) queue.Runner {
	return queue.Runner{
		Jobs: q.db.Jobs(), Tx: q.db,
		Kinds: []queue.Kind{{Name: kind, Do: func(ctx context.Context, job storage.Job) (time.Time, error) {
			q.note(job)
			return rest(ctx, job)
		}}},
		Failed: q.failed,
		Parked: func(_ context.Context, job storage.Job) {
			q.mu.Lock()
			defer q.mu.Unlock()
			q.parked = append(q.parked, job)
		},
	}
}

// failed notes what a runner reports.
func (q *fixture) failed(_ context.Context, job storage.Job, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.reported, q.kinds = append(q.reported, err), append(q.kinds, job.Kind)
}

// note notes that a handler was called.
func (q *fixture) note(job storage.Job) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.done, q.unique = append(q.done, time.Since(q.began)), append(q.unique, job.Unique) // time: virtual, as in all tests of the runner
}

// start lets a runner run until stop is called, which says what Run answered.
func (q *fixture) start(r queue.Runner) (stop func() error) {
	ctx, cancel := context.WithCancel(q.Context())
	ended := make(chan error, 1)
	go func() { ended <- r.Run(ctx) }()
	return func() error {
		cancel()
		return <-ended
	}
}

// during lets a runner run for so long.
func (q *fixture) during(long time.Duration, r queue.Runner) {
	q.Helper()
	stop := q.start(r)
	time.Sleep(long)
	if err := stop(); err != nil {
		q.Error(err)
	}
}

// left says when the next job can be claimed, since the beginning; none says that there is
// no job.
func (q *fixture) left() (due time.Duration, none bool) {
	q.Helper()
	next, err := q.db.Jobs().NextDue(q.Context(), kind)
	if err != nil {
		q.Fatal(err)
	}
	return next[kind].Sub(q.began), len(next) == 0
}

// do does a job at once.
func do(context.Context, storage.Job) (time.Time, error) { return time.Time{}, nil }

// lasting is a handler that takes its time, and heeds its context. It waits for a context and not for the channel of a
// timer: under the race detector, channels of timers that have fired crash the runtime where several goroutines of a
// bubble select on them at once (go1.26: the timers of a bubble share one context of the detector, without a lock).
func lasting(long time.Duration) queue.Handler {
	return func(ctx context.Context, _ storage.Job) (time.Time, error) {
		work, end := context.WithTimeout(ctx, long) // time: virtual, as in all tests of the runner
		defer end()
		<-work.Done()
		return time.Time{}, ctx.Err()
	}
}
