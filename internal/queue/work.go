package queue

import (
	"context"
	"fmt"
	"runtime"
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
)

// end is what a job came to.
type end struct {
	line  *line
	lease storage.Lease
	retry time.Time // zero: it is done
	then  func(ctx context.Context) error
}

// do does a job.
func (w *run) do(l *line, lease storage.Lease) end {
	e, err := w.handle(l, lease)
	switch {
	case err != nil && w.work.Err() != nil: // it was cut short by us
		e.retry, e.then = time.Now(), nil
	case err != nil:
		w.tell(l.Name, err, &w.noWrites)
		if !e.retry.After(time.Now()) { // what failed at once would fail at once again
			e.retry = time.Now().Add(pauseAfter(lease.Attempt))
		}
		e.then = nil
	}
	return e
}

// handle calls the handler. One that panics has failed, and stops no other.
func (w *run) handle(l *line, lease storage.Lease) (e end, err error) {
	ctx, cancel := context.WithDeadline(w.work, lease.Until.Add(-min(margin, l.Lease/4)))
	defer cancel()
	e = end{line: l, lease: lease}
	defer failed(&err)
	if l.DoThen != nil {
		e.then, err = l.DoThen(ctx, lease.Job)
	} else {
		e.retry, err = l.Do(ctx, lease.Job)
	}
	return e, err
}

// failed makes an error of a panic.
func failed(err *error) {
	if v := recover(); v != nil {
		*err = fmt.Errorf("queue: the handler panicked: %s\n%s", PanicText(v), debug.Stack())
	}
}

// pauseAfter is the pause after so many attempts.
func pauseAfter(attempts int) time.Duration {
	pause := firstPause
	for ; attempts > 1 && pause < longestPause; attempts-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// PanicText returns what a log may contain of a value that recover returned: the text of a runtime
// error, which quotes no data, and of any other value its type alone, since the value may contain
// personal data.
func PanicText(value any) string {
	if fault, ok := value.(runtime.Error); ok {
		return fault.Error()
	}
	return fmt.Sprintf("%T", value)
}
