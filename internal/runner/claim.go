package runner

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// claimAll begins the jobs that are due, as many as there is room for, and says when to look
// again. It reads before it claims: an idle queue costs no write.
func (w *run) claimAll(ctx context.Context) (next time.Time) {
	for {
		now := time.Now()
		next = now.Add(lookEvery)
		claimed := 0
		for _, kind := range w.kinds {
			due, n := w.claim(ctx, kind, now)
			claimed += n
			if due.After(now) && due.Before(next) {
				next = due
			}
		}
		w.takeTurns()
		if claimed == 0 || w.room() == 0 || ctx.Err() != nil {
			return next
		}
	}
}

// takeTurns lets each kind be the first to be asked for in its turn, so that none takes all
// the room for good.
func (w *run) takeTurns() {
	if len(w.kinds) > 1 {
		w.kinds = slices.Concat(w.kinds[1:], w.kinds[:1])
	}
}

// room is how many further jobs may be begun.
func (w *run) room() int { return w.Concurrency - w.inWork }

// claim begins the jobs of a kind that are due, and says how many. When none is, it says when
// the next one will be.
func (w *run) claim(ctx context.Context, kind string, now time.Time) (due time.Time, n int) {
	if w.room() == 0 {
		return due, 0
	}
	due, err := w.Jobs.NextDue(ctx, kind)
	if ctx.Err() != nil || errors.Is(err, storage.ErrNotFound) {
		return time.Time{}, 0
	}
	if w.tell(kind, err, &w.noReads); err != nil || due.After(now) {
		return due, 0
	}
	var leases []storage.Lease
	// A claim is not broken off: nobody would know what was claimed.
	err = w.Tx.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		leases, err = w.Jobs.Claim(ctx, kind, now, w.room(), w.PerGroup, w.Lease)
		return err
	})
	if w.tell(kind, err, &w.noWrites); err != nil {
		return due, 0
	}
	for _, l := range leases {
		w.inWork++
		go func() {
			defer func() { w.ended <- struct{}{} }()
			w.do(l)
		}()
	}
	return due, len(leases)
}

// tell passes on an error, but for all of an outage except its beginning. It also hears when
// there was none, which ends the outage.
func (w *run) tell(kind string, err error, outage *atomic.Bool) {
	known := w.noReads.Load() || w.noWrites.Load()
	if err == nil || storage.Passing(err) {
		outage.Store(err != nil)
	}
	if err != nil && w.Failed != nil && !(storage.Passing(err) && known) {
		w.Failed(w.settling, kind, err)
	}
}
