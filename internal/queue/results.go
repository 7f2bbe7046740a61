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
	// togetherTries is how often results are tried together while the store is unavailable. Then each is tried alone, since
	// the error may be that of one of them, such as a statement that exceeds a time limit of the store each time.
	togetherTries = 2
)

// storeResults stores the results of attempts. Those that arrive while a transaction is written are stored together in the
// next. A result that the store does not take is tried again until it does: a lease that has run out meanwhile is good until
// another server has taken it.
func (w *run) storeResults() {
	var together, alone []result // not stored yet
	for tries := 0; w.receive(&together, len(together)+len(alone) > 0); {
		err := w.store(together)
		if tries++; err != nil && storage.IsTemporary(err) && tries < togetherTries {
			continue
		}
		if err == nil {
			w.ended(together)
		} else {
			alone = append(alone, together...)
		}
		together, tries = nil, 0
		for len(alone) > 0 {
			r := alone[:1:1]
			alone = alone[1:]
			if !w.storeAlone(&r[0]) { // the store may be unavailable to the others, too
				alone = append(alone, r[0])
				break
			}
			w.ended(r)
		}
		if len(alone) == 0 {
			w.reportStore(nil, &w.outage.results)
		}
	}
}

// receive appends results to a list: it waits for the first one or, if there are older ones to try again, for their next
// try. It returns false when the runner stores no more.
//
// The list is in the order of groups, so that the functions which follow jobs (Kind.DoThen) are called in that order by all
// runners, and their transactions do not deadlock. The records of the jobs themselves need no order: each is under one lease.
func (w *run) receive(list *[]result, older bool) bool {
	if older {
		select {
		case <-w.storing.Done():
		case <-time.After(retryPause):
		}
	} else {
		select {
		case <-w.storing.Done():
		case r := <-w.results:
			*list = append(*list, r)
		}
	}
	for len(*list) < maxBatch && len(w.results) > 0 {
		*list = append(*list, <-w.results)
	}
	slices.SortStableFunc(*list, func(a, b result) int { return cmp.Compare(a.lease.Group, b.lease.Group) })
	return w.storing.Err() == nil
}

// ended reports the failures among results that were stored, or given up, and makes room for other jobs.
func (w *run) ended(results []result) {
	if len(results) == 0 {
		return
	}
	w.reportFailures(results)
	w.release(results)
	w.stored <- results
}

// storeAlone tries to store a result, and reports whether the result is dealt with; if not, it is tried again later. If
// then cannot be stored, but a failure can, the attempt has failed. A result that cannot be stored at all is reported,
// and its lease runs out: the attempt is interrupted.
func (w *run) storeAlone(r *result) bool {
	one := []result{*r}
	err := w.store(one)
	if err != nil && r.then != nil && w.storing.Err() == nil {
		failed := []result{*r}
		failed[0].then, failed[0].failure = nil, r.queue.newFailure(r.lease.Job, err, time.Time{})
		failedErr := w.store(failed)
		if failedErr != nil && storage.IsTemporary(err) && storage.IsTemporary(failedErr) { // the store is unavailable
			one[0].unconfirmed = failed[0].unconfirmed
		} else {
			one, err = failed, failedErr
		}
	}
	*r = one[0]
	if err == nil {
		return true
	}
	if storage.IsTemporary(err) || w.storing.Err() != nil {
		return false
	}
	job := r.lease.Job
	if r.failure != nil {
		job, err = r.failure.job, errors.Join(r.failure.err, err)
	}
	w.reportFailed(job, err)
	r.failure, r.unconfirmed = nil, nil // it is reported
	return true
}

// store stores results in one transaction.
func (w *run) store(results []result) error {
	if len(results) == 0 {
		return nil
	}
	err := w.Tx.InTx(w.storing, func(ctx context.Context) error { return w.storeIn(ctx, results) })
	if err == nil || !storage.IsTemporary(err) {
		return err
	}
	w.reportStore(err, &w.outage.results)
	if errors.Is(err, storage.ErrUnavailable) {
		for i := range results {
			if r := &results[i]; r.failure != nil {
				r.unconfirmed = r.failure
			}
		}
	}
	return err
}

// storeIn stores results in the transaction of ctx, and sets lost in those whose job another server has claimed.
func (w *run) storeIn(ctx context.Context, results []result) error {
	var done []int // places in results
	var leases []storage.Lease
	for i := range results {
		r := &results[i]
		var err error
		switch {
		case r.failure != nil:
			err = w.Jobs.Fail(ctx, r.lease, r.failure.toStore)
		case !r.retryAt.IsZero():
			err = w.Jobs.Retry(ctx, r.lease, r.retryAt)
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
	defer recoverInto(&err)
	return r.then(ctx)
}
