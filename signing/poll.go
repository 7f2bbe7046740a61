package signing

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
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
	sess, early, err := s.leaseForPoll(ctx, account, id)
	if errors.Is(err, errCompleting) {
		return sess.r.wait(early, answer)
	}
	if err != nil {
		return err
	}
	// A client that hangs up must not cut off a call to the provider, whose answer
	// may be given only once.
	work, stop := sess.hold(context.WithoutCancel(ctx))
	defer stop()
	err = sess.poll(work, early, answer)
	stop()
	return errors.Join(err, sess.release(ctx))
}

func (sess *session) poll(ctx context.Context, early bool, answer func(Answer) error) error {
	if err := sess.proceed(ctx, early); err != nil {
		return err
	}
	switch sess.r.Phase {
	case Complete:
		return sess.deliver(ctx, answer)
	case Failed:
		return sess.deliverFailure(ctx, answer)
	}
	return sess.wait(early, answer)
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
func (sess *session) wait(early bool, answer func(Answer) error) error {
	if early || !sess.waiting.SlowDown && sess.waiting.Description == "" {
		return sess.r.wait(early, answer)
	}
	a := Answer{Failure: pending, Code: sess.r.Code}
	if sess.waiting.SlowDown {
		a.Failure = askedTooOften
	}
	a.Failure.Description = cmp.Or(sess.waiting.Description, a.Failure.Description)
	return answer(a)
}

var (
	pending       = idp.Failure{Code: idp.AuthorizationPending, OAuth: "authorization_pending", Description: "The signer has not answered yet."}
	slowDown      = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "Polls come faster than the interval allows."}
	askedTooOften = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "The identity provider wants to be asked less often."}
	expired       = idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
)

// proceed takes the request as far as it goes now.
func (sess *session) proceed(ctx context.Context, early bool) error {
	switch {
	case sess.r.Phase == Starting: // the process died before the provider had answered
		return sess.expire(ctx, sess.r.CreatedAt.Add(sess.options.Expiry))
	case sess.r.Phase == Waiting && !early:
		if sess.r.silent(now()) { // another poll has just heard so
			return nil
		}
		if err := sess.askAgain(ctx); err != nil {
			return err
		}
	}
	if sess.r.Phase == Signed && sess.r.pollCompletes(now()) {
		return sess.complete(ctx, pollCompletionTimeout)
	}
	return nil
}

const (
	// pollCompletionTimeout is how long a poll waits for a signature to be completed: its client has
	// an answer to get (spec 3.9).
	pollCompletionTimeout = 5 * time.Second
	// jobHeadStart is how long polls leave what is due to the job that completes it. There may
	// be none: nobody runs jobs, or the value was stored by a version that knew none.
	jobHeadStart = 15 * time.Second
)

// pollCompletes says whether a poll tries to complete the signature: that which brought the
// value does. A further try is left to the job, which takes the time that it needs, unless
// nobody does it.
func (r *Request) pollCompletes(now time.Time) bool {
	if r.NextTry.Equal(r.SignedAt) {
		return true
	}
	return !now.Before(r.NextTry.Add(jobHeadStart))
}

// askAgain polls the provider. A fault on the way to it ends nothing before the
// request expires: the client polls again.
func (sess *session) askAgain(ctx context.Context) error {
	state, event, err := sess.callPoll(ctx)
	if err != nil {
		err = sess.fault(ctx, state, err)
	} else {
		failpoint.Here("signing/polled")
		err = sess.follow(ctx, state, event)
	}
	var fault faultError
	switch {
	case errors.As(err, &fault):
		err = nil
	case err == nil:
		failpoint.Here("signing/signed")
	}
	if sess.r.Phase == Waiting && !isUnavailable(err) && !errors.Is(err, errLeaseLost) {
		err = errors.Join(err, sess.expire(ctx, sess.r.Expires))
	}
	return err
}

// expire ends the request when its time is over.
func (sess *session) expire(ctx context.Context, at time.Time) error {
	if now().Before(at) {
		return nil
	}
	return sess.store(ctx, func(ctx context.Context, r *Request) error {
		if sess.outdated(r) { // by who had the lease before us
			return errLeaseLost
		}
		return sess.failed(ctx, r, expired)
	})
}

// deliver passes the signed document on and ends the request when it has arrived.
func (sess *session) deliver(ctx context.Context, answer func(Answer) error) error {
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return fmt.Errorf("signing: opening the signed document: %w", err)
	}
	defer blob.Close()
	if err := answer(Answer{Document: blob, Free: func() error { return sess.freeEarly(ctx) }}); err != nil {
		return err
	}
	failpoint.Here("signing/delivered")
	return sess.releaseWith(ctx, func(ctx context.Context, r *Request) error {
		return errors.Join(sess.end(ctx, r), sess.record(ctx, r, deliveredEntryKind, struct{}{}))
	})
}

// freeEarly frees the busy signal before the client can know that polling has ended:
// its next start may come at once.
func (sess *session) freeEarly(ctx context.Context) error {
	if sess.r.BusySignal == "" {
		return nil
	}
	return sess.store(ctx, sess.free)
}

// deliverFailure passes a failure on and ends the request. One that repeats ends nothing, and has
// freed the busy signal when it came.
func (sess *session) deliverFailure(ctx context.Context, answer func(Answer) error) error {
	a := Answer{Failure: *sess.r.Failure}
	if repeats(sess.r.Failure) {
		return answer(a)
	}
	if err := sess.freeEarly(ctx); err != nil {
		return err
	}
	if err := answer(a); err != nil {
		return err
	}
	return sess.releaseWith(ctx, sess.end)
}

// look reads the request of a poll. Most polls come while the person has not answered, and
// know from the request that there is nothing new to hear; others come while the signature is
// a job's to complete. That is enough then, with no lease and no write.
func (s *Service) look(ctx context.Context, account, id string) (r Request, early, enough bool, err error) {
	r, err = s.store.Request(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !r.pollable(account) {
		err = ErrFinished
	}
	if err != nil {
		return r, false, false, err
	}
	now := now()
	early = s.early(&r, now)
	switch {
	case !r.Lease.free(now, s.process, s.options.SingleProcess): // by what its holder comes to, there may be news
	case r.Phase == Waiting:
		enough = early || r.silent(now)
	case r.Phase == Signed:
		enough = !r.pollCompletes(now)
	}
	if enough && !early {
		s.polls.note(id, now, s.options.Interval)
	}
	return r, early, enough, nil
}

// silent says whether the provider has nothing new to say. A request that is expiring is
// never silent.
func (r *Request) silent(now time.Time) bool {
	return now.Before(r.NextAsk) && now.Before(r.Expires)
}

// early looks up when the request was last polled, and applies tooEarly.
func (s *Service) early(r *Request, now time.Time) bool {
	if s.options.IgnoreInterval {
		return false
	}
	last := r.PolledAt
	if here := s.polls.last(r.ID); here.After(last) {
		last = here
	}
	return tooEarly(last, now, s.options.Interval)
}

// tooEarly reports whether a poll comes before its time (spec 3.6): the
// first never does, later ones may come up to 20 % early.
func tooEarly(last, now time.Time, interval time.Duration) bool {
	return !last.IsZero() && now.Sub(last) < interval*8/10
}

// pollLimiter remembers when requests were polled without anything being stored.
//
// Polls that come too early are told so (spec 3.6): a rule that spares the provider
// and the store. A poll that takes the lease stores its time, so that every server knows it.
// One that only waits writes nothing, and does not ask the provider: its time is known to its own server
// and to no other, so a client whose polls go to several servers may hear of its haste later.
// Nothing depends on it: such polls are reads, and the provider is asked no sooner.
type pollLimiter struct {
	mu         sync.Mutex
	young, old map[string]time.Time
	began      time.Time // when young did
}

// pollLimiterSize bounds how many requests a generation remembers. With more than that polled in
// one interval, some go unwarned.
const pollLimiterSize = 10000

// note remembers a poll. What is older than an interval is no longer of use, and goes with
// its generation.
func (p *pollLimiter) note(id string, now time.Time, interval time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young == nil || len(p.young) >= pollLimiterSize || now.Sub(p.began) > interval {
		p.young, p.old, p.began = make(map[string]time.Time), p.young, now
	}
	p.young[id] = now
}

// last is when a request was polled, zero when that is not known or long ago.
func (p *pollLimiter) last(id string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.young[id]; ok {
		return at
	}
	return p.old[id]
}
