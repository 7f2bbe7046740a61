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
	// errLeaseLost: the lease ran out and another session has it. The client asks again, and gets the
	// other session's result.
	errLeaseLost = fmt.Errorf("signing: lease lost: %w", storage.ErrUnavailable)
	// errHeld: another session has the lease.
	errHeld = errors.New("signing: request is in use")
	// errCompleting is errHeld while the signature is being completed, which may take long.
	errCompleting = fmt.Errorf("%w: its signature is being completed", errHeld)
)

// leaseForPoll waits for the lease of a request that is polled. early reports that the poll came before
// the interval was over.
func (s *Service) leaseForPoll(ctx context.Context, account, id string) (sess *session, early bool, err error) {
	sess, err = s.await(ctx, id, func(r *Request, now time.Time) error {
		if !r.pollable(account) {
			return ErrFinished
		}
		if early = s.early(r, now); !early {
			r.PolledAt = now
		}
		return nil
	})
	if err == nil && sess.inMemory && !early {
		s.polls.note(id, sess.r.PolledAt, s.options.Interval)
	}
	return sess, early, err
}

// await waits for the lease of a request, as [Service.lease] takes it. When another session goes on
// completing the signature, it stops waiting and returns errCompleting with the request as it is stored.
func (s *Service) await(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (*session, error) {
	var completing time.Time // when errCompleting came first
	for pause := 10 * time.Millisecond; ; pause = min(2*pause, 250*time.Millisecond) {
		sess, released, err := s.lease(ctx, id, admit)
		if !errors.Is(err, errHeld) {
			return sess, err
		}
		if errors.Is(err, errCompleting) {
			completing = cmp.Or(completing, time.Now())          // time: how long this caller waits
			if time.Since(completing) >= pollCompletionTimeout { // time: see above
				return sess, err
			}
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-released:
		case <-time.After(pause):
		}
	}
}

// lease takes the lease of a request unless admit returns an error. Changes that admit makes are stored
// with the lease. The session returned has the request as it is stored also with an error of admit, and
// with errHeld; with errHeld, released may be a channel that is closed when the lease is released.
//
// The only process of a store has the lease in its memory, and stores the changes of admit with the next change of the
// session or never: they save calls. It stores a lease only in place of one that is stored and was not released, and
// has the lease in its memory until that is committed: other sessions may still read the record as it was before.
func (s *Service) lease(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (sess *session, released <-chan struct{}, err error) {
	if s.options.SingleProcess {
		sess, released, err = s.leaseInMemory(ctx, id, admit)
		if sess != nil {
			return sess, released, err
		}
		defer s.alone.release(id)
	}
	sess = s.newSession(Request{ID: id})
	err = s.inTx(ctx, func(ctx context.Context) error {
		r, err := s.request(ctx, id)
		if errors.Is(err, storage.ErrNotFound) {
			return ErrFinished
		}
		if err != nil {
			return err
		}
		now := s.now(ctx)
		err = admit(&r, now)
		sess.r = r
		if err != nil {
			return err
		}
		if !s.isFreeInStore(&r) {
			return heldError(&r)
		}
		if sess.tookOver = r.Lease.Process != ""; sess.tookOver && r.Phase == Waiting {
			sess.r.Expires = later(r.Expires, s.untilStored(&r, now))
		}
		sess.r.Lease = s.newLease()
		sess.token = sess.r.Lease.Token
		return sess.put(ctx, &sess.r)
	})
	if isUnavailable(err) && sess.token != "" { // the lease may be stored all the same
		sess.afterwards(func(ctx context.Context) error {
			_, err := sess.attempt(ctx, new(attempts), clearLease)
			return err
		})
	}
	return sess, nil, err
}

// leaseInMemory is lease without writing. If the record has a lease that was not released, it returns a nil session and no
// error; the lease in memory is then the caller's.
func (s *Service) leaseInMemory(ctx context.Context, id string, admit func(r *Request, now time.Time) error) (sess *session, released <-chan struct{}, err error) {
	released, acquired := s.alone.acquire(id)
	defer func() {
		if acquired && err != nil {
			s.alone.release(id)
		}
	}()
	r, err := s.request(ctx, id)
	if errors.Is(err, storage.ErrNotFound) {
		err = ErrFinished
	}
	if err == nil {
		err = admit(&r, s.now(ctx))
	}
	switch {
	case err != nil:
	case !acquired:
		err = heldError(&r)
	case r.Lease.Process != "":
		return nil, nil, nil
	}
	sess = s.newSession(r)
	sess.id, sess.token, sess.inMemory = id, "", err == nil
	return sess, released, err
}

func heldError(r *Request) error {
	if r.Phase == Signed {
		return errCompleting
	}
	return errHeld
}

// untilStored returns when a request that was taken over expires: its previous holder may still be storing
// an answer. The time is bounded for a request whose servers die again and again.
func (s *Service) untilStored(r *Request, now time.Time) time.Time {
	until, last := whole(now.Add(storeRetryFor)), s.limit(r).Add(takenOverFor)
	if until.After(last) {
		return last
	}
	return until
}

func (s *Service) newLease() Lease {
	return Lease{Process: s.process, Token: uuid.NewString(), Until: leaseNow().Add(leaseTime)}
}

// isFree reports whether no session has the lease of a request any more, so that this process may take it.
func (s *Service) isFree(r *Request) bool { return !s.alone.isHeld(r.ID) && s.isFreeInStore(r) }

// isFreeInStore is isFree for a session that has the lease in memory, if there are such leases.
func (s *Service) isFreeInStore(r *Request) bool {
	return r.Lease.free(leaseNow(), s.process, s.options.SingleProcess)
}

// leaseNow is the time by which leases last: servers hold them against each other, whatever time their accounts have.
func leaseNow() time.Time { return whole(time.Now()) } // time: see above

// hold renews the lease until stop is called. The context returned ends when the
// lease is lost. A lease in memory is not renewed, and released by stop.
func (sess *session) hold(ctx context.Context) (_ context.Context, stop func()) {
	if sess.inMemory {
		return ctx, sess.releaseMemory
	}
	ctx, cancel := context.WithCancelCause(ctx)
	done := make(chan struct{})
	go func() {
		defer close(done)
		sess.renew(ctx, cancel)
	}()
	return ctx, func() {
		cancel(nil)
		<-done
	}
}

// renew prolongs the lease at a third of its time, and calls lost when it is lost. A failure is retried
// while the lease lasts.
func (sess *session) renew(ctx context.Context, lost context.CancelCauseFunc) {
	ticker := time.NewTicker(leaseTime / 3)
	defer ticker.Stop()
	until := leaseNow().Add(leaseTime * 2 / 3) // part of the lease may be over
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		now := leaseNow()
		err := sess.prolong(ctx)
		switch {
		case err == nil:
			until = now.Add(leaseTime)
		case errors.Is(err, errLeaseLost), errors.Is(err, storage.ErrNotFound), now.After(until):
			lost(fmt.Errorf("signing: renewing the lease: %w", err))
			return
		}
	}
}

// prolong prolongs the lease, unless the last change of the session was made.
func (sess *session) prolong(ctx context.Context) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case sess.changing <- struct{}{}:
	}
	defer func() { <-sess.changing }()
	if sess.final {
		return nil
	}
	_, err := sess.attempt(ctx, new(attempts), func(context.Context, *Request) error { return nil })
	return err
}
