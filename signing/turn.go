package signing

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/storage"
)

// turn is the time in which a request's lease is held. Every change of the
// request is made in a turn, and stored only while the lease is still held.
type turn struct {
	*Service
	id, token string  // of the request, and of the lease
	r         Request // as stored last

	// changing is held by the change that is being stored, one at a time. With the token it
	// makes what the turn stores one sequence, in which each change has its revision.
	changing chan struct{}
	left     bool // the last change is made: no renewal comes after it

	asked  time.Time   // when the provider was called last
	called string      // how
	heard  idp.Waiting // what it said, if the person has not answered
	with   idp.State   // the state that it was called with
	faulty bool        // it could not be asked, or what it said not be gone on with
	starts bool        // it is the start call's
	// tookOver: another process had the lease and did not give it back
	tookOver bool
}

// newTurn is the turn of a request that was stored with a lease of ours.
func (s *Service) newTurn(r Request) *turn {
	return &turn{Service: s, id: r.ID, token: r.Lease.Token, r: r, changing: make(chan struct{}, 1)}
}

// change is what a turn makes of its request. It may be called more than once, each time
// with the request as it is stored.
type change = func(ctx context.Context, r *Request) error

// store changes the request and what joins the change in one transaction. A change that
// does not end the lease prolongs it.
func (t *turn) store(ctx context.Context, f change) error {
	t.changing <- struct{}{}
	defer func() { <-t.changing }()
	r, err := t.attempt(ctx, new(attempts), f)
	if err == nil {
		t.r = r
	}
	return err
}

// attempts are those of one change. A store that went away may have committed one without
// a word: the change is then found made, and not made twice.
type attempts struct {
	revision int64 // that one came to; 0: there was none
	answer   bool  // it is an answer of the provider's
}

// stillAsked says whether an answer is one to what the request is at, although another has its
// lease by now: the provider may not give it again.
func (t *turn) stillAsked(r *Request) bool { return r.Phase == Waiting && same(r.State, t.with) }

// outdated says whether somebody whose lease we took over has stored an answer since: what we
// came to is no answer to what the request is at.
func (t *turn) outdated(r *Request) bool { return r.Phase != t.r.Phase || !same(r.State, t.r.State) }

// same says whether a conversation with the provider is where another is.
func same(s, other idp.State) bool {
	return s.Key == other.Key && bytes.Equal(s.Public, other.Public) && bytes.Equal(s.Secret, other.Secret)
}

func (t *turn) attempt(ctx context.Context, a *attempts, f change) (Request, error) {
	var out Request
	late := false
	err := t.inTx(ctx, func(ctx context.Context) error {
		r, err := t.Service.store.Request(ctx, t.id)
		if err != nil {
			return err
		}
		late = r.Lease.Token != t.token
		switch {
		case late && !(a.answer && t.stillAsked(&r)): // nor is it ours that has the revision: to take a lease makes one
			return errLeaseLost
		case !late && a.revision != 0 && r.Revision == a.revision:
			out = r
			return nil
		case !late && a.answer && t.outdated(&r):
			return errLeaseLost
		}
		lease := r.Lease
		if err := f(ctx, &r); err != nil {
			return err
		}
		if out = r; late {
			out.Lease = lease
		} else if out.Lease.Process != "" {
			out.Lease.Until = now().Add(leaseTime)
		}
		err = t.put(ctx, &out)
		a.revision = out.Revision
		return err
	})
	if err == nil && late { // stored for whoever has the lease now
		err = errLeaseLost
	}
	return out, err
}

func (s *Service) put(ctx context.Context, r *Request) error {
	r.Revision++
	r.UpdatedAt = now()
	return s.store.UpdateRequest(ctx, *r)
}

// giveBack ends the turn's lease.
func giveBack(_ context.Context, r *Request) error {
	r.Lease = r.Lease.given()
	return nil
}

// release gives the lease back, unless that was done with the last change.
func (t *turn) release(ctx context.Context) error {
	if t.r.Lease.Process == "" {
		return nil
	}
	err := t.leave(ctx, giveBack)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}

// end finishes a request: nothing of it is left but that it was.
func (s *Service) end(ctx context.Context, r *Request) error {
	if r.Phase == Ended {
		return nil
	}
	if err := s.dropJobs(ctx, r); err != nil {
		return err
	}
	r.Phase, r.Lease = Ended, r.Lease.given()
	documents := r.documents()
	r.Stamp, r.Pending, r.Value, r.Kept, r.State.Public, r.State.Secret = nil, nil, nil, nil, nil, nil
	if err := s.deleteAll(ctx, documents); err != nil {
		return err
	}
	return s.free(ctx, r)
}

// dropJobs drops those that may be about to complete the request, or to drive it.
func (s *Service) dropJobs(ctx context.Context, r *Request) (err error) {
	if r.Value != nil && r.Phase != Complete {
		err = s.jobs.DropUnique(ctx, r.completionKind(), r.ID)
	}
	if r.ordered() {
		err = errors.Join(err, s.jobs.DropUnique(ctx, DriveKind, r.ID))
	}
	return err
}

// documents are those that only the request refers to.
func (r *Request) documents() []string {
	if r.ordered() {
		return r.Stamp.documents()
	}
	return append(r.Stamp.documents(), r.Document)
}

// free gives the busy signal back, and the turn of an order.
func (s *Service) free(ctx context.Context, r *Request) (err error) {
	if r.BusySignal != "" {
		err = s.busy.Release(ctx, r.BusySignal, r.ID)
	}
	if r.ordered() {
		err = errors.Join(err, s.options.Owner.Ended(ctx, r.Order, r.ID))
	}
	return err
}

// remove deletes a request with all that belongs to it.
func (s *Service) remove(ctx context.Context, r Request) error {
	if err := errors.Join(s.recordAbandoned(ctx, &r), s.end(ctx, &r)); err != nil {
		return err
	}
	return s.store.DeleteRequest(ctx, r.ID)
}
