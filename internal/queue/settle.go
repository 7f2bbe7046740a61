package queue

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/innsigli/innsigli/storage"
)

const (
	// batch is how many jobs one transaction finishes, at most.
	batch = 256
	// awayPause is the pause between tries while the store is away.
	awayPause = time.Second
)

// settle stores what jobs come to. Those that end while a transaction is written are stored
// together in the next.
func (w *run) settle() {
	for {
		select {
		case <-w.settling.Done():
			return
		case e := <-w.ended:
			ends := w.endedMeanwhile([]end{e})
			w.store(ends)
			w.release(ends)
			w.settled <- ends
		}
	}
}

// endedMeanwhile adds the ends that nobody has to wait for. Transactions of several runners go
// through groups in the same order, so that none waits for one that waits for it.
func (w *run) endedMeanwhile(ends []end) []end {
	for len(ends) < batch && len(w.ended) > 0 {
		ends = append(ends, <-w.ended)
	}
	slices.SortStableFunc(ends, func(a, b end) int { return cmp.Compare(a.lease.Group, b.lease.Group) })
	return ends
}

// store stores ends together; when that fails because of one of them, each alone.
func (w *run) store(ends []end) {
	err := w.storeWithRetry(ends)
	switch {
	case err == nil:
		w.reportParked(ends)
	case storage.IsTemporary(err) || w.settling.Err() != nil:
	case len(ends) > 1:
		for _, e := range ends {
			w.store([]end{e})
		}
	case ends[0].then == nil:
		w.tell(ends[0].lease.Job, err, &w.noWrites)
	default:
		e := ends[0]
		w.fail(&e, err)
		w.store([]end{e})
	}
}

func (w *run) reportParked(ends []end) {
	for _, e := range ends {
		if e.parks() && !e.lost && w.Parked != nil {
			w.Parked(w.settling, e.lease.Job)
		}
	}
}

// storeWithRetry stores ends, and tries again while the store is unavailable: a lease that has run out meanwhile is good
// until another server has taken it.
func (w *run) storeWithRetry(ends []end) error {
	for {
		err := w.Tx.InTx(w.settling, func(ctx context.Context) error { return w.storeAll(ctx, ends) })
		if err != nil && !storage.IsTemporary(err) {
			return err
		}
		if w.tell(storage.Job{}, err, &w.noWrites); err == nil {
			return nil
		}
		select {
		case <-w.settling.Done():
			return err
		case <-time.After(awayPause):
		}
	}
}

// storeAll notes in ends whose leases were lost. The jobs of those are another server's.
func (w *run) storeAll(ctx context.Context, ends []end) error {
	var done []int // places in ends
	var leases []storage.Lease
	for i := range ends {
		e := &ends[i]
		var err error
		switch {
		case e.failed != nil:
			err = w.Jobs.Fail(ctx, e.lease, storage.Failure{Error: ErrorText(e.failed), At: e.at, Due: e.retry})
		case !e.retry.IsZero():
			err = w.Jobs.Retry(ctx, e.lease, e.retry)
		default:
			done, leases = append(done, i), append(leases, e.lease)
		}
		if e.lost = errors.Is(err, storage.ErrLeaseLost); err != nil && !e.lost {
			return err
		}
	}
	finished, err := w.Jobs.FinishAll(ctx, leases)
	if err != nil {
		return err
	}
	for i, place := range done {
		e := &ends[place]
		if e.lost = !finished[i]; e.lost {
			continue
		}
		if err := e.follow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// follow stores what follows from a job that was done.
func (e end) follow(ctx context.Context) (err error) {
	if e.then == nil {
		return nil
	}
	defer recovered(&err)
	return e.then(ctx)
}
