package runner

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const (
	// firstPause is the pause after the first error of a job's handler, and longestPause the
	// one that it grows to.
	firstPause, longestPause = 5 * time.Second, 5 * time.Minute
	// margin is how long before its lease the context of a handler ends, at most a quarter
	// of it: for storing what the job came to.
	margin = 5 * time.Second
	// awayPause is the pause between tries while the store is away.
	awayPause = time.Second
)

// do takes a job from its lease to its end.
func (w *run) do(l storage.Lease) {
	retry, err := w.handle(l)
	switch {
	case err != nil && w.work.Err() != nil: // it was cut short by us
		retry = time.Now()
	case err != nil:
		w.tell(l.Kind, err, &w.noWrites)
		if now := time.Now(); !retry.After(now) { // what failed at once would fail at once again
			retry = now.Add(pauseAfter(l.Attempt))
		}
	}
	w.settle(l, func(ctx context.Context) error {
		if retry.IsZero() {
			return w.Jobs.Finish(ctx, l)
		}
		return w.Jobs.Retry(ctx, l, retry)
	})
}

// handle calls the handler. One that panics has failed, and stops no other.
func (w *run) handle(l storage.Lease) (retry time.Time, err error) {
	ctx, end := context.WithDeadline(w.work, l.Until.Add(-min(margin, w.Lease/4)))
	defer end()
	defer func() {
		if v := recover(); v != nil {
			retry, err = time.Time{}, fmt.Errorf("runner: the handler panicked: %v\n%s", v, debug.Stack())
		}
	}()
	return w.Handlers[l.Kind](ctx, l.Job)
}

// pauseAfter is the pause after so many attempts.
func pauseAfter(attempts int) time.Duration {
	pause := firstPause
	for ; attempts > 1 && pause < longestPause; attempts-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// settle stores what a job came to, as long as its lease lasts: after that, the job is
// another's to do again.
func (w *run) settle(l storage.Lease, f func(ctx context.Context) error) {
	for {
		err := w.Tx.InTx(w.settling, f)
		if errors.Is(err, storage.ErrLeaseLost) { // also after a commit that was not heard of
			err = nil
		}
		w.tell(l.Kind, err, &w.noWrites)
		if !storage.Passing(err) || time.Now().After(l.Until) {
			return
		}
		select {
		case <-w.settling.Done():
			return
		case <-time.After(awayPause):
		}
	}
}
