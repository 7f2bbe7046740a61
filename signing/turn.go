package signing

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/google/uuid"

	"github.com/innsigli/innsigli/storage"
)

// errLeaseLost: another poll has taken over, after this one's lease ran out.
var errLeaseLost = errors.New("signing: lease lost")

// errHeld: another poll has the lease.
var errHeld = errors.New("signing: request is in use")

// turn is the time in which a request's lease is held. Every change of the
// request is made in a turn, and stored only while the lease is still held.
type turn struct {
	*Service
	r Request // as stored last
}

// take waits for the lease of a request. early says that the poll came before its
// time.
func (s *Service) take(ctx context.Context, account, id string) (t *turn, early bool, err error) {
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		t, early, err = s.tryTake(ctx, account, id)
		if !errors.Is(err, errHeld) {
			return t, early, err
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
// is stored with it.
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
		if !r.Lease.free(now, s.process, s.options.Alone) {
			return errHeld
		}
		r.Lease = s.newLease(now)
		t.r = r
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

// store changes the request and what joins the change in one transaction.
func (t *turn) store(ctx context.Context, f func(ctx context.Context, r *Request) error) error {
	r, err := t.change(ctx, t.r.ID, t.r.Lease.Token, f)
	if err == nil {
		t.r = r
	}
	return err
}

func (t *turn) change(ctx context.Context, id, token string, f func(ctx context.Context, r *Request) error) (Request, error) {
	var out Request
	err := t.tx.InTx(ctx, func(ctx context.Context) error {
		r, err := t.Service.store.Request(ctx, id)
		if err != nil {
			return err
		}
		if r.Lease.Token != token {
			return errLeaseLost
		}
		if err := f(ctx, &r); err != nil {
			return err
		}
		out = r
		return t.put(ctx, &out)
	})
	return out, err
}

func (s *Service) put(ctx context.Context, r *Request) error {
	r.Revision++
	r.UpdatedAt = time.Now().UTC()
	return s.store.UpdateRequest(ctx, *r)
}

// release gives the lease back, unless that was done with the last change.
func (t *turn) release(ctx context.Context) error {
	if t.r.Lease.Process == "" {
		return nil
	}
	err := t.store(context.WithoutCancel(ctx), func(_ context.Context, r *Request) error {
		r.Lease = Lease{}
		return nil
	})
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}

// end finishes a request: nothing of it is left but that it was.
func (s *Service) end(ctx context.Context, r *Request) error {
	r.Phase, r.Lease = Ended, Lease{}
	r.Pending, r.Value, r.State.Public, r.State.Secret = nil, nil, nil, nil
	if err := s.documents.Delete(ctx, r.Document); err != nil {
		return err
	}
	return s.free(ctx, r)
}

// free gives the busy signal back.
func (s *Service) free(ctx context.Context, r *Request) error {
	if r.BusySignal == "" {
		return nil
	}
	return s.busy.Release(ctx, r.BusySignal, r.ID)
}

// remove deletes a request with all that belongs to it.
func (s *Service) remove(ctx context.Context, r Request) error {
	if err := s.end(ctx, &r); err != nil {
		return err
	}
	return s.store.DeleteRequest(ctx, r.ID)
}
