package queue

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// claimAll begins the jobs that are due, as many as there is room for, and returns when to look
// again.
func (w *run) claimAll(ctx context.Context) (next time.Time) {
	for ctx.Err() == nil {
		now := time.Now()
		if next = w.nextLook(now); next.After(now) {
			return next
		}
		if due := w.due(ctx, now); len(due) > 0 {
			w.claim(ctx, due)
		}
	}
	return next
}

// nextLook returns when to look for jobs of the first of the kinds.
func (w *run) nextLook(now time.Time) time.Time {
	next := now.Add(idleLookInterval)
	for _, q := range w.queues {
		next = earlier(next, q.nextLook)
	}
	return next
}

// due returns the kinds that have jobs to claim, and sets when to look for jobs of each kind again. One query reads all
// kinds that may have some, also those that are to be looked at later: so kinds are looked at together, and an idle queue
// costs few queries, and no write.
func (w *run) due(ctx context.Context, now time.Time) (due []*kindQueue) {
	interval := lookInterval
	if now.Sub(w.worked) > idleAfter {
		interval = idleLookInterval
	}
	var queues []*kindQueue
	var kinds []string
	for _, q := range w.queues {
		if q.backlog && q.nextLook.After(now) { // more jobs are due than there is room for
			continue
		}
		if q.nextLook = now.Add(interval); q.room() == 0 {
			q.lastLook, q.claimedTo, q.backlog = now, time.Time{}, true
			continue
		}
		queues, kinds = append(queues, q), append(kinds, q.Name)
	}
	if len(queues) == 0 {
		return nil
	}
	next, err := w.Jobs.NextDue(ctx, kinds...)
	if ctx.Err() != nil {
		return nil
	}
	if w.reportStore(err, &w.outage.reads); err != nil {
		lookLater(queues)
		return nil
	}
	for _, q := range queues {
		at, some := next[q.Name]
		if q.isDue(at, some, now) {
			due = append(due, q)
		}
	}
	return due
}

// lookLater sets when to look for jobs again after an error of the store.
func lookLater(queues []*kindQueue) {
	for _, q := range queues {
		q.nextLook = time.Now().Add(lookInterval)
	}
}

// isDue reports whether there are jobs to claim, given when the next one is due, if there are some.
func (q *kindQueue) isDue(at time.Time, some bool, now time.Time) bool {
	claimedTo := q.claimedTo
	q.lastLook, q.claimedTo, q.backlog = now, time.Time{}, false
	if !some {
		return false
	}
	if at.After(now) {
		q.nextLook = earlier(q.nextLook, at)
		return false
	}
	q.backlog = !claimedTo.IsZero() && !at.After(claimedTo)
	return !q.backlog
}

// claim claims jobs of the kinds given in one transaction, and begins them. Before that it extends the leases of jobs in
// work that have run out, so that the runner does not claim the jobs that it works on: the transaction may have waited
// for the store for longer than leases last.
func (w *run) claim(ctx context.Context, due []*kindQueue) {
	claimed := make([][]storage.Lease, len(due))
	all := make([]bool, len(due)) // all jobs of the kind that are due were claimed
	var now time.Time
	var suspect string // the token of the lease of the suspect job among them
	var extended func()
	// The end of ctx does not cancel it: the runner would not know whether it holds the leases.
	err := w.Tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		now = time.Now()
		if extended, err = w.extendIn(ctx, now, now); err != nil {
			return err
		}
		for i, q := range due {
			limit, perGroup := q.claimLimits()
			leases, err := w.Jobs.Claim(ctx, q.Name, now, limit, perGroup, w.Lease)
			if err != nil {
				return err
			}
			claimed[i], all[i] = leases, len(leases) < limit
		}
		suspect, err = w.postponeSuspects(ctx, claimed, now)
		return err
	})
	if w.reportStore(err, &w.outage.writes); err != nil {
		lookLater(due)
		return
	}
	extended()
	for i, q := range due {
		q.nextLook = time.Time{}
		if all[i] {
			q.claimedTo = now
		}
		for _, lease := range claimed[i] {
			q.inWork++
			w.worked = now
			if lease.Token == suspect {
				w.suspect = suspect
			}
			handlerCtx := w.hold(lease, now.Add(q.Timeout))
			go func() {
				r := result{queue: q, lease: lease}
				if lease.Interrupted {
					r.outcome = q.interrupted(lease)
				} else {
					r.outcome = q.attempt(handlerCtx, lease)
				}
				w.leases.noteReturned(lease)
				w.results <- r
			}()
		}
	}
}

// isSuspect reports whether a lease is for another attempt of a job that was interrupted more often than a restart explains. It
// may be the job that kills its process, or one that was in work beside it.
func isSuspect(l storage.Lease) bool { return !l.Interrupted && l.Interruptions > freeInterruptions }

// postponeSuspects removes suspect jobs from those that were claimed and postpones them, in the transaction of ctx that
// claimed them, so that at most one is in work. It returns the token of the one that is left. So a job that kills its process
// collects interruptions alone.
func (w *run) postponeSuspects(ctx context.Context, claimed [][]storage.Lease, now time.Time) (suspect string, err error) {
	for i, leases := range claimed {
		var begin []storage.Lease
		for _, l := range leases {
			switch {
			case !isSuspect(l):
			case w.suspect == "" && suspect == "":
				suspect = l.Token
			default:
				if err := w.Jobs.Postpone(ctx, l, now.Add(jittered(firstPause))); err != nil {
					return "", err
				}
				continue
			}
			begin = append(begin, l)
		}
		claimed[i] = begin
	}
	return suspect, nil
}

// claimLimits returns how many jobs may be claimed, and how many of them of one group. The last quarter of the room is for
// groups that have no job in work: however many jobs take long, such as those of endpoints that do not answer, the first
// job of another group does not wait for them.
func (q *kindQueue) claimLimits() (limit, perGroup int) {
	if spare := q.room() - q.Concurrency/4; spare > 0 {
		return spare, q.PerGroup
	}
	return q.room(), 1
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
