package signing

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Complete completes requests whose value is stored but whose document is not, because
// a source of evidence was down or the process died (decisions.md 4.8). It takes a batch
// of those that are due and says how many they were. A server calls it every few seconds:
// a signature does not depend on its client's polls then, nor on how long they wait.
func (s *Service) Complete(ctx context.Context) (n int, err error) {
	due, err := s.store.Due(ctx, time.Now(), batch)
	if err != nil {
		return 0, err
	}
	errs := make([]error, len(due))
	var all sync.WaitGroup
	for i, r := range due {
		all.Go(func() { errs[i] = s.completeDue(ctx, r.ID) }) // one that waits holds up no other of the batch
	}
	all.Wait()
	return len(due), errors.Join(errs...)
}

// duePatience is how long one try may take, and so how long the next batch has to wait for
// sources that do not answer. What a try has come to is kept.
const duePatience = time.Minute

// completeDue completes a request, unless a poll is at it.
func (s *Service) completeDue(ctx context.Context, id string) error {
	t, err := s.lease(ctx, id, func(r *Request, now time.Time) error {
		if r.Phase != Signed || now.Before(r.NextTry) {
			return ErrFinished
		}
		return nil
	})
	if errors.Is(err, errHeld) || errors.Is(err, ErrFinished) {
		return nil
	}
	if err != nil {
		return err
	}
	work, stop := t.hold(ctx)
	defer stop()
	err = t.complete(work, duePatience)
	stop()
	if ctx.Err() != nil { // the server stops; the next one goes on
		err = nil
	}
	return errors.Join(err, t.release(ctx))
}
