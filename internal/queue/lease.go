package queue

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// errLeaseLost is the cause with which a handler's context ends when the lease was lost, or may be lost soon.
var errLeaseLost = errors.New("queue: the lease of the job was lost")

// leaseSet has the leases of the jobs in work. A lease is in it until the result of the attempt is stored.
type leaseSet struct {
	mu      sync.Mutex
	byToken map[string]*leaseInWork
}

// leaseInWork is the lease of a job in work.
type leaseInWork struct {
	storage.Lease                         // its end is what was stored last
	cancel        context.CancelCauseFunc // ends the handler's context
	expiry        *time.Timer             // calls cancel a little before the lease ends; nil: no other process can claim the job
	handlerLimit  time.Time               // when extending stops if the handler is still running; zero: it has returned
}

// margin returns how long before the end of a lease that could not be extended the handler's context ends.
func (w *run) margin() time.Duration { return w.Lease / 5 }

// hold has a lease extended until release. The context returned ends when the lease is lost; if other processes use the
// store, also a little before a lease ends that could not be extended.
func (w *run) hold(l storage.Lease, handlerLimit time.Time) context.Context {
	ctx, cancel := context.WithCancelCause(w.working)
	h := &leaseInWork{Lease: l, cancel: cancel, handlerLimit: handlerLimit}
	if !w.SingleProcess {
		h.expiry = time.AfterFunc(time.Until(l.Until)-w.margin(), func() { cancel(errLeaseLost) })
	}
	w.leases.mu.Lock()
	defer w.leases.mu.Unlock()
	if w.leases.byToken == nil {
		w.leases.byToken = make(map[string]*leaseInWork)
	}
	w.leases.byToken[l.Token] = h
	return ctx
}

// noteReturned records that the handler has returned, or is not called: from now on its time limit does not keep the lease
// from being extended.
func (s *leaseSet) noteReturned(l storage.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.byToken[l.Token]; h != nil {
		h.handlerLimit = time.Time{}
	}
}

// release ends the extending of leases whose attempts have ended.
func (w *run) release(results []result) {
	w.leases.mu.Lock()
	defer w.leases.mu.Unlock()
	for _, r := range results {
		if h := w.leases.byToken[r.lease.Token]; h != nil {
			h.stop()
			delete(w.leases.byToken, r.lease.Token)
		}
	}
}

func (h *leaseInWork) stop() {
	if h.expiry != nil {
		h.expiry.Stop()
	}
	h.cancel(errLeaseLost)
}

// extendLeases extends the leases of the jobs in work every third of a lease, by one statement, and more often while the
// store is unavailable. Jobs that take less than that cost no statement.
func (w *run) extendLeases() {
	for pause := w.Lease / 3; ; {
		select {
		case <-w.storing.Done():
			return
		case <-time.After(pause):
		}
		pause = w.Lease / 3
		if err := w.extend(); err != nil {
			pause = min(pause, retryPause)
		}
	}
}

// extend extends the leases that have less than two thirds of their time left. If no other process uses the store, it
// waits for the store as long as that takes: the store may be compacted meanwhile.
func (w *run) extend() error {
	window := w.Lease * 2 / 3
	if now := time.Now(); len(w.leases.ending(now, now.Add(window))) == 0 {
		return nil
	}
	ctx := w.storing
	if !w.SingleProcess {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, w.Lease/3)
		defer cancel()
	}
	var extended func()
	err := w.Tx.InTx(ctx, func(ctx context.Context) (err error) {
		now := time.Now()
		extended, err = w.extendIn(ctx, now, now.Add(window))
		return err
	})
	if w.storing.Err() != nil {
		return err
	}
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("queue: leases could not be extended within %v: %w", w.Lease/3, storage.ErrUnavailable)
	}
	if w.reportStore(err, &w.outage.writes); err == nil {
		extended()
	}
	return err
}

// extendIn extends, in the transaction of ctx, the leases that end by the time given. extended is to be called after the
// commit.
func (w *run) extendIn(ctx context.Context, now, by time.Time) (extended func(), err error) {
	leases := w.leases.ending(now, by)
	if len(leases) == 0 {
		return func() {}, nil
	}
	until := now.Add(w.Lease)
	held, err := w.Jobs.Extend(ctx, leases, until)
	return func() { w.leases.extended(leases, held, until, time.Until(until)-w.margin()) }, err
}

// ending returns the leases that end by a time and are to be extended.
func (s *leaseSet) ending(now, by time.Time) (list []storage.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range maps.Values(s.byToken) {
		if !h.Until.After(by) && (h.handlerLimit.IsZero() || now.Before(h.handlerLimit)) {
			list = append(list, h.Lease)
		}
	}
	return list
}

// extended notes which leases were extended, and ends the contexts of the handlers that have lost theirs.
func (s *leaseSet) extended(list []storage.Lease, held []bool, until time.Time, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range list {
		h := s.byToken[l.Token]
		if h == nil { // the attempt has ended meanwhile
			continue
		}
		if !held[i] {
			h.stop()
			delete(s.byToken, l.Token)
			continue
		}
		if h.Until = until; h.expiry != nil {
			h.expiry.Reset(left)
		}
	}
}
