// Package queue does the jobs of a queue: it claims them under leases, calls the handler of
// their kind, and finishes them or puts them off.
//
//	r := queue.Runner{Jobs: db.Jobs(), Tx: db, Kinds: []queue.Kind{{Name: "mail", Do: send}}}
//	err := r.Run(ctx) // until ctx ends
//
// Several runners, in many processes, share one queue: each job is under one lease at a time. Leases are
// short, and the runner extends those of the jobs in work, all by one statement. A
// job whose process dies is claimed again when its lease has run out, so that handlers have to
// bear a repetition (storage.Jobs). A process has one runner, since what tells it of new jobs
// tells only one.
//
// A job whose attempts fail as often as its kind permits is parked: it stays stored with its last error, and is not
// claimed until an operator has it tried again. Neither an attempt that the stop of the runner cut short is a
// failed one, nor one whose handler asked for a later time without an error, nor one that met a store which was away.
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

// Handler does a job. retry is when it is to be done again, zero when it is done. An error
// without a later time has the job tried again after a pause that grows with its failures. The
// context ends with the time limit of the kind, when the lease is lost, and when the runner cannot wait any longer.
// What operators see of the error is [ErrorText].
type Handler = func(ctx context.Context, job storage.Job) (retry time.Time, err error)

// Kind says how jobs of a kind are done: by one of Do and DoThen. A zero in the numbers is what
// its comment says. Each kind has room of its own and waits for no other.
type Kind struct {
	Name string // storage.Job.Kind
	Do   Handler
	// DoThen does a job and says what follows: unless nil, then is called in the transaction
	// that finishes the job, behind that, and not at all when the lease was lost meanwhile.
	// It is the transaction of others, too, and may be run more than once
	// (storage.Transactor). An error, of either, has the job tried again as one of Do has.
	DoThen func(ctx context.Context, job storage.Job) (then func(ctx context.Context) error, err error)

	// Concurrency is how many jobs are in work at once; 0: 8. The last quarter of them are of
	// groups that have no other.
	Concurrency int
	PerGroup    int           // of those of one group, over all runners; 0: 2
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
	Lease time.Duration // for how long a process that died holds up its jobs; 0: 15 s
	Alone bool          // no other process has the store: the leases that Run finds are void

	// Failed is called with each attempt that failed, with the job as it was claimed, and with errors of the store, with
	// the zero Job, whichever call met them. Of an outage of the store, where calls fail one after the
	// other, it is called once. nil: failures are not reported.
	Failed func(ctx context.Context, job storage.Job, err error)
	// Parked is called when a job is parked, with the job as it was claimed for its last attempt. nil: that is not reported.
	Parked func(ctx context.Context, job storage.Job)
}

const (
	// lookEvery is how often a runner looks for jobs unasked: those of other processes. One that
	// has claimed none for a while looks at each lookIdle.
	lookEvery, lookIdle = time.Second, 5 * time.Second
	// idleAfter is that while.
	idleAfter = 10 * time.Second
	// lookAgain is how soon it looks again when it is told of jobs, of whatever kind: those of a
	// busy queue are claimed together, and told of often.
	lookAgain = 20 * time.Millisecond
	// settleTime is how long a runner that stops waits for jobs to end whose context has
	// ended.
	settleTime = 5 * time.Second
)

// run is a runner at work.
type run struct {
	Runner
	lines   []*line
	ended   chan end   // what jobs came to, which is to be stored
	settled chan []end // what became of them in the store
	worked  time.Time  // when jobs were claimed last

	held leases
	outage
	work, settling context.Context // of handlers, and of what they come to
}

// line is what waits and what is in work of a kind.
type line struct {
	Kind
	inWork int
	look   time.Time // when to look for more
	looked time.Time // when that was done last
	seen   time.Time // unless zero: what was due then was claimed, but for what its groups hold up
	waits  bool      // there is more, or there may be, that waits for others to end
}

func (l *line) room() int { return l.Concurrency - l.inWork }

// Run does jobs until the context ends. Then it claims no more and waits for those in work,
// whose contexts end after the grace. What they leave undone can be claimed by another at
// once. The error says that a handler did not heed its context.
func (r Runner) Run(ctx context.Context) error {
	w := &run{Runner: r}
	w.Lease = cmp.Or(max(r.Lease, 0), 15*time.Second)
	room := 0
	for _, k := range r.Kinds {
		l := &line{Kind: k.withDefaults()}
		w.lines = append(w.lines, l)
		room += l.Concurrency
	}
	// Several runners claim kinds in one order, so that none waits for one that waits for it.
	slices.SortFunc(w.lines, func(a, b *line) int { return cmp.Compare(a.Name, b.Name) })
	w.ended, w.settled = make(chan end, room), make(chan []end, room) // nobody who sends waits
	var stopWork, stopSettling context.CancelFunc
	w.work, stopWork = context.WithCancel(context.WithoutCancel(ctx))
	defer stopWork()
	w.settling, stopSettling = context.WithCancel(context.WithoutCancel(ctx))
	var background sync.WaitGroup
	background.Go(w.settle)
	background.Go(w.extendOften)
	defer background.Wait()
	defer stopSettling()

	if r.Alone {
		err := w.Tx.InTx(ctx, w.Jobs.ReleaseAll)
		w.tell(storage.Job{}, err, &w.noWrites)
	}
	for ctx.Err() == nil {
		w.wait(ctx, w.claimAll(ctx))
	}
	grace := cmp.Or(max(r.Grace, 0), 10*time.Second)
	if w.waitForAll(grace) {
		return nil
	}
	stopWork()
	if w.waitForAll(settleTime) {
		return nil
	}
	return fmt.Errorf("queue: %d jobs did not end when they were to", w.inWork())
}

func (k Kind) withDefaults() Kind {
	k.Concurrency = cmp.Or(max(k.Concurrency, 0), 8)
	k.PerGroup = cmp.Or(max(k.PerGroup, 0), 2)
	k.Timeout = cmp.Or(max(k.Timeout, 0), 2*time.Minute)
	k.MaxAttempts = cmp.Or(max(k.MaxAttempts, 0), 20)
	return k
}

// wait waits for the time given, or for a sign that there may be more to do. Of what has been
// settled it takes note all at once, so that one claim follows, not one for each job.
func (w *run) wait(ctx context.Context, until time.Time) {
	timer := time.NewTimer(time.Until(until))
	defer timer.Stop()
	select {
	case <-ctx.Done():
	case <-timer.C:
	case <-w.Jobs.Enqueued():
		for _, l := range w.lines {
			l.look = earlier(l.look, l.looked.Add(lookAgain))
		}
	case ends := <-w.settled:
		w.note(ends)
	}
	for {
		select {
		case ends := <-w.settled:
			w.note(ends)
		default:
			return
		}
	}
}

// note makes the room of jobs that have ended that of others.
func (w *run) note(ends []end) {
	for _, e := range ends {
		e.line.inWork--
		if e.line.waits {
			e.line.look = time.Time{}
		}
	}
}

func (w *run) inWork() (jobs int) {
	for _, l := range w.lines {
		jobs += l.inWork
	}
	return jobs
}

// waitForAll waits for all jobs in work to end, and says whether they did in time.
func (w *run) waitForAll(long time.Duration) bool {
	over := time.After(long)
	for w.inWork() > 0 {
		select {
		case ends := <-w.settled:
			w.note(ends)
		case <-over:
			return false
		}
	}
	return true
}
