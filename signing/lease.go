package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

var (
	// errLeaseLost: another poll has taken over, after this one's lease ran out.
	errLeaseLost = errors.New("signing: lease lost")
	// errHeld: another has the lease.
	errHeld = errors.New("signing: request is in use")
	// errCompleting is errHeld while the signature is completed, which may take its time.
	errCompleting = fmt.Errorf("%w: its signature is being completed", errHeld)
)

// take waits for the lease of a request. early says that the poll came before its time.
// With errCompleting, after a while, comes the request as it is.
func (s *Service) take(ctx context.Context, account, id string) (t *turn, early bool, err error) {
	var completing time.Time // since when it is known
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		t, early, err = s.tryTake(ctx, account, id)
		if !errors.Is(err, errHeld) {
			return t, early, err
		}
		if errors.Is(err, errCompleting) {
			completing = cmp.Or(completing, time.Now())
			if time.Since(completing) >= pollPatience {
				return t, early, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, false, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func (s *Service) tryTake(ctx context.Context, account, id string) (t *turn, early bool, err error) {
	t, err = s.lease(ctx, id, func(r *Request, now time.Time) error {
		if r.Account != account || r.Phase == Ended {
			return ErrFinished
		}
		early = !s.options.AnyPace && tooEarly(r.PolledAt, now, s.options.Interval)
		if !early {
			r.PolledAt = now
		}
		return nil
	})
	return t, early, err
}

// lease takes the lease of a request that admit has nothing against. What admit changes
// is stored with it. The request comes also when another has the lease.
func (s *Service) lease(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (*turn, error) {
	t := &turn{Service: s}
	err := s.tx.InTx(ctx, func(ctx context.Context) error {
		r, err := s.store.Request(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return ErrFinished
		}
		if err != nil {
			return err
		}
		now := time.Now().UTC()
		if err := admit(&r, now); err != nil {
			return err
		}
		t.r = r
		if !r.Lease.free(now, s.process, s.options.Alone) {
			if r.Phase == Signed {
				return errCompleting
			}
			return errHeld
		}
		t.r.Lease = s.newLease(now)
		return t.put(ctx, &t.r)
	})
	return t, err
}

func (s *Service) newLease(now time.Time) Lease {
	return Lease{Process: s.process, Token: uuid.NewString(), Until: now.Add(leaseTime)}
}

// hold renews the lease until stop is called. The context returned ends when the
// lease is lost.
func (t *turn) hold(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	id, token := t.r.ID, t.r.Lease.Token // the turn's own goroutine changes t.r
	go func() {
		defer close(done)
		t.renew(ctx, id, token, cancel)
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// renew prolongs the lease while there is time to. A failure is tried again for as
// long as the lease lasts.
func (t *turn) renew(ctx context.Context, id, token string, lost context.CancelCauseFunc) {
	ticker := time.NewTicker(leaseTime / 3)
	defer ticker.Stop()
	until := time.Now().Add(leaseTime * 2 / 3) // a little of it may be over
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now().UTC()
		_, err := t.change(ctx, id, token, func(_ context.Context, r *Request) error {
			r.Lease.Until = now.Add(leaseTime)
			return nil
		})
		switch {
		case err == nil:
			until = now.Add(leaseTime)
		case errors.Is(err, errLeaseLost), errors.Is(err, storage.ErrNotFound), now.After(until):
			lost(fmt.Errorf("signing: renewing the lease: %w", err))
			return
		}
	}
}
