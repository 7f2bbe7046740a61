package queue

import (
	"errors"
	"fmt"
	"runtime"
	"strings"
	"sync/atomic"
	"unicode"

	"github.com/innsigli/innsigli/storage"
)

// outage is which calls of the store fail because it is unavailable: a disk that is full can be read.
type outage struct{ reads, writes atomic.Bool }

// report passes an error on to Failed. Of an outage it passes on the first error alone, with the zero job. It is also
// called without an error, which ends an outage of the calls given.
func (w *run) report(job storage.Job, err error, calls *atomic.Bool) {
	known, temporary := w.reads.Load() || w.writes.Load(), storage.IsTemporary(err)
	if err == nil || temporary {
		calls.Store(temporary)
	}
	switch {
	case err == nil || w.Failed == nil || temporary && known:
	case temporary:
		w.Failed(w.storing, storage.Job{}, err)
	default:
		w.Failed(w.storing, job, err)
	}
}

// reportFailures reports the failures among results that were stored, and the jobs that were parked.
func (w *run) reportFailures(results []result) {
	for _, r := range results {
		if r.failed == nil || r.lost { // the server that has the lease reports what becomes of the job
			continue
		}
		w.report(r.lease.Job, r.failed, &w.writes)
		if r.lease.Parked && w.Parked != nil {
			w.Parked(w.storing, r.lease.Job)
		}
	}
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
