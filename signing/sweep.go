package signing

import (
	"context"
	"errors"
	"slices"
	"time"
)

// batch bounds the requests that one transaction ends, and mostBehind how many it reads to find them.
const (
	batch      = 20
	mostBehind = 16 * batch
)

// clear ends an account's abandoned requests (spec 3.6), except those whose lease is held, and those that may
// still bring a signature. The requests of orders have a job that drives them to their end.
func (s *Service) clear(ctx context.Context, account string) error {
	// Most accounts have none: this saves a transaction, which waits for others.
	if some, err := s.store.Abandoned(ctx, account, s.now(ctx).Add(-abandonedAfter), 1); err != nil || len(some) == 0 {
		return err
	}
	for limit := batch; ; {
		var found, ended int
		err := s.inTx(ctx, func(ctx context.Context) error {
			now := s.now(ctx)
			old, err := s.store.Abandoned(ctx, account, now.Add(-abandonedAfter), limit)
			if err != nil {
				return err
			}
			found, ended = len(old), 0
			for _, r := range old {
				if r.ordered() || !s.isFree(&r) || s.promised(&r, now) {
					continue
				}
				if err := s.abandon(ctx, r); err != nil {
					return err
				}
				ended++
			}
			return nil
		})
		switch {
		case err != nil || found < limit:
			return err
		case ended > 0:
		case limit >= mostBehind:
			return nil // they do not stay for long: a later start finds the rest, or Sweep
		default:
			limit *= 2 // look behind those that stay
		}
	}
}

// promised reports whether a client may still wait for the signature: the time for completing it counts from
// when the value came, which may be late (spec 3.9). A request without a value outlives its limit only if
// the person has answered.
func (s *Service) promised(r *Request, now time.Time) bool {
	switch r.Phase {
	case Waiting:
		return r.Expires.After(s.limit(r)) && now.Before(r.Expires)
	case Signed, Complete:
		return now.Before(r.SignedAt.Add(r.completeFor()))
	}
	return false
}

// abandon ends a request. Its record stays for the idempotency key, unless the start has no answer that could
// be repeated.
func (s *Service) abandon(ctx context.Context, r Request) error {
	if r.Phase == Starting {
		return s.remove(ctx, r)
	}
	if r.ordered() || r.Phase == Signed { // Progress must not report a signature
		f := incomplete(nil)
		r.Failure = &f
	}
	if err := errors.Join(s.recordAbandoned(ctx, &r), s.end(ctx, &r)); err != nil {
		return err
	}
	r.Lease = Lease{} // its last holder, if it is alive, can store nothing more
	return s.put(ctx, &r)
}

// unfinishedFor is how long a request that has not ended is answered (spec 3.6).
const unfinishedFor = 24 * time.Hour

// Sweep deletes a batch of requests that are older than [Options.Keep], and ends a batch of those that have not
// ended within a day. Requests whose signature may still be completed stay, and so do those of orders whose
// signature is being completed. Requests that [Service.Recover] can complete stay for [Options.Keep] after their
// end. Sweep returns how many requests it deleted or ended; unless that is 0, there may be more.
func (s *Service) Sweep(ctx context.Context) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context) error {
		now := s.now(ctx)
		old, err := s.expiredRequests(ctx, now, s.store.RequestsBefore, s.options.Keep, func(r *Request) bool {
			return s.promised(r, now) || s.keptForRecovery(r, now)
		})
		if err = errors.Join(err, each(ctx, old, s.remove)); err != nil {
			return err
		}
		unfinished, err := s.expiredRequests(ctx, now, s.store.Unfinished, unfinishedFor, func(r *Request) bool {
			return s.promised(r, now) || r.completing()
		})
		n = len(old) + len(unfinished)
		return errors.Join(err, each(ctx, unfinished, s.abandon))
	})
	return n, err
}

// expiredRequests returns up to a batch of requests of a list that are older than age, except those that stay. Those whose
// lease is in memory stay too: no record shows such a lease, and its session would take the change of a sweep for its own.
func (s *Service) expiredRequests(ctx context.Context, now time.Time, list func(context.Context, time.Time, int) ([]Request, error), age time.Duration, stays func(r *Request) bool) ([]Request, error) {
	for limit := batch; ; limit *= 2 {
		found, err := list(ctx, now.Add(-age), limit)
		if err != nil {
			return nil, err
		}
		all := len(found) < limit || limit >= mostBehind
		found = slices.DeleteFunc(found, func(r Request) bool { return s.alone.isHeld(r.ID) || stays(&r) })
		if all || len(found) > 0 {
			return found, nil
		}
	}
}

// completing reports whether the signature of an order was given and its job is still completing it.
func (r *Request) completing() bool { return r.ordered() && r.Phase == Signed }

// each calls do with each request of a list, until the first error.
func each(ctx context.Context, list []Request, do func(context.Context, Request) error) error {
	for _, r := range list {
		if err := do(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
