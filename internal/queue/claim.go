package queue

import (
	"context"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// claimAll begins the jobs that are due, as many as there is room for, and says when to look
// again.
func (w *run) claimAll(ctx context.Context) (next time.Time) {
	for ctx.Err() == nil {
		now := time.Now()
		if next = w.nextLook(now); next.After(now) {
			return next
		}
		if err := w.extendLapsed(now); err != nil {
			return now.Add(awayPause)
		}
		if due := w.due(ctx, now); len(due) > 0 {
			w.claim(ctx, due, now)
		}
	}
	return next
}

// nextLook returns when the first of the lines is to be looked at.
func (w *run) nextLook(now time.Time) time.Time {
	next := now.Add(lookIdle)
	for _, l := range w.lines {
		next = earlier(next, l.look)
	}
	return next
}

// due returns the lines that have jobs to claim, and sets when to look at each again. One query reads all
// lines that may have some, also those whose time has not come: so lines are looked at together, and an idle queue costs
// few queries, and no write.
func (w *run) due(ctx context.Context, now time.Time) (due []*line) {
	interval := lookEvery
	if now.Sub(w.worked) > idleAfter {
		interval = lookIdle
	}
	var lines []*line
	var kinds []string
	for _, l := range w.lines {
		if l.waits && l.look.After(now) { // it is known to have more than there is room for
			continue
		}
		if l.look = now.Add(interval); l.room() == 0 {
			l.looked, l.seen, l.waits = now, time.Time{}, true
			continue
		}
		lines, kinds = append(lines, l), append(kinds, l.Name)
	}
	if len(lines) == 0 {
		return nil
	}
	next, err := w.Jobs.NextDue(ctx, kinds...)
	if ctx.Err() != nil {
		return nil
	}
	if w.tell(storage.Job{}, err, &w.noReads); err != nil {
		lookLater(lines, now)
		return nil
	}
	for _, l := range lines {
		at, some := next[l.Name]
		if l.isDue(at, some, now) {
			due = append(due, l)
		}
	}
	return due
}

// lookLater has lines looked at again although the store failed.
func lookLater(lines []*line, now time.Time) {
	for _, l := range lines {
		l.look = now.Add(lookEvery)
	}
}

// isDue reports whether there are jobs to claim, given when the next one is due, if there are some.
func (l *line) isDue(at time.Time, some bool, now time.Time) bool {
	seen := l.seen
	l.looked, l.seen, l.waits = now, time.Time{}, false
	if !some {
		return false
	}
	if at.After(now) {
		l.look = earlier(l.look, at)
		return false
	}
	l.waits = !seen.IsZero() && !at.After(seen)
	return !l.waits
}

// claim begins the jobs that are due. It takes one transaction for all kinds.
func (w *run) claim(ctx context.Context, due []*line, now time.Time) {
	claimed := make([][]storage.Lease, len(due))
	// A claim is not broken off: nobody would know what was claimed.
	err := w.Tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		for i, l := range due {
			limit, perGroup := l.share()
			if claimed[i], err = w.Jobs.Claim(ctx, l.Name, now, limit, perGroup, w.Lease); err != nil {
				return err
			}
		}
		return nil
	})
	if w.tell(storage.Job{}, err, &w.noWrites); err != nil {
		lookLater(due, now)
		return
	}
	for i, l := range due {
		l.look = time.Time{}
		if limit, _ := l.share(); len(claimed[i]) < limit {
			l.seen = now
		}
		for _, lease := range claimed[i] {
			l.inWork++
			w.worked = now
			held := w.hold(lease, now.Add(l.Timeout))
			go func() { w.ended <- w.do(held, l, lease) }()
		}
	}
}

// share is how many jobs may be claimed, and of one group. The last quarter of the room is for groups
// that have nothing in work: so many that take long, as endpoints that do not answer, hold up none
// that has had no turn.
func (l *line) share() (limit, perGroup int) {
	if spare := l.room() - l.Concurrency/4; spare > 0 {
		return spare, l.PerGroup
	}
	return l.room(), 1
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}
