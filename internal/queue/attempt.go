package queue

import (
	"context"
	"errors"
	"fmt"
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

// errInterrupted is the error of an attempt whose lease ran out, or whose process died, before its result was stored.
var errInterrupted = errors.New("the server stopped while it ran the job")

// result is what an attempt came to, as it is to be stored.
type result struct {
	queue   *kindQueue
	lease   storage.Lease    // its job is as it will be stored, if the attempt has failed
	failed  error            // why the attempt failed
	failure *storage.Failure // what is stored of that
	retry   time.Time        // of an attempt that has not failed, when the job is due again; zero: it is done
	then    func(ctx context.Context) error
	lost    bool // the lease was lost, and nothing was stored
}

// do makes an attempt. If the attempt before was interrupted, it makes a failure of that instead.
func (w *run) do(held context.Context, q *kindQueue, lease storage.Lease) result {
	r := result{queue: q, lease: lease}
	if lease.Interrupted {
		w.held.returned(lease)
		w.fail(&r, errInterrupted)
		return r
	}
	cut, err := r.handle(held)
	w.held.returned(lease)
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
func (r *result) handle(held context.Context) (cut bool, err error) {
	ctx, cancel := context.WithTimeout(held, r.queue.Timeout)
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

// fail makes r the result of an attempt that has failed. If the store was unavailable, that is reported, and is no failure
// of the job.
func (w *run) fail(r *result, err error) {
	now, job := time.Now(), &r.lease.Job
	r.then = nil
	pause := pauseAfter(job.Failures + 1)
	if r.lease.Interrupted {
		pause = pauseAfter(job.Interruptions + 1 - freeInterruptions)
	}
	if !r.retry.After(now) { // what failed at once would fail at once again
		r.retry = now.Add(pause)
	}
	if storage.IsTemporary(err) {
		w.report(storage.Job{}, err, &w.writes)
		return
	}
	r.failed = err
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
