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
	// errLeaseLost: another poll has taken over, after this one's lease ran out. The client
	// asks again, and hears what the other came to.
	errLeaseLost = fmt.Errorf("signing: lease lost: %w", storage.ErrUnavailable)
	// errHeld: another has the lease.
	errHeld = errors.New("signing: request is in use")
	// errCompleting is errHeld while the signature is completed, which may take its time.
	errCompleting = fmt.Errorf("%w: its signature is being completed", errHeld)
)

// take waits for the lease of a request that is polled. early says that the poll came before
// its time.
func (s *Service) take(ctx context.Context, account, id string) (t *turn, early bool, err error) {
	t, err = s.await(ctx, id, func(r *Request, now time.Time) error {
		if !r.pollable(account) {
			return ErrFinished
		}
		if early = s.early(r, now); !early {
			r.PolledAt = now
		}
		return nil
	})
	return t, early, err
}

// await waits for the lease of a request, as [Service.lease] takes it. With errCompleting,
// after a while, comes the request as it is.
func (s *Service) await(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (*turn, error) {
	var completing time.Time // since when it is known
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		t, err := s.lease(ctx, id, admit)
		if !errors.Is(err, errHeld) {
			return t, err
		}
		if errors.Is(err, errCompleting) {
			completing = cmp.Or(completing, time.Now())
			if time.Since(completing) >= pollPatience {
				return t, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

// lease takes the lease of a request that admit has nothing against. What admit changes
// is stored with it. The request comes also when another has the lease, or when it is not
// admitted.
func (s *Service) lease(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (*turn, error) {
	t := s.newTurn(Request{ID: id})
	err := s.inTx(ctx, func(ctx context.Context) error {
		r, err := s.store.Request(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return ErrFinished
		}
		if err != nil {
			return err
		}
		now := now()
		err = admit(&r, now)
		t.r = r
		if err != nil {
			return err
		}
		if !r.Lease.free(now, s.process, s.options.Alone) {
			if r.Phase == Signed {
				return errCompleting
			}
			return errHeld
		}
		if t.tookOver = r.Lease.Process != ""; t.tookOver && r.Phase == Waiting {
			t.r.Expires = later(r.Expires, s.untilStored(&r, now))
		}
		t.r.Lease = s.newLease(now)
		t.token = t.r.Lease.Token
		return t.put(ctx, &t.r)
	})
	if away(err) && t.token != "" { // it may have been taken
		t.afterwards(func(ctx context.Context) error {
			_, err := t.attempt(ctx, new(attempts), giveBack)
			return err
		})
	}
	return t, err
}

// untilStored is how long a request lives that was taken over: whoever had it may be storing an answer. One
// whose servers die again and again has an end all the same.
func (s *Service) untilStored(r *Request, now time.Time) time.Time {
	until, last := whole(now.Add(insistFor)), s.limit(r).Add(takenOverFor)
	if until.After(last) {
		return last
	}
	return until
}

func (s *Service) newLease(now time.Time) Lease {
	return Lease{Process: s.process, Token: uuid.NewString(), Until: now.Add(leaseTime)}
}

// hold renews the lease until stop is called. The context returned ends when the
// lease is lost.
func (t *turn) hold(ctx context.Context) (_ context.Context, stop func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		t.renew(ctx, cancel)
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// renew prolongs the lease while there is time to. A failure is tried again for as
// long as the lease lasts.
func (t *turn) renew(ctx context.Context, lost context.CancelCauseFunc) {
	ticker := time.NewTicker(leaseTime / 3)
	defer ticker.Stop()
	until := time.Now().Add(leaseTime * 2 / 3) // a little of it may be over
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := time.Now()
		err := t.prolong(ctx)
		switch {
		case err == nil:
			until = now.Add(leaseTime)
		case errors.Is(err, errLeaseLost), errors.Is(err, storage.ErrNotFound), now.After(until):
			lost(fmt.Errorf("signing: renewing the lease: %w", err))
			return
		}
	}
}

// prolong lets the lease last, unless the turn has left it.
func (t *turn) prolong(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case t.changing <- struct{}{}:
	}
	defer func() { <-t.changing }()
	if t.left {
		return nil
	}
	_, err := t.attempt(ctx, new(attempts), func(context.Context, *Request) error { return nil })
	return err
}
