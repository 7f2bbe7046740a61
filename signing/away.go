package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// A store may go away at any line, and come back. What a call has to store is of three
// kinds. An answer of the provider may not be given again: [turn.insist] waits for the store.
// What ends a turn is nobody's answer any more: [turn.leave] sees to it after the call.
// All else fails with the store's error, and the client repeats its call, which goes on from
// what was stored.

const (
	// insistFor is how long an answer of the provider waits for the store.
	insistFor = 30 * time.Second

	// takenOverFor is how long servers may wait for each other's answers after the end of a request.
	takenOverFor = 5 * time.Minute

	firstPause, longestPause = 50 * time.Millisecond, time.Second
)

// away says whether a store could not be reached or had no room, so that the same may
// go well later.
func away(err error) bool {
	return storage.Passing(err) && !errors.Is(err, errLeaseLost)
}

// repeat does something again while the store is away, for so long.
func repeat(ctx context.Context, long time.Duration, do func() error) error {
	ctx, end := context.WithTimeout(ctx, long)
	defer end()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := do()
		if !away(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// insist stores what the provider answered, also when the client has gone and when the store
// is away for a while. Should the lease run out meanwhile, another may take the request over.
// The answer is stored all the same if nobody has heard another, and this turn is over.
func (t *turn) insist(ctx context.Context, f change) error {
	t.changing <- struct{}{} // no renewal comes in between
	defer func() { <-t.changing }()
	ctx = context.WithoutCancel(ctx)
	a := attempts{answer: true}
	err := repeat(ctx, insistFor, func() error {
		r, err := t.attempt(ctx, &a, f)
		if err == nil {
			t.r = r
		}
		return err
	})
	if err == nil {
		failpoint.Stored(t.called, t.id)
	}
	return err
}

// leave makes the last change of a turn, after which nobody waits for it. While the store is
// away it is tried again after the call, as long as the lease lasts.
func (t *turn) leave(ctx context.Context, f change) error {
	var a attempts
	t.changing <- struct{}{}
	defer func() { <-t.changing }()
	t.left = true
	r, err := t.attempt(context.WithoutCancel(ctx), &a, f)
	if away(err) {
		t.r.Lease = t.r.Lease.given()
		t.afterwards(func(ctx context.Context) error {
			_, err := t.attempt(ctx, &a, f)
			return err
		})
		return nil
	}
	if err == nil {
		t.r = r
	}
	return err
}

// afterwards does something once the call has been answered, again and again while the store
// is away and as long as a lease lasts. What fails then was never more than a shorter wait
// for somebody.
func (s *Service) afterwards(do func(ctx context.Context) error) {
	s.after.Go(func() {
		_ = repeat(s.open, leaseTime, func() error { return do(s.open) })
	})
}

// Close waits for what calls have left to be stored after their answer, because the store
// was away, until the context ends. No other method may be called from then on.
func (s *Service) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.after.Wait()
	}()
	defer s.close()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		s.close()
		<-done
		return ctx.Err()
	}
}
