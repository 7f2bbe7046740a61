package signing

import (
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/storage"
)

// turn is the time in which a request's lease is held. Every change of the
// request is made in a turn, and stored only while the lease is still held.
type turn struct {
	*Service
	r Request // as stored last
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
