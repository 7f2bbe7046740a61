package signing

import (
	"context"
	"errors"
	"time"
)

// batch bounds what one transaction clears, and mostBehind how far it looks for that behind
// requests that stay.
const (
	batch      = 20
	mostBehind = 16 * batch
)

// clear ends what an account abandoned (service.md 3.2), but what is being worked on right
// now, or was signed a short while ago.
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
				if !r.Lease.free(now, s.process, s.options.Alone) || r.promised(now) {
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
// completion has time from when the value came, which may be late (decisions.md 4.8).
func (r *Request) promised(now time.Time) bool {
	return (r.Phase == Signed || r.Phase == Complete) && now.Before(r.SignedAt.Add(completeFor))
}

// abandon ends a request. Its record stays for the idempotency key, unless the
// start never came to an answer that could be repeated.
func (s *Service) abandon(ctx context.Context, r Request) error {
	if r.Phase == Starting {
		return s.remove(ctx, r)
	}
	if err := errors.Join(s.recordAbandoned(ctx, &r), s.end(ctx, &r)); err != nil {
		return err
	}
	r.Lease = Lease{} // whoever had it comes too late
	return s.put(ctx, &r)
}

// unfinishedFor is for how long a request that nobody finished is answered (decisions.md 4.7).
const unfinishedFor = 24 * time.Hour

// Sweep removes a batch of requests that are older than [Options.Keep] and ends one of those
// that nobody has finished in a day. It says how many there were; when there were any, there
// may be more.
func (s *Service) Sweep(ctx context.Context) (n int, err error) {
	err = s.inTx(ctx, func(ctx context.Context) error {
		now := now()
		old, err := s.store.RequestsBefore(ctx, now.Add(-s.options.Keep), batch)
		if err = errors.Join(err, each(ctx, old, s.remove)); err != nil {
			return err
		}
		unfinished, err := s.store.Unfinished(ctx, now.Add(-unfinishedFor), batch)
		n = len(old) + len(unfinished)
		return errors.Join(err, each(ctx, unfinished, s.abandon))
	})
	return n, err
}

// each does something with every request of a list.
func each(ctx context.Context, list []Request, do func(context.Context, Request) error) error {
	for _, r := range list {
		if err := do(ctx, r); err != nil {
			return err
		}
	}
	return nil
}
