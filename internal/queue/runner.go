// Package queue does the jobs of a queue: it claims them under leases, calls the handler of
// their kind, and finishes them or puts them off.
//
//	r := queue.Runner{Jobs: db.Jobs(), Tx: db, Kinds: []queue.Kind{{Name: "mail", Do: send}}}
//	err := r.Run(ctx) // until ctx ends
//
// Several runners, in many processes, share one queue: each job is under one lease at a time. Leases are
// short, and the runner extends those of the jobs in work, all by one statement. A
// job whose process died is claimed again when its lease has run out, so handlers must
// bear a repetition (storage.Jobs). A process has one runner, since the announcement of new jobs
// reaches only one.
//
// # Failures
//
// A job whose attempts fail as often as its kind permits is parked: it stays stored with its last error, and is not
// claimed until an operator has it tried again.
//
// An attempt whose lease ran out, or whose process died, before its result was stored is interrupted. That counts as a
// failed attempt, too, when the job is claimed again. The first three interruptions in a row cause no pause, so that a
// restart delays nothing. The pauses that follow grow like those after errors, so that a job that kills its process
// leaves the process time for other jobs. Of the jobs with more than three interruptions in a row a runner has one at a
// time in work, so that those which were only in work beside such a job are done. After [MaxInterruptions] in a row,
// which take about an hour, the job is parked whatever its kind permits; servers that are killed again and again for
// some minutes park nothing.
//
// Two kinds of attempts do not count as failed: those that a graceful stop of the runner or a lost lease cut short, and those
// whose handler returned a later time without an error. An error of the store counts like any other: when the failure can be
// stored, the store is available. So an outage may cost a job that was in work one failure.
//
// Where several processes share the store, an outage or a network partition that lasts longer than a lease counts as an
// interrupted attempt if another process claims the job before this one can store its result. A process that has the store to
// itself stores its results when the store is available again.
package queue

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// Handler does a job. retryAt is when it is to be done again, zero when it is done. An error
// without a later time has the job tried again after a pause that grows with its failures. The
// context ends with the time limit of the kind, when the lease is lost, and when the runner cannot wait any longer.
// What operators see of the error is [ErrorText].
type Handler = func(ctx context.Context, job storage.Job) (retryAt time.Time, err error)

// Kind is the handler of one kind of jobs, which is either Do or DoThen, and its limits. A zero limit is what its
// comment says. Each kind has its own room for jobs in work, and does not wait for other kinds.
type Kind struct {
	Name string // storage.Job.Kind
	Do   Handler
	// DoThen does a job and returns what follows: unless nil, then is called in the transaction
	// that finishes the job, after that, and not at all if the lease was lost meanwhile.
	// Other jobs may be finished in the same transaction, and then may be called more than once
	// (storage.Transactor). After an error of either, the job is tried again as after one of Do.
	DoThen func(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error)

	// Concurrency is how many jobs are in work at once; 0: 8. The last quarter of it is reserved for
	// groups that have no job in work.
	Concurrency int
	PerGroup    int           // jobs of one group in work at once, over all runners; 0: 2
	Timeout     time.Duration // of one attempt; 0: 2 minutes
	// MaxAttempts is how many attempts may fail before the job is parked; 0: 20, which takes 70 minutes where the
	// runner chooses the pauses.
	MaxAttempts int
}

// Runner does jobs. Jobs, Tx and Kinds are required; a zero in the rest is what its comment
// says.
type Runner struct {
	Jobs  storage.Jobs
	Tx    storage.Transactor // of the same store
	Kinds []Kind             // each once; jobs of other kinds are left alone

	Grace time.Duration // for jobs in work when the runner is to stop; 0: 10 s
	Lease time.Duration // for how long a process that died delays its jobs; 0: 15 s
	// SingleProcess: no other process uses the store. So the leases that Run finds are those of a process that died,
	// and a lease that cannot be extended because the store is busy is lost to no one: the handler goes on.
	SingleProcess bool

	// Failed is called with each attempt that failed, with the job as it is stored then, and with errors of the store, with
	// the zero Job, whichever call met them. Of an outage of the store, where calls fail one after the
	// other, it is called once. nil: failures are not reported.
	Failed func(ctx context.Context, job storage.Job, err error)
	// Parked is called when a job was parked, with the job as it is stored then. nil: that is not reported.
	Parked func(ctx context.Context, job storage.Job)
}

const (
	// lookInterval is how often a runner looks for jobs of other processes, and idleLookInterval
	// how often it does when it has claimed none for the time idleAfter.
	lookInterval, idleLookInterval, idleAfter = time.Second, 5 * time.Second, 10 * time.Second
	// enqueuedPause is the least time between two looks for jobs that this process enqueues: those of
	// a busy queue are claimed together.
	enqueuedPause = 20 * time.Millisecond
	// cutTime is how long a runner that stops waits for the jobs whose contexts it has ended.
	cutTime = 5 * time.Second
)

// run is a runner at work.
type run struct {
	Runner
	queues  []*kindQueue
	results chan result   // of attempts, which are to be stored
	stored  chan []result // those that storeResults is done with
	worked  time.Time     // when jobs were claimed last
	suspect string        // token of the lease of the suspect job in work; empty: there is none (isSuspect)

	leases           leaseSet
	outage           outage
	working, storing context.Context // of handlers, and of the transactions that store results
}

// kindQueue is what a runner knows of the jobs of one kind.
type kindQueue struct {
	Kind
	inWork    int
	nextLook  time.Time // when to look for jobs
	lastLook  time.Time
	claimedTo time.Time // unless zero: the jobs due by then were claimed, except those whose groups are at their limit
	backlog   bool      // jobs are due, or may be, that can be claimed when others have ended
}

func (q *kindQueue) room() int { return q.Concurrency - q.inWork }

// Run does jobs until the context ends. Then it claims no more and waits for those in work,
// whose contexts end after the grace. Another runner can claim at once what they leave
// undone. Run returns an error if a handler did not return when its context had ended.
func (r Runner) Run(ctx context.Context) error {
	w := &run{Runner: r}
	w.Lease = cmp.Or(max(r.Lease, 0), 15*time.Second)
	room := 0
	for _, k := range r.Kinds {
		q := &kindQueue{Kind: k.withDefaults()}
		w.queues = append(w.queues, q)
		room += q.Concurrency
	}
	// All runners claim kinds in the same order, so that no two of them wait for each other.
	slices.SortFunc(w.queues, func(a, b *kindQueue) int { return cmp.Compare(a.Name, b.Name) })
	w.results, w.stored = make(chan result, room), make(chan []result, room) // sending to them does not block
	var stopWorking, stopStoring context.CancelFunc
	w.working, stopWorking = context.WithCancel(context.WithoutCancel(ctx))
	defer stopWorking()
	w.storing, stopStoring = context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(w.storeResults)
	background.Go(w.extendLeases)
	defer background.Wait()
	defer stopStoring()

	if r.SingleProcess {
		err := w.Tx.InTx(ctx, func(ctx context.Context) error { return w.Jobs.ExpireLeases(ctx, time.Now()) })
		if ctx.Err() == nil { // otherwise the end of ctx may be the error
			w.reportStore(err, &w.outage.writes)
		}
	}
	for ctx.Err() == nil {
		w.wait(ctx, w.claimAll(ctx))
	}
	grace := cmp.Or(max(r.Grace, 0), 10*time.Second)
	if w.waitForAll(grace) {
		return nil
	}
	stopWorking()
	if w.waitForAll(cutTime) {
		return nil
	}
	return fmt.Errorf("queue: %d jobs have not ended, or their results are not stored", w.inWork())
}

func (k Kind) withDefaults() Kind {
	k.Concurrency = cmp.Or(max(k.Concurrency, 0), 8)
	k.PerGroup = cmp.Or(max(k.PerGroup, 0), 2)
	k.Timeout = cmp.Or(max(k.Timeout, 0), 2*time.Minute)
	k.MaxAttempts = cmp.Or(max(k.MaxAttempts, 0), 20)
	return k
}

// wait waits until the time given, or until there may be jobs to claim. It takes note of all stored
// results at once, so that one claim follows, not one for each job.
func (w *run) wait(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.Jobs.Enqueued():
		for _, q := range w.queues {
			q.nextLook = earlier(q.nextLook, q.lastLook.Add(enqueuedPause))
		}
	case results := <-w.stored:
		w.makeRoom(results)
	}
	for {
		select {
		case results := <-w.stored:
			w.makeRoom(results)
		default:
			return
		}
	}
}

// makeRoom makes room for other jobs in place of those whose attempts have ended.
func (w *run) makeRoom(results []result) {
	for _, r := range results {
		r.queue.inWork--
		if r.lease.Token == w.suspect {
			w.suspect = ""
		}
		if r.lease.Interrupted { // the job may be due again at once
			r.queue.claimedTo, r.queue.backlog = time.Time{}, true
		}
		if r.queue.backlog {
			r.queue.nextLook = time.Time{}
		}
	}
}

func (w *run) inWork() (jobs int) {
	for _, q := range w.queues {
		jobs += q.inWork
	}
	return jobs
}

// waitForAll waits until no job is in work, and reports whether that came about in time.
func (w *run) waitForAll(timeout time.Duration) bool {
	over := time.After(timeout)
	for w.inWork() > 0 {
		select {
		case results := <-w.stored:
			w.makeRoom(results)
		case <-over:
			return false
		}
	}
	return true
}
