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

	// MaxInterruptions is how many attempts of a job in a row may be interrupted before it is parked. It applies to
	// all kinds, beside Kind.MaxAttempts: where jobs wait for other services, that limit is so high that a job which
	// kills its server would do so for days.
	MaxInterruptions = 20
	// The first freeInterruptions interruptions in a row are retried at once.
	freeInterruptions = 3
)

// errInterrupted is the error of an interrupted attempt: its process died, its handler overran, or its result could
// not be stored.
var errInterrupted = errors.New("no result was stored before the lease ran out")

// result is the outcome of an attempt: done, due again or failed. At most one of then, retry and failure is set; if
// none is, the job is done and nothing follows.
type result struct {
	queue *kindQueue
	lease storage.Lease // as it was claimed

	then    func(ctx context.Context) error // done: called in the transaction that finishes the job
	retry   time.Time                       // due again: when
	failure *failure                        // failed

	// Set when the result is stored:
	lost        bool     // the lease was lost, and nothing was stored
	unconfirmed *failure // may have been stored: the store became unavailable before it confirmed that
}

// failure is the failure of an attempt.
type failure struct {
	err    error
	stored storage.Failure // what the store is given
	job    storage.Job     // the job as it is stored then
}

// do makes an attempt. If the attempt before was interrupted, the result is the failure of that attempt instead.
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

// newFailure returns the failure of an attempt with any error, also one of the store: when the failure can be stored,
// the store is available. retry is the time that the handler chose; if it is not in the future, a pause follows instead.
func newFailure(q *kindQueue, lease storage.Lease, err error, retry time.Time) *failure {
	now, job := time.Now(), lease.Job
	job.Failures++
	job.LastError, job.FailedAt = ErrorText(err), now
	pause := pauseAfter(job.Failures)
	if lease.Interrupted {
		job.Interruptions++
		pause = jittered(pauseAfter(job.Interruptions - freeInterruptions))
	} else {
		job.Interruptions = 0
	}
	if !retry.After(now) {
		retry = now.Add(pause)
	}
	job.Due, job.Parked = retry, job.Failures >= q.MaxAttempts || job.Interruptions >= MaxInterruptions
	stored := storage.Failure{Error: job.LastError, At: now, Due: retry, Interrupted: lease.Interrupted}
	if job.Parked {
		// A parked job has no due time: zero tells the store to park it. Its Due, when it is read, is when it was parked
		// (storage.Job), and so it is in the copy that is reported.
		stored.Due, job.Due = time.Time{}, now
	}
	return &failure{err, stored, job}
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

// jittered returns a random time between three and five quarters of a pause, so that jobs that were interrupted
// together are not due together.
func jittered(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2+1)
}

// pauseAfter returns the pause after that many failures; 0 if failures is 0 or negative.
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
