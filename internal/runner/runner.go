// Package runner does the jobs of a queue: it claims them under leases, calls the handler of
// their kind, and finishes them or puts them off.
//
//	r := runner.Runner{Jobs: db.Jobs(), Tx: db, Handlers: requests.Handlers(), Failed: report}
//	err := r.Run(ctx) // until ctx ends
//
// Several runners, in one process or in many, share one queue: each job is under one lease
// at a time. A job whose process dies is claimed again when its lease has run out, so that
// handlers have to bear a repetition (storage.Jobs).
package runner

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Handler does a job. retry is when it is to be done again, zero when it is done. An error
// without a later time has the job tried again after a pause that grows with its attempts. The
// context ends a little before the lease does, and when the runner cannot wait any longer.
type Handler = func(ctx context.Context, job storage.Job) (retry time.Time, err error)

// Runner does jobs. Jobs, Tx and Handlers are required; a zero in the rest is what its
// comment says.
type Runner struct {
	Jobs     storage.Jobs
	Tx       storage.Transactor // of the same store
	Handlers map[string]Handler // by kind; jobs of other kinds are left alone

	Concurrency int           // jobs in work at once; 0: 8
	PerGroup    int           // of those of one group, over all runners; 0: 2
	Lease       time.Duration // of a job; 0: 2 minutes
	Grace       time.Duration // for jobs in work when the runner is to stop; 0: 10 s

	// Failed is told of errors of handlers and of the store; of an outage of the store, where
	// calls fail one after the other, it is told once. nil: nobody is told.
	Failed func(ctx context.Context, kind string, err error)
}

const (
	// lookEvery is how often a runner looks for jobs unasked: those of other processes.
	lookEvery = time.Second
	// settleTime is how long a runner that stops waits for jobs to end whose context has
	// ended.
	settleTime = 5 * time.Second
)

// run is a runner at work.
type run struct {
	Runner
	kinds  []string
	inWork int           // jobs
	ended  chan struct{} // has a value for each job that is not in work any more

	// The store is away, as far as reads or writes tell; a disk that is full can be read.
	noReads, noWrites atomic.Bool

	work, settling context.Context // of handlers, and of what they come to
}

// Run does jobs until the context ends. Then it claims no more and waits for those in work,
// whose contexts end after the grace. What they leave undone can be claimed by another at
// once. The error says that a handler did not heed its context.
func (r Runner) Run(ctx context.Context) error {
	w := &run{Runner: r.withDefaults(), kinds: slices.Sorted(maps.Keys(r.Handlers))}
	w.ended = make(chan struct{}, w.Concurrency)
	var stopWork, stopSettling context.CancelFunc
	w.work, stopWork = context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	w.settling, stopSettling = context.WithCancel(context.WithoutCancel(ctx))
	defer stopSettling()

	for ctx.Err() == nil {
		w.wait(ctx, w.claimAll(ctx))
	}
	if w.waitForAll(w.Grace) {
		return nil
	}
	stopWork()
	if w.waitForAll(settleTime) {
		return nil
	}
	return fmt.Errorf("runner: %d jobs did not end when they were to", w.inWork)
}

func (r Runner) withDefaults() Runner {
	if r.Concurrency <= 0 {
		r.Concurrency = 8
	}
	if r.PerGroup <= 0 {
		r.PerGroup = 2
	}
	if r.Lease <= 0 {
		r.Lease = 2 * time.Minute
	}
	if r.Grace <= 0 {
		r.Grace = 10 * time.Second
	}
	return r
}

// wait waits for the time given, or for a sign that there may be more to do.
func (w *run) wait(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.Jobs.Enqueued():
	case <-w.ended:
		w.inWork--
	}
}

// waitForAll waits for all jobs in work to end, and says whether they did in time.
func (w *run) waitForAll(long time.Duration) bool {
	over := time.After(long)
	for w.inWork > 0 {
		select {
		case <-w.ended:
			w.inWork--
		case <-over:
			return false
		}
	}
	return true
}
