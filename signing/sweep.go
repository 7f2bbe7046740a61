package signing

import (
	"context"
	"errors"
	"slices"
	"time"
)

// batch bounds what one transaction clears, and mostBehind how far it looks for that behind
// requests that stay.
const (
	batch      = 20
	mostBehind = 16 * batch
)

// clear ends what an account abandoned (spec 3.6), but what is being worked on right
// now, or was signed a short while ago. What was ordered has a job that takes it to its end.
func (s *Service) clear(ctx context.Context, account string) error {
	for limit := batch; ; {
		var found, ended int
		err := s.inTx(ctx, func(ctx context.Context) error {
			now := now()
			old, err := s.store.Abandoned(ctx, account, now.Add(-abandonedAfter), limit)
			if err != nil {
				return err
			}
			found, ended = len(old), 0
			for _, r := range old {
				if r.ordered() || !r.Lease.free(now, s.process, s.options.SingleProcess) || s.promised(&r, now) {
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

// promised says whether there is a signature that a client may still wait for: its
// completion has time from when the value came, which may be late (spec 3.9). Before
// that, a request outlives its limit only if the person has answered.
func (s *Service) promised(r *Request, now time.Time) bool {
	switch r.Phase {
	case Waiting:
		return r.Expires.After(s.limit(r)) && now.Before(r.Expires)
	case Signed, Complete:
		return now.Before(r.SignedAt.Add(r.completeFor()))
	}
	return false
}

// abandon ends a request. Its record stays for the idempotency key, unless the
// start never came to an answer that could be repeated.
func (s *Service) abandon(ctx context.Context, r Request) error {
	if r.Phase == Starting {
		return s.remove(ctx, r)
	}
	if r.ordered() { // whoever asks how it ended is not to believe that it was signed
		r.Failure = &incomplete
	}
	if err := errors.Join(s.recordAbandoned(ctx, &r), s.end(ctx, &r)); err != nil {
		return err
	}
	r.Lease = Lease{} // whoever had it comes too late
	return s.put(ctx, &r)
}

// unfinishedFor is for how long a request that nobody finished is answered (spec 3.6).
const unfinishedFor = 24 * time.Hour

// Sweep removes a batch of requests that are older than [Options.Keep], and ends one of those that
// nobody has finished in a day: but signatures that may still be completed stay, and those of orders
// until they are. It says how many there were; when there were any, there may be more.
func (s *Service) Sweep(ctx context.Context) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context) error {
		now := now()
		old, err := s.expiredRequests(ctx, now, s.store.RequestsBefore, s.options.Keep)
		if err = errors.Join(err, each(ctx, old, s.remove)); err != nil {
			return err
		}
		unfinished, err := s.expiredRequests(ctx, now, s.store.Unfinished, unfinishedFor)
		n = len(old) + len(unfinished)
		return errors.Join(err, each(ctx, unfinished, s.abandon))
	})
	return n, err
}

// expiredRequests are requests of a list that are older than that and may go, a batch or what there is behind
// those that stay.
func (s *Service) expiredRequests(ctx context.Context, now time.Time, list func(context.Context, time.Time, int) ([]Request, error), age time.Duration) ([]Request, error) {
	for limit := batch; ; limit *= 2 {
		found, err := list(ctx, now.Add(-age), limit)
		if err != nil {
			return nil, err
		}
		all := len(found) < limit || limit >= mostBehind
		found = slices.DeleteFunc(found, func(r Request) bool { return s.promised(&r, now) || r.completing() })
		if all || len(found) > 0 {
			return found, nil
		}
	}
}

// completing says whether there is a signature to order that was given. Its job sees to it that it lands, or
// has had the time for that.
func (r *Request) completing() bool { return r.ordered() && r.Phase == Signed }

// each does something with every request of a list.
func each(ctx context.Context, list []Request, do func(context.Context, Request) error) error {
	for _, r := range list {
		if err := do(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
