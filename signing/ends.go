package signing

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// ends are requests whose documents were delivered, and whose ends are about to be stored together. No step waits for
// that. The sessions keep their leases until then, so that a poll waits for the end; if the process dies before, the
// document is delivered again.
type ends struct {
	mu      sync.Mutex
	waiting []ending
}

// ending is a session that has delivered a document, with the context of the call. It is a copy of the call's: that one
// leaves the lease to it.
type ending struct {
	sess *session
	call context.Context
}

// maxEndDelay is the longest [Options].EndDelay: it has to be over before a lease runs out that was just renewed.
const maxEndDelay = time.Second

// endDelivered ends a request whose document was delivered, together with others after [Options].EndDelay.
func (sess *session) endDelivered(ctx context.Context) error {
	s := sess.Service
	if s.options.EndDelay <= 0 {
		return sess.releaseWith(ctx, sess.delivered)
	}
	sess.changing <- struct{}{} // no renewal comes later
	sess.final = true
	<-sess.changing
	last := *sess
	sess.ending = true
	s.ends.mu.Lock()
	defer s.ends.mu.Unlock()
	s.ends.waiting = append(s.ends.waiting, ending{&last, context.WithoutCancel(ctx)})
	if len(s.ends.waiting) > 1 {
		return nil
	}
	s.after.Go(func() {
		timer := time.NewTimer(min(s.options.EndDelay, maxEndDelay))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-s.closing.Done():
		}
		s.ends.mu.Lock()
		all := s.ends.waiting
		s.ends.waiting = nil
		s.ends.mu.Unlock()
		s.storeEnds(all)
	})
	return nil
}

// delivered is the change that ends a request whose document was delivered.
func (sess *session) delivered(ctx context.Context, r *Request) error {
	return errors.Join(sess.end(ctx, r), sess.record(ctx, r, deliveredEntryKind, struct{}{}))
}

// storeEnds stores the ends of requests in one transaction. If that fails for another reason than that the store is
// unavailable, each is stored on its own, so that none keeps the others from ending.
func (s *Service) storeEnds(all []ending) {
	// Every transaction that changes several requests changes them in the same order.
	slices.SortFunc(all, func(a, b ending) int { return cmp.Compare(a.sess.id, b.sess.id) })
	tries := make([]attempts, len(all))
	err := repeat(s.open, leaseTime, func() error {
		return s.inTx(s.open, func(ctx context.Context) error {
			for i, e := range all {
				_, _, err := e.sess.attemptIn(callContext{ctx, e.call}, &tries[i], e.sess.delivered)
				if err != nil && !errors.Is(err, errLeaseLost) && !errors.Is(err, storage.ErrNotFound) {
					return err
				}
			}
			return nil
		})
	})
	if err != nil && !isUnavailable(err) && len(all) > 1 {
		for i := range all {
			s.storeEnds(all[i : i+1])
		}
		return
	}
	for _, e := range all {
		e.sess.releaseMemory()
	}
}

// callContext is the context of a transaction with the values of a call, such as its account, which a [storage.Clock]
// reads.
type callContext struct {
	context.Context
	call context.Context
}

// Value implements [context.Context].
func (c callContext) Value(key any) any {
	if v := c.Context.Value(key); v != nil {
		return v
	}
	return c.call.Value(key)
}
