package queue

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const (
	// firstPause is the pause after the first failure of a job. It doubles with each further failure, up to longestPause.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute

	// MaxInterruptions is how many successive interruptions park a job. It applies in addition to Kind.MaxAttempts, which
	// is high for jobs that wait for other services: a job that kills its server would otherwise do so for days.
	MaxInterruptions = 20
	// freeInterruptions is how many successive interruptions are retried at once.
	freeInterruptions = 3
)

// errInterrupted is the error of an interrupted attempt: its process died, its handler overran, or its result could
// not be stored.
var errInterrupted = errors.New("no result was stored before the lease ran out")

// result is the outcome of an attempt. At most one of then, retry and failure is set. Unless retry or failure is set,
// the job is done.
type result struct {
	queue *kindQueue
	lease storage.Lease // as it was claimed

	then    func(ctx context.Context) error // called in the transaction that finishes the job
	retry   time.Time                       // when the job, which is not done, is due again
	failure *failure                        // nil: the attempt has not failed

	// The runner sets these when it stores the result:
	lost        bool     // the lease was lost, and nothing was stored
	unconfirmed *failure // perhaps stored: the store became unavailable before it confirmed that
}

// failure is the failure of an attempt.
type failure struct {
	err    error
	stored storage.Failure // the argument of storage.Jobs.Fail
	job    storage.Job     // the job as Fail leaves it
}

// do makes an attempt and returns its result. If the attempt before was interrupted, do returns the failure of that
// attempt instead.
func (w *run) do(ctx context.Context, q *kindQueue, lease storage.Lease) result {
	r := result{queue: q, lease: lease}
	if lease.Interrupted {
		w.leases.returned(lease)
		r.failure = newFailure(q, lease, errInterrupted, time.Time{})
		return r
	}
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	retry, then, err := q.call(ctx, lease.Job)
	w.leases.returned(lease)
	switch {
	case err == nil:
		r.retry, r.then = retry, then
	case errors.Is(ctx.Err(), context.Canceled): // the runner stops, or the lease was lost: the attempt has not failed
		r.retry = time.Now()
	default:
		r.failure = newFailure(q, lease, err, retry)
	}
	return r
}

// call calls the handler of the kind. If the handler panics, call returns an error.
func (k Kind) call(ctx context.Context, job storage.Job) (retry time.Time, then func(context.Context) error, err error) {
	defer recovered(&err)
	if k.DoThen != nil {
		then, err = k.DoThen(ctx, job)
	} else {
		retry, err = k.Do(ctx, job)
	}
	return retry, then, err
}

// newFailure returns the failure of an attempt that ended with err. An error of the store counts like any other: when
// the failure can be stored, the store is available. retry is when the handler wants the next attempt; unless it is in
// the future, the attempt is made after the pause that follows from the number of failures.
func newFailure(q *kindQueue, lease storage.Lease, err error, retry time.Time) *failure {
	now, job := time.Now(), lease.Job
	pause := countFailure(&job, lease.Interrupted)
	job.LastError, job.FailedAt = ErrorText(err), now
	stored := storage.Failure{Error: job.LastError, At: now, Interrupted: lease.Interrupted}
	job.Parked = job.Failures >= q.MaxAttempts || job.Interruptions >= MaxInterruptions
	switch {
	case job.Parked:
		job.Due = now // stored.Due stays zero: the store parks the job
	case retry.After(now):
		job.Due, stored.Due = retry, retry
	default:
		job.Due, stored.Due = now.Add(pause), now.Add(pause)
	}
	return &failure{err, stored, job}
}

// countFailure counts a failure of the job, and returns the pause before the next attempt.
func countFailure(job *storage.Job, interrupted bool) (pause time.Duration) {
	job.Failures++
	if !interrupted {
		job.Interruptions = 0
		return pauseAfter(job.Failures)
	}
	job.Interruptions++
	return jittered(pauseAfter(job.Interruptions - freeInterruptions))
}

// pauseAfter returns the pause after so many failures. It is zero if failures is zero or negative.
func pauseAfter(failures int) time.Duration {
	if failures <= 0 {
		return 0
	}
	pause := firstPause
	for ; failures > 1 && pause < longestPause; failures-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// jittered returns a random duration between 3/4 and 5/4 of a pause, so that jobs that were interrupted together are
// not due together.
func jittered(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2+1)
}

// panicError is the error of a handler that panicked.
type panicError struct {
	text  string
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("queue: the handler panicked: %s\n%s", e.text, e.stack)
}

// recovered is deferred, and turns a panic into an error.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &panicError{PanicText(v), debug.Stack()}
	}
}
