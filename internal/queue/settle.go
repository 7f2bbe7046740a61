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
	err := w.insist(ends)
	switch {
	case err == nil || storage.IsTemporary(err) || w.settling.Err() != nil:
	case len(ends) > 1:
		for _, e := range ends {
			w.store([]end{e})
		}
	default:
		e := ends[0]
		w.tell(e.line.Name, err, &w.noWrites)
		if e.then != nil {
			e.retry, e.then = time.Now().Add(pauseAfter(e.lease.Attempt)), nil
			w.store([]end{e})
		}
	}
}

// insist tries until the store is there, as long as there are leases that last: after that,
// the jobs are another's to do again.
func (w *run) insist(ends []end) error {
	for {
		err := w.Tx.InTx(w.settling, func(ctx context.Context) error { return w.storeAll(ctx, ends) })
		if err != nil && !storage.IsTemporary(err) {
			return err
		}
		w.tell("", err, &w.noWrites)
		ends = lasting(ends, time.Now())
		if err == nil || len(ends) == 0 {
			return err
		}
		select {
		case <-w.settling.Done():
			return err
		case <-time.After(awayPause):
		}
	}
}

func lasting(ends []end, now time.Time) []end {
	return slices.DeleteFunc(slices.Clone(ends), func(e end) bool { return now.After(e.lease.Until) })
}

func (w *run) storeAll(ctx context.Context, ends []end) error {
	var done []end
	var leases []storage.Lease
	for _, e := range ends {
		if e.retry.IsZero() {
			done, leases = append(done, e), append(leases, e.lease)
			continue
		}
		// One whose lease was lost, also to a commit that was not heard of, is nobody's concern here
		// any more.
		if err := w.Jobs.Retry(ctx, e.lease, e.retry); err != nil && !errors.Is(err, storage.ErrLeaseLost) {
			return err
		}
	}
	finished, err := w.Jobs.FinishAll(ctx, leases)
	if err != nil {
		return err
	}
	for i, e := range done {
		if !finished[i] {
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
	defer failed(&err)
	return e.then(ctx)
}
