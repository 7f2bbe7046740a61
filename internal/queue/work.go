package queue

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
	"time"
	"unicode"

	"github.com/innsigli/innsigli/storage"
)

// firstPause is the pause after the first failure of a job, and longestPause the
// one that it grows to.
const firstPause, longestPause = 5 * time.Second, 5 * time.Minute

// end is what a job came to.
type end struct {
	line   *line
	lease  storage.Lease
	failed error     // of the attempt
	at     time.Time // when it failed
	retry  time.Time // zero: the job is done, or parked after a failure
	then   func(ctx context.Context) error
	lost   bool // the lease
}

// do does a job.
func (w *run) do(held context.Context, l *line, lease storage.Lease) end {
	e, err := w.handle(held, l, lease)
	w.held.handled(lease)
	switch {
	case err != nil && held.Err() != nil: // it was cut short, by us or by the loss of its lease
		e.retry, e.then = time.Now(), nil
	case err != nil:
		w.fail(&e, err)
	}
	return e
}

// fail makes e the end of an attempt that has failed. That the store was away is no failure of the job.
func (w *run) fail(e *end, err error) {
	w.tell(e.lease.Job, err, &w.noWrites)
	now, failures := time.Now(), e.lease.Failures+1
	e.then = nil
	if !e.retry.After(now) { // what failed at once would fail at once again
		e.retry = now.Add(pauseAfter(failures))
	}
	if storage.IsTemporary(err) {
		return
	}
	if e.failed, e.at = err, now; failures >= e.line.MaxAttempts {
		e.retry = time.Time{}
	}
}

// parks reports whether the job is to be parked.
func (e end) parks() bool { return e.failed != nil && e.retry.IsZero() }

// handle calls the handler. One that panics has failed, and stops no other.
func (w *run) handle(held context.Context, l *line, lease storage.Lease) (e end, err error) {
	ctx, cancel := context.WithTimeout(held, l.Timeout)
	defer cancel()
	e = end{line: l, lease: lease}
	defer recovered(&err)
	if l.DoThen != nil {
		e.then, err = l.DoThen(ctx, lease.Job)
	} else {
		e.retry, err = l.Do(ctx, lease.Job)
	}
	return e, err
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

// pauseAfter is the pause after so many failures.
func pauseAfter(failures int) time.Duration {
	pause := firstPause
	for ; failures > 1 && pause < longestPause; failures-- {
		pause *= 2
	}
	return min(pause, longestPause)
}

// maxErrorText is how many characters of an error are stored.
const maxErrorText = 500

// ErrorText returns what is stored of the error of an attempt, for operators: its text on one line, in at most 500
// characters, and of a panic what [PanicText] returns. As in a log, errors of handlers have no personal data in them.
func ErrorText(err error) string {
	text := err.Error()
	if p := (*panicError)(nil); errors.As(err, &p) {
		text = "the handler panicked: " + p.text
	}
	text = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(strings.TrimSpace(text), "\uFFFD"))
	if letters := []rune(text); len(letters) > maxErrorText {
		text = string(letters[:maxErrorText-1]) + "…"
	}
	return text
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
