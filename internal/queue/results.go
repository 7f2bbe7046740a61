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
	// maxBatch is how many results one transaction stores, at most.
	maxBatch = 256
	// retryPause is the pause between tries while the store is unavailable.
	retryPause = time.Second
)

// storeResults stores the results of attempts. Those that arrive while a transaction is written are stored
// together in the next.
func (w *run) storeResults() {
	for {
		select {
		case <-w.storing.Done():
			return
		case r := <-w.results:
			batch := w.batch(r)
			w.store(batch)
			w.release(batch)
			w.stored <- batch
		}
	}
}

// batch returns a result with those that wait behind it. Transactions of all runners change jobs in the order of
// their groups, so that no two of them wait for each other.
func (w *run) batch(first result) []result {
	batch := []result{first}
	for len(batch) < maxBatch && len(w.results) > 0 {
		batch = append(batch, <-w.results)
	}
	slices.SortStableFunc(batch, func(a, b result) int { return cmp.Compare(a.lease.Group, b.lease.Group) })
	return batch
}

// store stores results together; when that fails because of one of them, each alone. A result that cannot be stored is
// reported, and its lease runs out: the attempt is interrupted.
func (w *run) store(results []result) {
	err := w.storeWithRetry(results)
	switch {
	case err == nil:
		w.reportFailures(results)
	case storage.IsTemporary(err) || w.storing.Err() != nil:
	case len(results) > 1:
		for i := range results {
			w.store(results[i : i+1])
		}
	case results[0].then == nil:
		w.report(results[0].lease.Job, errors.Join(results[0].failed, err), &w.writes)
	default:
		w.fail(&results[0], err)
		w.store(results)
	}
}

// storeWithRetry stores results, and tries again while the store is unavailable: a lease that has run out meanwhile is good
// until another server has taken it.
func (w *run) storeWithRetry(results []result) error {
	for {
		err := w.Tx.InTx(w.storing, func(ctx context.Context) error { return w.storeAll(ctx, results) })
		if err != nil && !storage.IsTemporary(err) {
			return err
		}
		if w.report(storage.Job{}, err, &w.writes); err == nil {
			return nil
		}
		select {
		case <-w.storing.Done():
			return err
		case <-time.After(retryPause):
		}
	}
}

// storeAll stores results in the transaction of ctx, and notes whose lease was lost: another server has the job then.
func (w *run) storeAll(ctx context.Context, results []result) error {
	var done []int // places in results
	var leases []storage.Lease
	for i := range results {
		r := &results[i]
		var err error
		switch {
		case r.failure != nil:
			err = w.Jobs.Fail(ctx, r.lease, *r.failure)
		case !r.retry.IsZero():
			err = w.Jobs.Retry(ctx, r.lease, r.retry)
		default:
			done, leases = append(done, i), append(leases, r.lease)
		}
		if r.lost = errors.Is(err, storage.ErrLeaseLost); err != nil && !r.lost {
			return err
		}
	}
	finished, err := w.Jobs.FinishAll(ctx, leases)
	if err != nil {
		return err
	}
	for i, place := range done {
		r := &results[place]
		if r.lost = !finished[i]; r.lost {
			continue
		}
		if err := r.follow(ctx); err != nil {
			return err
		}
	}
	return nil
}

// follow calls then for a job that is done.
func (r result) follow(ctx context.Context) (err error) {
	if r.then == nil {
		return nil
	}
	defer recovered(&err)
	return r.then(ctx)
}
