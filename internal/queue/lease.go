package queue

import (
	"context"
	"errors"
	"maps"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// errLeaseLost is why the context of a handler ends whose lease was lost, or is about to be.
var errLeaseLost = errors.New("queue: the lease of the job was lost")

// leases are those of the jobs in work, by their tokens. A lease is among them until what its job came to is stored.
type leases struct {
	mu        sync.Mutex
	of        map[string]*heldLease
	extending sync.Mutex // held while they are extended
}

type heldLease struct {
	storage.Lease // its end is what was stored last
	end           context.CancelCauseFunc
	ending        *time.Timer // calls end a little before the lease ends
	limit         time.Time   // when extending stops if the handler is still running; zero: it has returned
}

// margin returns how long before the end of a lease that could not be extended the handler's context ends.
func (w *run) margin() time.Duration { return w.Lease / 5 }

// hold has a lease extended until release. The context ends when the lease is lost.
func (w *run) hold(l storage.Lease, limit time.Time) context.Context {
	ctx, end := context.WithCancelCause(w.work)
	ending := time.AfterFunc(time.Until(l.Until)-w.margin(), func() { end(errLeaseLost) })
	w.held.mu.Lock()
	defer w.held.mu.Unlock()
	if w.held.of == nil {
		w.held.of = make(map[string]*heldLease)
	}
	w.held.of[l.Token] = &heldLease{l, end, ending, limit}
	return ctx
}

// handled notes that the handler has ended: the lease is extended until what it came to is stored.
func (s *leases) handled(l storage.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if h := s.of[l.Token]; h != nil {
		h.limit = time.Time{}
	}
}

// release ends the extending of leases whose jobs have ended.
func (w *run) release(ends []end) {
	w.held.mu.Lock()
	defer w.held.mu.Unlock()
	for _, e := range ends {
		if h := w.held.of[e.lease.Token]; h != nil {
			h.stop()
			delete(w.held.of, e.lease.Token)
		}
	}
}

func (h *heldLease) stop() {
	h.ending.Stop()
	h.end(errLeaseLost)
}

// extendOften extends the leases of the jobs in work every third of a lease, by one statement, and more often while the
// store is unavailable. Jobs that take less than that cost no statement.
func (w *run) extendOften() {
	for pause := w.Lease / 3; ; {
		select {
		case <-w.settling.Done():
			return
		case <-time.After(pause):
		}
		pause = w.Lease / 3
		if err := w.extend(time.Now(), w.Lease*2/3); err != nil {
			pause = min(pause, awayPause)
		}
	}
}

// extendLapsed extends leases that have run out, while the store was away: their jobs are not to be claimed by the
// runner that is at work on them.
func (w *run) extendLapsed(now time.Time) error { return w.extend(now, 0) }

// extend extends the leases that do not last for that long.
func (w *run) extend(now time.Time, long time.Duration) error {
	if len(w.held.ending(now, long)) == 0 {
		return nil
	}
	w.held.extending.Lock()
	defer w.held.extending.Unlock()
	due := w.held.ending(now, long) // but for those that another call has extended
	if len(due) == 0 {
		return nil
	}
	until := now.Add(w.Lease)
	ctx, cancel := context.WithTimeout(w.settling, w.Lease/3)
	defer cancel()
	var held []bool
	err := w.Tx.InTx(ctx, func(ctx context.Context) (err error) {
		held, err = w.Jobs.Extend(ctx, due, until)
		return err
	})
	if w.settling.Err() != nil {
		return err
	}
	if w.tell(storage.Job{}, err, &w.noWrites); err != nil {
		return err
	}
	w.held.extended(due, held, until, time.Until(until)-w.margin())
	return nil
}

// ending returns the leases that end within a time and are to be extended.
func (s *leases) ending(now time.Time, within time.Duration) (list []storage.Lease) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for h := range maps.Values(s.of) {
		if !h.Until.After(now.Add(within)) && (h.limit.IsZero() || now.Before(h.limit)) {
			list = append(list, h.Lease)
		}
	}
	return list
}

// extended notes which leases were extended, and ends the contexts of the others.
func (s *leases) extended(list []storage.Lease, held []bool, until time.Time, left time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, l := range list {
		h := s.of[l.Token]
		if h == nil { // its job has ended meanwhile
			continue
		}
		if !held[i] {
			h.stop()
			delete(s.of, l.Token)
			continue
		}
		h.Until = until
		h.ending.Reset(left)
	}
}
