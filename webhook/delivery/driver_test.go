package delivery_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
	"github.com/innsigli/innsigli/webhook/delivery"
)

// during has jobs done for so long, from when they are due on to the nanosecond.
func (h *house) during(long time.Duration) {
	h.Helper()
	stop := h.work(h.hooks)
	time.Sleep(long)
	stop()
}

// work has a server do jobs until it is stopped. Those in work are cut short then.
func (h *house) work(s *delivery.Service) (stop func()) {
	ctx, cancel := context.WithCancel(h.Context())
	ended := make(chan struct{}, 10_000)
	var all sync.WaitGroup
	all.Go(func() {
		for ctx.Err() == nil {
			next := h.claim(ctx, s, func(w delivery.Work, l storage.Lease) {
				all.Go(func() {
					h.do(ctx, w, l)
					ended <- struct{}{}
				})
			})
			select {
			case <-ctx.Done():
			case <-time.After(time.Until(next)): // time: in bubbles alone
			case <-h.db.Jobs().Enqueued():
			case <-ended:
			}
		}
	})
	return func() {
		cancel()
		all.Wait()
	}
}

// claim begins jobs that are due, and says when the next one is.
func (h *house) claim(ctx context.Context, s *delivery.Service, begin func(delivery.Work, storage.Lease)) (next time.Time) {
	now := time.Now()
	next = now.Add(1000 * time.Hour)
	for _, w := range s.Work() {
		var leases []storage.Lease
		h.note(h.db.InTx(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
			leases, err = h.db.Jobs().Claim(ctx, w.Kind, now, w.Concurrency, w.PerGroup, w.Timeout)
			return err
		}))
		for _, l := range leases {
			begin(w, l)
		}
		due, err := h.db.Jobs().NextDue(context.WithoutCancel(ctx), w.Kind)
		h.note(err)
		if at := due[w.Kind]; at.After(now) && at.Before(next) {
			next = at
		}
	}
	return next
}

// do does a job as a runner does.
func (h *house) do(ctx context.Context, w delivery.Work, l storage.Lease) {
	// time: in bubbles alone
	limited, cancel := context.WithDeadline(ctx, l.Until.Add(-time.Second))
	defer cancel()
	then, err := handle(limited, w, l.Job)
	if err == nil {
		err = h.finish(l, then)
	}
	if err == nil || errors.Is(err, storage.ErrLeaseLost) {
		return
	}
	if ctx.Err() == nil {
		h.note(err)
	}
	err = h.db.InTx(context.WithoutCancel(ctx), func(ctx context.Context) error {
		return h.db.Jobs().Retry(ctx, l, time.Now().Add(5*time.Second))
	})
	if !errors.Is(err, storage.ErrLeaseLost) {
		h.note(err)
	}
}

// finish ends a job, and does what follows in the same transaction.
func (h *house) finish(l storage.Lease, then func(context.Context) error) error {
	return h.db.InTx(h.Context(), func(ctx context.Context) (err error) {
		if err := h.db.Jobs().Finish(ctx, l); err != nil || then == nil {
			return err
		}
		defer recovered(&err)
		return then(ctx)
	})
}

func handle(ctx context.Context, w delivery.Work, job storage.Job) (then func(context.Context) error, err error) {
	defer recovered(&err)
	return w.Do(ctx, job)
}

// recovered makes an error of a panic.
func recovered(err *error) {
	if p := recover(); p != nil {
		*err = fmt.Errorf("panicked: %v", p)
	}
}

// note notes what a job failed with.
func (h *house) note(err error) {
	if err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.told = append(h.told, err)
	}
}
