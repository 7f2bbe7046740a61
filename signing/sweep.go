package signing

import (
	"context"
	"time"
)

// batch bounds what one transaction clears.
const batch = 20

// clear ends what an account abandoned (service.md 3.2), but what is being worked on right
// now, or was signed a short while ago.
func (s *Service) clear(ctx context.Context, account string) error {
	for limit := batch; ; {
		var found, ended int
		err := s.tx.InTx(ctx, func(ctx context.Context) error {
			now := time.Now()
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
		if err != nil || found < limit {
			return err
		}
		if ended == 0 {
			limit += batch // look behind those that stay
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
	if err := s.end(ctx, &r); err != nil {
		return err
	}
	r.Lease = Lease{} // whoever had it comes too late
	return s.put(ctx, &r)
}

// Sweep removes a batch of requests that are older than [Options.Keep], ended or not, and
// says how many there were.
func (s *Service) Sweep(ctx context.Context) (n int, err error) {
	err = s.tx.InTx(ctx, func(ctx context.Context) error {
		old, err := s.store.RequestsBefore(ctx, time.Now().Add(-s.options.Keep), batch)
		if err != nil {
			return err
		}
		for _, r := range old {
			if err := s.remove(ctx, r); err != nil {
				return err
			}
		}
		n = len(old)
		return nil
	})
	return n, err
}
