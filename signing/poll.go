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

// Answer is the answer to a poll: the signed document, or the reason why there is none.
type Answer struct {
	Document storage.Blob // nil unless signed
	Failure  idp.Failure  // idp.AuthorizationPending and idp.SlowDown: not decided yet
	Code     string       // verification code, empty when not known
	// ReleaseSignal releases the busy signal. It is set with a document, and called before the last bytes of the
	// document are written, so that the signal is free for a client which has all of it.
	ReleaseSignal func() error
}

// Poll takes the request as far as it goes now, and calls answer with its state. A result, signed or
// failed, ends the request once answer has returned nil; when answer fails, because the client's connection
// broke, a later poll gives the same result again. Of two polls at once the second waits for the first, but
// no more than a few seconds for a completion: what takes longer is left to the jobs of
// [Service.Handlers].
//
// Poll returns [ErrFinished] when the account has no such request to poll, and storage.ErrUnavailable or
// storage.ErrFull when the store was unavailable: a later poll continues from what was stored.
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

// wait answers that the client shall poll again, or more slowly.
func (r *Request) wait(early bool, answer func(Answer) error) error {
	a := Answer{Failure: pending, Code: r.Code}
	if early {
		a.Failure = slowDown
	}
	return answer(a)
}

// wait does so in the words of the provider, if this session asked it and it had any.
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
	slowDown      = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "The client polls more often than the interval allows."}
	askedTooOften = idp.Failure{Code: idp.SlowDown, OAuth: "slow_down", Description: "The identity provider requires longer intervals between requests."}
	expired       = idp.Failure{Code: idp.ExpiredToken, OAuth: "expired_token", Description: "The signing request has expired."}
)

// proceed takes the request as far as it goes now: it asks the provider, and completes the signature.
func (sess *session) proceed(ctx context.Context, early bool) error {
	switch {
	case sess.r.Phase == Starting: // the process died before the provider had answered
		return sess.expire(ctx, sess.r.CreatedAt.Add(sess.options.Expiry))
	case sess.r.Phase == Waiting && !early:
		if sess.r.silent(sess.now(ctx)) { // another poll has just heard so
			return nil
		}
		if err := sess.askAgain(ctx); err != nil {
			return err
		}
	}
	if sess.r.Phase == Signed && sess.r.pollCompletes(sess.now(ctx)) {
		return sess.attemptCompletion(ctx, pollCompletionTimeout)
	}
	return nil
}

const (
	// pollCompletionTimeout bounds an attempt of a poll to complete the signature: its client waits for
	// the answer (spec 3.9).
	pollCompletionTimeout = 5 * time.Second
	// jobHeadStart is how long polls leave a completion that is due to its job. There may be no job: the
	// service may have no runner.
	jobHeadStart = 15 * time.Second
)

// pollCompletes reports whether a poll makes an attempt to complete the signature. The poll that brought
// the value does. Further attempts are left to the job, which has more time, unless it is late.
func (r *Request) pollCompletes(now time.Time) bool {
	if r.NextTry.Equal(r.SignedAt) {
		return true
	}
	return !now.Before(r.NextTry.Add(jobHeadStart))
}

// askAgain polls the provider. After a fault of the provider or the connection the client polls again,
// until the request expires.
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

// expire ends the request if the time is at or past at.
func (sess *session) expire(ctx context.Context, at time.Time) error {
	if sess.now(ctx).Before(at) {
		return nil
	}
	return sess.store(ctx, func(ctx context.Context, r *Request) error {
		if sess.outdated(r) { // by the previous holder of the lease
			return errLeaseLost
		}
		return sess.failed(ctx, r, expired)
	})
}

// deliver answers with the signed document and ends the request.
func (sess *session) deliver(ctx context.Context, answer func(Answer) error) error {
	blob, err := sess.documents.Open(ctx, sess.r.Document)
	if err != nil {
		return fmt.Errorf("signing: opening the signed document: %w", err)
	}
	defer blob.Close()
	if err := answer(Answer{Document: blob, ReleaseSignal: func() error { return sess.freeEarly(ctx) }}); err != nil {
		return err
	}
	failpoint.Here("signing/delivered")
	return sess.endDelivered(ctx)
}

// freeEarly frees the busy signal before the client can know that polling has ended:
// its next start may come at once.
func (sess *session) freeEarly(ctx context.Context) error {
	if sess.r.BusySignal == "" {
		return nil
	}
	return sess.store(ctx, sess.free)
}

// deliverFailure answers with the failure and ends the request. A failure that repeats does not end it, and
// has freed the busy signal before.
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

// look reads the request of a poll. enough reports that the poll can be answered without a lease and
// a write: most polls come while the person has not answered and the provider need not be asked, others
// while a job completes the signature.
func (s *Service) look(ctx context.Context, account, id string) (r Request, early, enough bool, err error) {
	r, err = s.request(ctx, id)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !r.pollable(account) {
		err = ErrFinished
	}
	if err != nil {
		return r, false, false, err
	}
	now := s.now(ctx)
	early = s.early(&r, now)
	switch {
	case !s.isFree(&r): // wait for the result of its holder
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

// silent reports whether the provider need not be asked now. It is always asked when the request
// expires.
func (r *Request) silent(now time.Time) bool {
	return now.Before(r.NextAsk) && now.Before(r.Expires)
}

// early reports whether a poll at now comes before its time.
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

// tooEarly reports whether a poll at now comes before its time (spec 3.6): the first never does, later
// ones may come up to 20 % early.
func tooEarly(last, now time.Time, interval time.Duration) bool {
	return !last.IsZero() && now.Sub(last) < interval*8/10
}

// pollLimiter remembers in memory when requests were polled.
//
// A poll that comes too early is answered SlowDown (spec 3.6), which protects the provider and the store. A
// poll that stores the lease stores its time, so that every server knows it. A poll that only waits writes
// nothing and does not ask the provider: its time is known to its own server alone, so a client whose polls
// go to several servers may be told to slow down later. Such polls are only reads.
type pollLimiter struct {
	mu         sync.Mutex
	young, old map[string]time.Time // generations: the time of the last poll by request
	began      time.Time            // when young began
}

// pollLimiterSize bounds how many requests a generation has. If more are polled in one interval, some
// that come too early are not found so.
const pollLimiterSize = 10000

// note remembers a poll. Times older than an interval are no longer needed, and dropped by generation.
func (p *pollLimiter) note(id string, now time.Time, interval time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.young == nil || len(p.young) >= pollLimiterSize || now.Sub(p.began) > interval {
		p.young, p.old, p.began = make(map[string]time.Time), p.young, now
	}
	p.young[id] = now
}

// last returns when a request was polled; zero when that is not known or longer ago than an interval.
func (p *pollLimiter) last(id string) time.Time {
	p.mu.Lock()
	defer p.mu.Unlock()
	if at, ok := p.young[id]; ok {
		return at
	}
	return p.old[id]
}
