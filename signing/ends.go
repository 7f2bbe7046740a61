package signing

import (
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

// ending is a copy of the session of a call that has delivered a document, with the context of the call. The session of the
// call leaves the lease to the copy.
type ending struct {
	sess *session
	call context.Context
}

// maxEndDelay is the longest [Options].EndDelay. It is much shorter than a lease, which is not renewed meanwhile.
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
// unavailable, each is stored on its own, so that none keeps the others from ending, and a failure is reported as a step.
func (s *Service) storeEnds(all []ending) {
	// In the order in which other transactions change several requests, so that seldom two of them wait for each other: then
	// the store lets one fail, and it is repeated.
	slices.SortFunc(all, func(a, b ending) int { return a.sess.r.CreatedAt.Compare(b.sess.r.CreatedAt) })
	tries := make([]attempts, len(all))
	err := repeat(s.open, leaseTime, func() error {
		return s.inTx(s.open, func(ctx context.Context) error {
			for i, e := range all {
				if err := e.storeIn(ctx, &tries[i]); err != nil {
					return err
				}
			}
			return nil
		})
	})
	failed := err != nil && !isUnavailable(err) && s.open.Err() == nil
	if failed && len(all) > 1 {
		for i := range all {
			s.storeEnds(all[i : i+1])
		}
		return
	}
	for _, e := range all {
		e.sess.releaseMemory()
		if failed {
			s.report(e.call, Step{Request: e.sess.id, Name: "end.failed", Err: err})
		}
	}
}

// storeIn stores the end in the transaction of ctx, unless the request is deleted or another session has its lease.
func (e ending) storeIn(ctx context.Context, a *attempts) error {
	changed := false
	_, _, err := e.sess.attemptIn(callContext{ctx, e.call}, a, func(ctx context.Context, r *Request) error {
		changed = true
		return e.sess.delivered(ctx, r)
	})
	if !changed && (errors.Is(err, errLeaseLost) || errors.Is(err, storage.ErrNotFound)) {
		return nil
	}
	return err
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
