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

// outage is which calls of the store fail because it is unavailable: a disk that is full can be read, and results of
// attempts may meet a lock or a limit that the extension of leases does not.
type outage struct{ reads, writes, results atomic.Bool }

// reportStore reports an error of the store. Of an outage it reports the first error alone. It is also called without an
// error, which ends an outage of the calls given.
func (w *run) reportStore(err error, calls *atomic.Bool) {
	known := w.outage.reads.Load() || w.outage.writes.Load() || w.outage.results.Load()
	temporary := storage.IsTemporary(err)
	if err == nil || temporary {
		calls.Store(temporary)
	}
	if err != nil && !(temporary && known) {
		w.reportFailed(storage.Job{}, err)
	}
}

// reportFailed reports an attempt that failed or, with the zero job, an error of the store.
func (w *run) reportFailed(job storage.Job, err error) {
	if w.Failed != nil {
		w.Failed(w.storing, job, err)
	}
}

// reportFailures reports the failures among results that were stored, and the jobs that were parked. If the lease of a
// result was lost, the server that has the lease now reports the job, unless this one had already tried to store a failure
// and that was not confirmed: the failure may have been stored then.
func (w *run) reportFailures(results []result) {
	for _, r := range results {
		failed := r.failure
		if r.lost {
			failed = r.unconfirmed
		}
		if failed == nil {
			continue
		}
		job := failed.job
		if r.lost {
			job.Parked = job.Parked && w.isParked(job)
		}
		w.reportFailed(job, failed.err)
		if job.Parked && w.Parked != nil {
			w.Parked(w.storing, job)
		}
	}
}

// isParked reports whether a job is parked in the store; also if it cannot be read, so that a parked job is reported.
func (w *run) isParked(job storage.Job) bool {
	stored, err := w.Jobs.Job(w.storing, job.ID)
	if errors.Is(err, storage.ErrNotFound) {
		return false
	}
	return err != nil || stored.Parked
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
