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

// result is the outcome of an attempt, and what the runner knows about storing it.
type result struct {
	queue *kindQueue
	lease storage.Lease // as it was claimed
	outcome
	storeState
}

// outcome is the outcome of an attempt. At most one of its fields is set. Unless retry or failure is set, the job is done.
type outcome struct {
	then    func(ctx context.Context) error // called in the transaction that finishes the job
	retry   time.Time                       // when the job, which is not done, is due again
	failure *failure                        // nil: the attempt has not failed
}

// storeState is what the runner knows about an outcome that it has tried to store.
type storeState struct {
	lost        bool     // the lease was lost, and nothing was stored
	unconfirmed *failure // perhaps stored: the store became unavailable before it confirmed that
}

// failure is the failure of an attempt.
type failure struct {
	err     error
	toStore storage.Failure // the argument of storage.Jobs.Fail
	job     storage.Job     // the job as Fail leaves it (see newFailure)
}

// attempt makes an attempt and returns its outcome.
func (q *kindQueue) attempt(ctx context.Context, lease storage.Lease) outcome {
	ctx, cancel := context.WithTimeout(ctx, q.Timeout)
	defer cancel()
	retry, then, err := q.call(ctx, lease.Job)
	switch {
	case err == nil:
		return outcome{retry: retry, then: then}
	case errors.Is(ctx.Err(), context.Canceled): // the runner stops, or the lease was lost: the attempt has not failed
		return outcome{retry: time.Now()}
	}
	return outcome{failure: newFailure(q, lease, err, retry)}
}

// interruptedOutcome returns the failure of the attempt before, which was interrupted. It takes the place of another
// attempt (storage.Lease).
func (q *kindQueue) interruptedOutcome(lease storage.Lease) outcome {
	return outcome{failure: newFailure(q, lease, errInterrupted, time.Time{})}
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

// newFailure returns the failure of an attempt that ended with err. Errors of the store need no exception: the failure is
// stored only once the store works again. retry is when the handler wants the next attempt; unless it is in the future,
// the attempt is made after the pause that follows from the number of failures.
//
// newFailure changes a copy of the job as the Fail methods of the backends change the stored job, for example the one in
// storage/postgres/jobs.go.
func newFailure(q *kindQueue, lease storage.Lease, err error, retry time.Time) *failure {
	now, job := time.Now(), lease.Job
	countFailure(&job, lease.Interrupted)
	job.LastError, job.FailedAt = ErrorText(err), now
	toStore := storage.Failure{Error: job.LastError, At: now, Interrupted: lease.Interrupted}
	job.Parked = job.Failures >= q.MaxAttempts || job.Interruptions >= MaxInterruptions
	switch {
	case job.Parked:
		job.Due = now // toStore.Due stays zero, which parks the job (storage.Failure)
	case retry.After(now):
		job.Due, toStore.Due = retry, retry
	default:
		due := now.Add(nextPause(&job, lease.Interrupted))
		job.Due, toStore.Due = due, due
	}
	return &failure{err, toStore, job}
}

// countFailure counts a failure of the job.
func countFailure(job *storage.Job, interrupted bool) {
	job.Failures++
	if interrupted {
		job.Interruptions++
	} else {
		job.Interruptions = 0
	}
}

// nextPause returns the pause before the next attempt of a job whose failure countFailure has counted.
func nextPause(job *storage.Job, interrupted bool) time.Duration {
	if interrupted {
		return jittered(pauseAfter(job.Interruptions - freeInterruptions))
	}
	return pauseAfter(job.Failures)
}

// pauseAfter returns the pause after the given number of failures. It is zero if failures is zero or negative.
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
