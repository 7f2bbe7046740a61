package signing

import (
	"bytes"
	"context"
	"errors"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// session is one holder's use of a request while it has the lease. All writes of the request go
// through it, and are stored only while the lease is still held.
type session struct {
	*Service
	id, token string  // of the request, and of the lease
	r         Request // as stored last

	// changing is held by the change that is being stored, one at a time. Together with the token it
	// puts the changes of the session into one sequence, in which each has its revision.
	changing chan struct{}
	final    bool // the last change was made: the lease is not renewed after it

	askedAt    time.Time   // when the provider was called last
	called     string      // the name of that call
	waiting    idp.Waiting // its answer, if the person has not answered
	faulty     bool        // the call failed, or its answer could not be acted on
	isStart    bool        // the session belongs to the start call
	begun      bool        // the start has begun a conversation with the provider
	startError error       // of a start that failed
	// tookOver: another process had the lease and did not release it
	tookOver bool

	inMemory bool   // the lease is in [Service].alone, and not stored
	ending   bool   // the last change of the request is about to be stored by a copy of the session, which has the lease until then
	unstored change // that is stored with the next answer of the provider; nil: none
}

// newSession returns the session of a request that was stored with a lease of this process.
func (s *Service) newSession(r Request) *session {
	return &session{Service: s, id: r.ID, token: r.Lease.Token, r: r, changing: make(chan struct{}, 1)}
}

// change edits the request. It may be called more than once, each time with the request as it is
// stored.
type change = func(ctx context.Context, r *Request) error

// store applies f to the request in one transaction, together with the writes that f makes. It also
// prolongs the lease, unless f releases it.
func (sess *session) store(ctx context.Context, f change) error {
	sess.changing <- struct{}{}
	defer func() { <-sess.changing }()
	r, err := sess.attempt(ctx, new(attempts), f)
	if err == nil {
		sess.r = r
	}
	return err
}

// attempts records the attempts to store one change. A store that became unavailable may have
// committed an attempt without answering: the next attempt then finds the change made, and does not
// make it twice.
type attempts struct {
	revision int64 // of the request after the last attempt; 0: there was none
	answer   bool  // the change stores an answer of the provider
}

// stillAsked reports whether the provider's answer belongs to the stored state of the conversation.
// It is then stored even if another session has the lease by now, since the provider may not give it
// again.
func (sess *session) stillAsked(r *Request) bool {
	return r.Phase == Waiting && same(r.State, sess.r.State)
}

// outdated reports whether the previous holder of the lease has stored an answer since this session
// began, so that the answer of this session no longer belongs to the stored state.
func (sess *session) outdated(r *Request) bool {
	return r.Phase != sess.r.Phase || !same(r.State, sess.r.State)
}

// same reports whether two states of the conversation with the provider are equal.
func same(s, other idp.State) bool {
	return s.Key == other.Key && bytes.Equal(s.Public, other.Public) && bytes.Equal(s.Secret, other.Secret)
}

func (sess *session) attempt(ctx context.Context, a *attempts, f change) (Request, error) {
	var out Request
	late := false
	err := sess.inTx(ctx, func(ctx context.Context) (err error) {
		out, late, err = sess.attemptIn(ctx, a, f)
		return err
	})
	if err == nil {
		sess.alone.forget(sess.id)
	}
	if err == nil && late { // stored for the session that has the lease now
		err = errLeaseLost
	}
	return out, err
}

// attemptIn makes an attempt in the transaction of ctx. late: it was stored for the session that has the lease now.
func (sess *session) attemptIn(ctx context.Context, a *attempts, f change) (out Request, late bool, err error) {
	r, err := sess.request(ctx, sess.id)
	if err != nil {
		return out, false, err
	}
	late = !sess.holds(&r, a)
	switch {
	case late && !(a.answer && sess.stillAsked(&r)): // a.revision is not compared: taking a lease makes a revision too
		return out, late, errLeaseLost
	case !late && a.revision != 0 && r.Revision == a.revision:
		return r, late, nil
	case !late && a.answer && sess.outdated(&r):
		return out, late, errLeaseLost
	}
	lease, unanswered := r.Lease, r.unanswered()
	if err := f(ctx, &r); err != nil {
		return out, late, err
	}
	if out = r; late {
		out.Lease = lease
	} else if out.Lease.Process != "" {
		out.Lease.Until = leaseNow().Add(leaseTime)
	}
	err = sess.put(ctx, &out)
	a.revision = out.Revision
	if err == nil && unanswered && !out.unanswered() {
		err = sess.settlePrompt(ctx, &out)
	}
	return out, late, err
}

// holds reports whether the session has the lease of a request that was read from the store. One that has it in memory
// has lost it if the record was changed by others than its own attempts.
func (sess *session) holds(r *Request, a *attempts) bool {
	if sess.inMemory {
		return r.Revision == sess.r.Revision || r.Revision == a.revision
	}
	return sess.token != "" && r.Lease.Token == sess.token
}

// request returns a request as it is: as it is stored, with the answer of the provider that was kept since.
func (s *Service) request(ctx context.Context, id string) (Request, error) {
	r, err := s.store.Request(ctx, id)
	if err == nil {
		s.alone.complement(&r)
	}
	return r, err
}

// put stores the request as its next revision.
func (s *Service) put(ctx context.Context, r *Request) error {
	r.Revision++
	r.UpdatedAt = s.now(ctx)
	return s.store.UpdateRequest(ctx, *r)
}

// clearLease is the change that releases the lease.
func clearLease(_ context.Context, r *Request) error {
	r.Lease = r.Lease.released()
	return nil
}

// release releases the lease, unless the last change has done that or will.
func (sess *session) release(ctx context.Context) error {
	if sess.r.Lease.Process == "" || sess.ending {
		return nil
	}
	err := sess.releaseWith(ctx, clearLease)
	if errors.Is(err, storage.ErrNotFound) || errors.Is(err, errLeaseLost) {
		return nil
	}
	return err
}

// releaseMemory releases a lease that is in memory, unless the session is ending.
func (sess *session) releaseMemory() {
	if sess.inMemory && !sess.ending {
		sess.inMemory = false
		sess.alone.release(sess.id)
	}
}

// end ends the request: it frees the busy signal, and deletes the jobs, documents and the conversation of the
// request. The record itself stays. If a signature could not be completed, its document and value stay with the
// record, for [Service.Recover].
func (s *Service) end(ctx context.Context, r *Request) error {
	if r.Phase == Ended {
		return nil
	}
	if err := s.dropJobs(ctx, r); err != nil {
		return err
	}
	r.Phase, r.Lease = Ended, r.Lease.released()
	r.State.Public, r.State.Secret = nil, nil
	if !r.Recoverable() {
		if err := s.purge(ctx, r); err != nil {
			return err
		}
	}
	return s.free(ctx, r)
}

// purge deletes the documents of a request and the parts of its record that signing needs.
func (s *Service) purge(ctx context.Context, r *Request) error {
	documents := r.documents()
	r.Stamp, r.Pending, r.Value, r.Draft = nil, nil, nil, nil
	return s.deleteAll(ctx, documents)
}

// dropJobs drops the jobs that complete or drive the request.
func (s *Service) dropJobs(ctx context.Context, r *Request) (err error) {
	if !r.SignedAt.IsZero() && r.Phase != Complete {
		err = s.jobs.DropUnique(ctx, r.completionKind(), r.ID)
	}
	if r.ordered() {
		err = errors.Join(err, s.jobs.DropUnique(ctx, DriveKind, r.ID))
	}
	return err
}

// documents returns the IDs of the documents that only the request refers to.
func (r *Request) documents() []string {
	if r.ordered() {
		return r.Stamp.documents()
	}
	return append(r.Stamp.documents(), r.Document)
}

// free releases the busy signal, and tells the owner of an order that the request has ended.
func (s *Service) free(ctx context.Context, r *Request) (err error) {
	if r.BusySignal != "" {
		err = s.busy.Release(ctx, r.BusySignal, r.ID)
	}
	if r.ordered() {
		err = errors.Join(err, s.options.Owner.Ended(ctx, r.Order))
	}
	return err
}

// remove ends a request and deletes its record, with a value and a document that were kept.
func (s *Service) remove(ctx context.Context, r Request) error {
	if err := errors.Join(s.recordAbandoned(ctx, &r), s.end(ctx, &r)); err != nil {
		return err
	}
	if r.Recoverable() {
		if err := s.purge(ctx, &r); err != nil {
			return err
		}
	}
	return s.store.DeleteRequest(ctx, r.ID)
}

// The store may become unavailable at any line, and come back. Writes are of three kinds:
//
//   - An answer of the provider may not be given again: [session.storeWithRetry] waits for the store.
//   - The write that ends a session answers no caller: [session.releaseWith] retries it after the
//     call has returned.
//   - Every other write fails with the store's error. The client repeats its call, which continues
//     from what was stored.

const (
	// storeRetryFor is how long an answer of the provider waits for the store.
	storeRetryFor = 30 * time.Second

	// takenOverFor bounds by how much the life of a request grows when sessions take it over from
	// servers that died.
	takenOverFor = 5 * time.Minute

	firstPause, longestPause = 50 * time.Millisecond, time.Second
)

// isUnavailable reports whether the store could not be reached or was full, so that the same call
// may succeed later.
func isUnavailable(err error) bool {
	return storage.IsTemporary(err) && !errors.Is(err, errLeaseLost)
}

// repeat calls do until the store is available, for at most as long as given.
func repeat(ctx context.Context, long time.Duration, do func() error) error {
	ctx, end := context.WithTimeout(ctx, long)
	defer end()
	for pause := firstPause; ; pause = min(2*pause, longestPause) {
		err := do()
		if !isUnavailable(err) {
			return err
		}
		select {
		case <-ctx.Done():
			return err
		case <-time.After(pause):
		}
	}
}

// storeWithRetry stores an answer of the provider. It retries while the store is unavailable, and goes
// on when the client has gone. Should the lease run out meanwhile, another session may take the
// request over. The answer is then stored if the other session has stored none, and errLeaseLost
// returned.
func (sess *session) storeWithRetry(ctx context.Context, f change) error {
	sess.changing <- struct{}{} // no renewal comes in between
	defer func() { <-sess.changing }()
	ctx = context.WithoutCancel(ctx)
	a, first := attempts{answer: true}, sess.unstored
	err := repeat(ctx, storeRetryFor, func() error {
		r, err := sess.attempt(ctx, &a, func(ctx context.Context, r *Request) error {
			if first != nil {
				if err := first(ctx, r); err != nil {
					return err
				}
			}
			return f(ctx, r)
		})
		if err == nil {
			sess.r, sess.unstored = r, nil
		}
		return err
	})
	if err == nil {
		failpoint.Stored(sess.called, sess.id)
	}
	return err
}

// releaseWith makes the last change of a session, whose outcome no caller waits for. While the store
// is unavailable it is retried after the call, for as long as a lease lasts, by a copy of the session, which has the
// lease until then.
func (sess *session) releaseWith(ctx context.Context, f change) error {
	var a attempts
	sess.changing <- struct{}{}
	defer func() { <-sess.changing }()
	sess.final = true
	r, err := sess.attempt(context.WithoutCancel(ctx), &a, f)
	if isUnavailable(err) {
		last := *sess
		sess.ending = true
		s := sess.Service
		s.after.Go(func() {
			defer last.releaseMemory()
			s.retryForLeaseTime(func(ctx context.Context) error {
				_, err := last.attempt(ctx, &a, f)
				return err
			})
		})
		return nil
	}
	if err == nil {
		sess.r = r
	}
	return err
}

// afterwards calls do once the current call has been answered, and repeats it while the store is
// unavailable, for as long as a lease lasts. It is for writes that only spare others a wait: a
// failure is ignored.
func (s *Service) afterwards(do func(ctx context.Context) error) {
	s.after.Go(func() { s.retryForLeaseTime(do) })
}

// retryForLeaseTime repeats do while the store is unavailable, for as long as a lease lasts, and ignores a failure.
func (s *Service) retryForLeaseTime(do func(ctx context.Context) error) {
	_ = repeat(s.open, leaseTime, func() error { return do(s.open) })
}

// Close waits for the writes that calls left for after their answer, because of [Options].EndDelay or because the store
// was unavailable. It stops waiting when the context ends. No other method may be called from then on, but Close may be called
// again.
func (s *Service) Close(ctx context.Context) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		s.after.Wait()
	}()
	s.hurry()
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
