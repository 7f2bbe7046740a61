package queue

import (
	"sync/atomic"

	"github.com/innsigli/innsigli/storage"
)

// outage says whether the store is away, as far as reads or writes tell; a disk that is full can
// be read.
type outage struct{ noReads, noWrites atomic.Bool }

// tell passes on an error, but for all of an outage except its beginning, which is no job's own.
// It also hears when there was none, which ends the outage.
func (w *run) tell(job storage.Job, err error, outage *atomic.Bool) {
	known, passing := w.noReads.Load() || w.noWrites.Load(), storage.IsTemporary(err)
	if err == nil || passing {
		outage.Store(passing)
	}
	switch {
	case err == nil || w.Failed == nil || passing && known:
	case passing:
		w.Failed(w.settling, storage.Job{}, err)
	default:
		w.Failed(w.settling, job, err)
	}
}
