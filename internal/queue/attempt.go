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
	firstPause   = 5 * time.Second // after the first failure of a job; doubled with each further failure
	longestPause = 5 * time.Minute

	// MaxInterruptions is how many successive interruptions park a job. It applies in addition to Kind.MaxAttempts, which
	// is high for jobs that wait for other services: a job that kills its server would otherwise do so for days.
	MaxInterruptions = 20
	// freeInterruptions is how many successive interruptions are followed by no pause.
	freeInterruptions = 3
)

// errInterrupted is the error of an interrupted attempt: its process died, its handler did not heed its time limit, or its
// result could not be stored.
var errInterrupted = errors.New("no result was stored before the lease ran out")

// result is an attempt with its outcome, and what the runner knows about storing that.
type result struct {
	queue *kindQueue
	lease storage.Lease // as it was claimed
	outcome
	storeState
}

// outcome is how an attempt ended. At most one of its fields is set. Unless retryAt or failure is set, the job is done.
type outcome struct {
	then    func(ctx context.Context) error // called in the transaction that finishes the job
	retryAt time.Time                       // when the job, which is not done, is due again
	failure *failure
}

// storeState is what the runner knows about an outcome that it has tried to store.
type storeState struct {
	lost        bool     // the lease was lost, and nothing was stored
	unconfirmed *failure // the store became unavailable before it confirmed that this failure is stored
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
	then, retryAt, err := q.call(ctx, lease.Job)
	switch {
	case err == nil:
		return outcome{then: then, retryAt: retryAt}
	case errors.Is(ctx.Err(), context.Canceled): // the runner stops, or the lease was lost: this is no failure
		return outcome{retryAt: time.Now()}
	}
	return outcome{failure: q.newFailure(lease.Job, err, retryAt)}
}

// interrupted returns the failure of an earlier attempt, which was interrupted. The runner stores it instead of making an
// attempt (storage.Lease).
func (q *kindQueue) interrupted(lease storage.Lease) outcome {
	return outcome{failure: q.newFailure(lease.Job, errInterrupted, time.Time{})}
}

// call calls the handler of the kind. retryAt is when the handler wants the job to be done again, or zero. If the handler
// panics, call returns an error.
func (k Kind) call(ctx context.Context, job storage.Job) (then func(context.Context) error, retryAt time.Time, err error) {
	defer recoverInto(&err)
	if k.DoThen != nil {
		then, err = k.DoThen(ctx, job)
	} else {
		retryAt, err = k.Do(ctx, job)
	}
	return then, retryAt, err
}

// newFailure returns the failure of an attempt that ended with err, also if that is an error of the store: the failure can
// be stored only once the store works again. retryAt is when the handler wants the next attempt; unless it is in the future,
// the pause before the attempt follows from the number of failures.
//
// newFailure changes a copy of the job as storage.Jobs.Fail changes the stored job. TestJobsAreParked and
// TestJobThatKillsItsServer compare the two.
func (q *kindQueue) newFailure(job storage.Job, err error, retryAt time.Time) *failure {
	now, interrupted := time.Now(), errors.Is(err, errInterrupted)
	pause := countFailure(&job, interrupted)
	job.LastError, job.FailedAt = ErrorText(err), now
	toStore := storage.Failure{Error: job.LastError, At: now, Interrupted: interrupted}
	job.Parked = job.Failures >= q.MaxAttempts || job.Interruptions >= MaxInterruptions
	if job.Parked {
		job.Due = now // when it was parked (storage.Job); the zero toStore.Due parks it (storage.Failure)
		return &failure{err, toStore, job}
	}
	if !retryAt.After(now) {
		retryAt = now.Add(pause)
	}
	job.Due, toStore.Due = retryAt, retryAt
	return &failure{err, toStore, job}
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

// recoverInto, when deferred, turns a panic into an error.
func recoverInto(err *error) {
	if v := recover(); v != nil {
		*err = &panicError{PanicText(v), debug.Stack()}
	}
}
