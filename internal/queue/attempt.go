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
	// firstPause is the pause after the first failure of a job, and longestPause the one that it grows to.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute

	// MaxInterruptions is how many attempts of a job, one after the other, may be interrupted before it is parked.
	// It holds for all kinds. The limit of a kind does not replace it: those of kinds that wait for the world outside
	// are so high that a job which kills its server would do so for days.
	MaxInterruptions = 20
	// freeInterruptions is how many of them are followed by no pause.
	freeInterruptions = 3
)

// errInterrupted is the error of an interrupted attempt: its process died, its handler overran, or its result could not be
// stored.
var errInterrupted = errors.New("no result was stored before the lease ran out")

// result is what an attempt came to, as it is to be stored.
type result struct {
	queue   *kindQueue
	lease   storage.Lease    // its job is as it will be stored, if the attempt has failed
	err     error            // why the attempt failed
	failure *storage.Failure // the same as it is stored; nil: the attempt has not failed
	retry   time.Time        // of an attempt that has not failed, when the job is due again; zero: it is done
	then    func(ctx context.Context) error
	lost    bool // the lease was lost, and nothing was stored
	// unconfirmed is the result as a failure that the store may have stored: it was unavailable before it confirmed that.
	unconfirmed *result
}

// do makes an attempt. If the attempt before was interrupted, it makes a failure of that instead.
func (w *run) do(ctx context.Context, q *kindQueue, lease storage.Lease) result {
	r := result{queue: q, lease: lease}
	if lease.Interrupted {
		w.leases.returned(lease)
		w.fail(&r, errInterrupted)
		return r
	}
	cut, err := r.handle(ctx)
	w.leases.returned(lease)
	switch {
	case err != nil && cut:
		r.retry, r.then = time.Now(), nil
	case err != nil:
		w.fail(&r, err)
	}
	return r
}

// handle calls the handler, and recovers from its panic. cut reports whether the handler's context ended before its time
// limit: the runner stops, or the lease was lost.
func (r *result) handle(ctx context.Context) (cut bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, r.queue.Timeout)
	defer cancel()
	defer func() { cut = errors.Is(ctx.Err(), context.Canceled) }() // before cancel
	defer recovered(&err)
	if r.queue.DoThen != nil {
		r.then, err = r.queue.DoThen(ctx, r.lease.Job)
	} else {
		r.retry, err = r.queue.Do(ctx, r.lease.Job)
	}
	return cut, err
}

// fail makes r the result of an attempt that has failed, whatever the error: also one of the store, since the store is
// available when the failure can be stored.
func (w *run) fail(r *result, err error) {
	now, job := time.Now(), &r.lease.Job
	pause := pauseAfter(job.Failures + 1)
	if r.lease.Interrupted {
		pause = jittered(pauseAfter(job.Interruptions + 1 - freeInterruptions))
	}
	if !r.retry.After(now) { // what failed at once would fail at once again
		r.retry = now.Add(pause)
	}
	r.then, r.err = nil, err
	job.Failures++
	job.Interruptions++
	if !r.lease.Interrupted {
		job.Interruptions = 0
	}
	job.LastError, job.FailedAt = ErrorText(err), now
	job.Due, job.Parked = r.retry, job.Failures >= r.queue.MaxAttempts || job.Interruptions >= MaxInterruptions
	r.failure = &storage.Failure{Error: job.LastError, At: now, Due: r.retry, Interrupted: r.lease.Interrupted}
	if job.Parked {
		job.Due, r.failure.Due = now, time.Time{}
	}
}

// panicError is the error of a handler that panicked.
type panicError struct {
	text  string
	stack []byte
}

func (e *panicError) Error() string {
	return fmt.Sprintf("queue: the handler panicked: %s\n%s", e.text, e.stack)
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if v := recover(); v != nil {
		*err = &panicError{PanicText(v), debug.Stack()}
	}
}

// jittered returns a random time between three and five quarters of a pause, so that jobs that were interrupted together are
// not due together.
func jittered(pause time.Duration) time.Duration {
	return pause*3/4 + rand.N(pause/2+1)
}

// pauseAfter returns the pause after so many failures; 0 after none.
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
