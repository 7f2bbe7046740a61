package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// Answer is what a poll comes to: the signed document, or why there is none.
type Answer struct {
	Document storage.Blob // nil unless signed
	Failure  idp.Failure  // pending when its Code says so
	Code     string       // verification code, empty when not known
	// Free gives the busy signal back. It comes with a document and is called
	// before the last of it is written, so that a client which has it whole finds
	// the signal free.
	Free func() error
}

// Poll asks how far a request is and passes the answer on. A result, signed or
// failed, ends the request once answer has returned nil; when it fails, because
// the client's connection broke, a later poll answers the same again. Of two polls
// at once the second waits for the first, though for a completion no longer than a few
// seconds: what takes more is for the jobs of [Service.Handlers]. [ErrFinished] when there is
// nothing to poll, and storage.ErrUnavailable or storage.ErrFull when the store was away: a
// later poll goes on from what was stored.
func (s *Service) Poll(ctx context.Context, account, id string, answer func(Answer) error) error {
	r, early, enough, err := s.look(ctx, account, id)
	if err != nil {
		return err
	}
	if enough {
		return r.wait(early, answer)
	}
	t, early, err := s.take(ctx, account, id)
	if errors.Is(err, errCompleting) {
		return t.r.wait(early, answer)
	}
	if err != nil {
		return err
	}
	// A client that hangs up must not cut off a call to the provider, whose answer
	// may be given only once.
	work, stop := t.hold(context.WithoutCancel(ctx))
	defer stop()
	err = t.poll(work, early, answer)
	stop()
	return errors.Join(err, t.release(ctx))
}

func (t *turn) poll(ctx context.Context, early bool, answer func(Answer) error) error {
	if err := t.proceed(ctx, early); err != nil {
		return err
	}
	switch t.r.Phase {
	case Complete:
		return t.deliver(ctx, answer)
	case Failed:
		return t.tell(ctx, answer)
	}
	return t.wait(early, answer)
}

// wait tells the client to poll again, or to do so more slowly.
func (r *Request) wait(early bool, answer func(Answer) error) error {
	a := Answer{Failure: pending, Code: r.Code}
	if early {
		a.Failure = slowDown
	}
	return answer(a)
}

// wait tells the client so in the words of the provider, if it was asked and had any.
func (t *turn) wait(early bool, answer func(Answer) error) error {
	if early || !t.heard.SlowDown && t.heard.Description == "" {
		return t.r.wait(early, answer)
	}
	a := Answer{Failure: pending, Code: t.r.Code}
	if t.heard.SlowDown {
		a.Failure = askedTooOften
	}
	a.Failure.Description = cmp.Or(t.heard.Description, a.Failure.Description)
	return answer(a)
}

var (
	pending       = idp.Failure{Code: idp.AuthorizationPending, OAuth: "authorization_pending", Description: "The signer has not answered yet."}
	slowDown      = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "Polls come faster than the interval allows."}
	askedTooOften = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "The identity provider wants to be asked less often."}
	expired       = idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
)

// proceed takes the request as far as it goes now.
func (t *turn) proceed(ctx context.Context, early bool) error {
	switch {
	case t.r.Phase == Starting: // the process died before the provider had answered
		return t.expire(ctx, t.r.CreatedAt.Add(t.options.Expiry))
	case t.r.Phase == Waiting && !early:
		if t.r.silent(now()) { // another poll has just heard so
			return nil
		}
		if err := t.askAgain(ctx); err != nil {
			return err
		}
	}
	if t.r.Phase == Signed && t.r.pollCompletes(now()) {
		return t.complete(ctx, pollPatience)
	}
	return nil
}

const (
	// pollPatience is how long a poll waits for a signature to be completed: its client has
	// an answer to get (spec 3.9).
	pollPatience = 5 * time.Second
	// leaveFor is how long polls leave what is due to the job that completes it. There may
	// be none: nobody runs jobs, or the value was stored by a version that knew none.
	leaveFor = 15 * time.Second
)

// pollCompletes says whether a poll tries to complete the signature: that which brought the
// value does. A further try is left to the job, which takes the time that it needs, unless
// nobody does it.
func (r *Request) pollCompletes(now time.Time) bool {
	if r.NextTry.Equal(r.SignedAt) {
		return true
	}
	return !now.Before(r.NextTry.Add(leaveFor))
}

// askAgain polls the provider. A fault on the way to it ends nothing before the
// request expires: the client polls again.
func (t *turn) askAgain(ctx context.Context) error {
	state, event, err := t.callPoll(ctx)
	if err != nil {
		err = t.fault(ctx, state, err)
	} else {
		failpoint.Here("signing/polled")
		err = t.follow(ctx, state, event)
	}
	var fault faultError
	switch {
	case errors.As(err, &fault):
		err = nil
	case err == nil:
		failpoint.Here("signing/signed")
	}
	if t.r.Phase == Waiting && !away(err) && !errors.Is(err, errLeaseLost) {
		err = errors.Join(err, t.expire(ctx, t.r.Expires))
	}
	return err
}

// expire ends the request when its time is over.
func (t *turn) expire(ctx context.Context, at time.Time) error {
	if now().Before(at) {
		return nil
	}
	return t.store(ctx, func(ctx context.Context, r *Request) error {
		if t.outdated(r) { // by who had the lease before us
			return errLeaseLost
		}
		return t.failed(ctx, r, expired)
	})
}

// deliver passes the signed document on and ends the request when it has arrived.
func (t *turn) deliver(ctx context.Context, answer func(Answer) error) error {
	blob, err := t.documents.Open(ctx, t.r.Document)
	if err != nil {
		return fmt.Errorf("signing: opening the signed document: %w", err)
	}
	defer blob.Close()
	if err := answer(Answer{Document: blob, Free: func() error { return t.freeEarly(ctx) }}); err != nil {
		return err
	}
	failpoint.Here("signing/delivered")
	return t.leave(ctx, func(ctx context.Context, r *Request) error {
		return errors.Join(t.end(ctx, r), t.record(ctx, r, deliveredEntry, struct{}{}))
	})
}

// freeEarly frees the busy signal before the client can know that polling has ended:
// its next start may come at once.
func (t *turn) freeEarly(ctx context.Context) error {
	if t.r.BusySignal == "" {
		return nil
	}
	return t.store(ctx, t.free)
}

// tell passes a failure on and ends the request. One that repeats ends nothing, and has
// freed the busy signal when it came.
func (t *turn) tell(ctx context.Context, answer func(Answer) error) error {
	a := Answer{Failure: *t.r.Failure}
	if repeats(t.r.Failure) {
		return answer(a)
	}
	if err := t.freeEarly(ctx); err != nil {
		return err
	}
	if err := answer(a); err != nil {
		return err
	}
	return t.leave(ctx, t.end)
}
