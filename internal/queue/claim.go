package queue

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// claimAll begins the jobs that are due, as many as there is room for, and says when to look
// again.
func (w *run) claimAll(ctx context.Context) (next time.Time) {
	for ctx.Err() == nil {
		now := time.Now()
		next = now.Add(lookEvery)
		var due []*line
		for _, l := range w.lines {
			if !l.look.After(now) && w.due(ctx, l, now) {
				due = append(due, l)
			}
			if l.look.Before(next) {
				next = l.look
			}
		}
		if len(due) == 0 {
			break
		}
		w.claim(ctx, due, now)
	}
	return next
}

// due says whether there are jobs to claim, and when to look again if there are none. It reads,
// so that an idle queue costs no write.
func (w *run) due(ctx context.Context, l *line, now time.Time) bool {
	seen := l.seen
	l.look, l.looked, l.seen = now.Add(lookEvery), now, time.Time{}
	if l.waits = l.room() == 0; l.waits {
		return false
	}
	due, err := w.Jobs.NextDue(ctx, l.Name)
	if ctx.Err() != nil || errors.Is(err, storage.ErrNotFound) {
		return false
	}
	if w.tell("", err, &w.noReads); err != nil {
		return false
	}
	if due.After(now) {
		l.look = earlier(l.look, due)
		return false
	}
	l.waits = !seen.IsZero() && !due.After(seen)
	return !l.waits
}

// claim begins the jobs that are due. It takes one transaction for all kinds.
func (w *run) claim(ctx context.Context, due []*line, now time.Time) {
	claimed := make([][]storage.Lease, len(due))
	// A claim is not broken off: nobody would know what was claimed.
	err := w.Tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		for i, l := range due {
			limit, perGroup := l.share()
			if claimed[i], err = w.Jobs.Claim(ctx, l.Name, now, limit, perGroup, l.Lease); err != nil {
				return err
			}
		}
		return nil
	})
	if w.tell("", err, &w.noWrites); err != nil {
		return
	}
	for i, l := range due {
		l.look = time.Time{}
		if limit, _ := l.share(); len(claimed[i]) < limit {
			l.seen = now
		}
		for _, lease := range claimed[i] {
			l.inWork++
			go func() { w.ended <- w.do(l, lease) }()
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
