package signing

import (
	"bytes"
	"context"
	"crypto/x509"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/ades"
	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
)

// ask makes the first calls to the provider.
func (sess *session) ask(ctx context.Context) error {
	known, err := sess.keptCertificate(ctx)
	if err != nil {
		return err
	}
	state, event, err := sess.callBegin(ctx, known)
	if err != nil {
		return fmt.Errorf("signing: asking the identity provider: %w", err)
	}
	sess.begun = true
	failpoint.Here("signing/begun")
	return sess.follow(ctx, state, event)
}

// mostSteps bounds the calls of one session to the provider.
const mostSteps = 16

// follow stores the provider's answer and does what it asks for, until the provider waits for the
// person or has given its final answer. A digest that it asks for is prepared, stored and supplied.
func (sess *session) follow(ctx context.Context, state idp.State, event idp.Event) error {
	for range mostSteps {
		var over bool
		var err error
		switch e := event.(type) {
		case idp.NeedDigest:
			state, event, over, err = sess.supplyDigest(ctx, state, e)
		case idp.Continue:
			state, event, err = sess.continueAsking(ctx, state, e)
		default:
			return sess.conclude(ctx, state, event)
		}
		if over || err != nil {
			return err
		}
	}
	return errors.New("signing: the identity provider gives no final answer")
}

// conclude stores an answer that asks for no further call. A failure at the start refuses the start.
func (sess *session) conclude(ctx context.Context, state idp.State, event idp.Event) error {
	if failed, ok := event.(idp.Failed); ok && sess.tookOver && (failed.Code == idp.InvalidGrant || failed.Code == idp.ExpiredToken) {
		return sess.fault(ctx, idp.State{}, errAnswerTaken)
	}
	if w, ok := event.(idp.Waiting); ok && sess.keepWaiting(ctx, state, w) {
		return nil
	}
	return sess.storeWithRetry(ctx, func(ctx context.Context, r *Request) error {
		failed, ok := event.(idp.Failed)
		if ok && r.Phase == Starting {
			r.Refused = true
			sess.setConversation(r, state)
			return errors.Join(sess.failed(ctx, r, failed.Failure), sess.end(ctx, r))
		}
		sess.accepted(r, state)
		return sess.apply(ctx, r, event)
	})
}

// keepWaiting keeps in memory that the person has not answered, instead of storing it, and releases the lease. It returns
// false if that has to be stored: the request may expire, the lease is stored, or there is something else to store.
func (sess *session) keepWaiting(ctx context.Context, state idp.State, e idp.Waiting) bool {
	r, now := sess.r, sess.now(ctx)
	if !sess.inMemory || r.Phase != Waiting || sess.unstored != nil {
		return false
	}
	sess.setConversation(&r, state)
	if !now.Before(r.Expires) {
		return false
	}
	sess.setWaiting(&r, e)
	if !sess.alone.keep(&r, now) {
		return false
	}
	sess.r = r
	sess.releaseMemory()
	return true
}

// supplyDigest gives the provider the digest that it asks for. over reports that there is none: not
// now, while a source for checking the certificate is down, or not at all.
func (sess *session) supplyDigest(ctx context.Context, state idp.State, need idp.NeedDigest) (_ idp.State, _ idp.Event, over bool, err error) {
	if err := sess.storePrepared(ctx); err != nil { // for a certificate that turned out to be another
		return state, nil, true, err
	}
	if !sess.now(ctx).Before(sess.limit(&sess.r)) { // the client no longer waits for a signature
		return state, nil, true, sess.conclude(ctx, state, idp.Failed{Failure: expired})
	}
	pending, err := sess.prepare(ctx, need)
	var final finalError
	switch {
	case errors.Is(err, ades.ErrUnavailable):
		return state, nil, true, errors.Join(sess.postponeAsking(ctx, state, need), sess.reportPostponed(ctx, err))
	case errors.As(err, &final):
		return state, nil, true, sess.storeWithRetry(ctx, func(ctx context.Context, r *Request) error {
			sess.setCode(r, need.Code)
			sess.accepted(r, state)
			return sess.failed(ctx, r, final.failure)
		})
	case err != nil:
		return state, nil, true, err
	}
	state, event, err := sess.sign(ctx, state, pending, need.Code)
	return state, event, false, err
}

// postponeAsking stores the state, so that the provider is called later and asks for the digest again.
func (sess *session) postponeAsking(ctx context.Context, state idp.State, need idp.NeedDigest) error {
	sess.faulty = true
	return sess.storeWithRetry(ctx, func(_ context.Context, r *Request) error {
		sess.setCode(r, need.Code)
		sess.accepted(r, state)
		sess.pause(r, firstRetryPause)
		return nil
	})
}

// continueAsking stores what the provider says only once, and polls it again. After the person's
// answer the request has as long for the further calls as a signature has to be completed.
func (sess *session) continueAsking(ctx context.Context, state idp.State, e idp.Continue) (idp.State, idp.Event, error) {
	err := sess.storeWithRetry(ctx, func(_ context.Context, r *Request) error {
		sess.accepted(r, state)
		r.NextAsk = time.Time{}
		if e.Answer {
			r.Expires = whole(sess.now(ctx).Add(r.completeFor()))
		}
		return nil
	})
	if err != nil {
		return state, nil, err
	}
	failpoint.Here("signing/continued")
	state, event, err := sess.callPoll(ctx)
	if err != nil {
		return state, nil, sess.fault(ctx, state, err)
	}
	return state, event, nil
}

// sign has the provider ask the person for the prepared signature. What was prepared is stored with the provider's answer,
// also with its error: only the state in the answer leads to a value, so that the prepared signature is of no use
// without it. A request in the phase Starting stays in it until the provider has answered: should the process die before,
// the person may not have been asked, and polls alone would never get a signature.
func (sess *session) sign(ctx context.Context, state idp.State, pending preparation, code string) (idp.State, idp.Event, error) {
	encoded, err := pending.MarshalBinary()
	if err != nil {
		return state, nil, err
	}
	supplied := state
	sess.unstored = func(ctx context.Context, r *Request) error {
		sess.setConversation(r, supplied)
		sess.setCode(r, code)
		if bytes.Equal(r.Pending, encoded) { // asked the same again
			return nil
		}
		r.Pending = encoded
		return errors.Join(sess.remember(ctx, r, pending.Signer().Certificate), sess.recordPrepared(ctx, r, pending))
	}
	failpoint.Here("signing/prepared")
	state, event, err := sess.callSign(ctx, state, pending.Digest())
	if err != nil {
		return state, nil, sess.fault(ctx, state, err)
	}
	return state, event, nil
}

// storePrepared stores the prepared signature, unless it is stored.
func (sess *session) storePrepared(ctx context.Context) error {
	if sess.unstored == nil {
		return nil
	}
	return sess.storeWithRetry(ctx, func(context.Context, *Request) error { return nil })
}

// The calls to the provider follow. Tests find them in the trace of internal/failpoint and check that none is
// made twice.

func (sess *session) callBegin(ctx context.Context, known *x509.Certificate) (idp.State, idp.Event, error) {
	return sess.call(ctx, "begin", func() (idp.State, idp.Event, error) {
		return sess.provider.Begin(ctx, sess.id, sess.r.Person, sess.r.Text, known)
	})
}

func (sess *session) callSign(ctx context.Context, state idp.State, d ades.Digest) (idp.State, idp.Event, error) {
	return sess.call(ctx, "sign", func() (idp.State, idp.Event, error) {
		return sess.provider.Sign(ctx, state, []ades.Digest{d})
	})
}

func (sess *session) callPoll(ctx context.Context) (idp.State, idp.Event, error) {
	return sess.call(ctx, "poll", func() (idp.State, idp.Event, error) { return sess.provider.Poll(ctx, sess.r.State) })
}

func (sess *session) call(ctx context.Context, name string, do func() (idp.State, idp.Event, error)) (idp.State, idp.Event, error) {
	sess.askedAt, sess.called = sess.now(ctx), name
	failpoint.Called(name, sess.id)
	state, event, err := do()
	came := outcome(event)
	failpoint.Returned(name, sess.id, came)
	sess.report(ctx, Step{Request: sess.id, Name: "provider.asked", Note: name + " " + came})
	cause := err
	if failed, ok := event.(idp.Failed); ok {
		cause = failed.Cause
	}
	if cause != nil {
		sess.report(ctx, Step{Request: sess.id, Name: "provider.failed", Err: cause})
	}
	return state, event, err
}

// outcome names what a call came to.
func outcome(event idp.Event) string {
	switch event.(type) {
	case idp.Waiting:
		return "waiting"
	case idp.NeedDigest:
		return "needdigest"
	case idp.Signed:
		return "signed"
	case idp.Failed:
		return "failed"
	case idp.Continue:
		return "continue"
	}
	return "error"
}

// apply applies an event of the provider to the request.
func (sess *session) apply(ctx context.Context, r *Request, event idp.Event) error {
	switch e := event.(type) {
	case idp.Waiting:
		return sess.waits(ctx, r, e)
	case idp.Signed:
		if len(e.Values) != 1 {
			return sess.failed(ctx, r, idp.Failure{Code: idp.InternalError, Description: "The identity provider did not return exactly one signature."})
		}
		now := sess.now(ctx)
		r.Phase, r.Value, r.SignedAt, r.NextTry = Signed, e.Values[0], now, now
		return errors.Join(sess.recordMade(ctx, r), sess.enqueueCompletion(ctx, r))
	case idp.Failed:
		return sess.failed(ctx, r, e.Failure)
	}
	return nil
}

// waits stores that the person has not answered, and when to ask next. The session has nothing more to
// do, so the same write releases the lease.
func (sess *session) waits(ctx context.Context, r *Request, e idp.Waiting) error {
	if sess.now(ctx).After(r.Expires) {
		return sess.failed(ctx, r, expired)
	}
	sess.setWaiting(r, e)
	return clearLease(ctx, r)
}

// setWaiting sets the code, and when to ask next.
func (sess *session) setWaiting(r *Request, e idp.Waiting) {
	sess.setCode(r, e.Code)
	sess.waiting = e
	sess.pause(r, e.RetryAfter)
}

// pause sets the time before which the provider is not asked. It is never after the end of the
// request: the person may have answered at the last moment.
func (sess *session) pause(r *Request, long time.Duration) {
	r.NextAsk = time.Time{}
	if long > 0 {
		r.NextAsk = whole(sess.askedAt.Add(long))
	}
	if r.NextAsk.After(r.Expires) {
		r.NextAsk = r.Expires
	}
}

// setCode sets the verification code. One that is known at the start is the answer to the start call.
func (sess *session) setCode(r *Request, code string) {
	if code == "" {
		return
	}
	r.Code = code
	if sess.isStart {
		r.StartCode = code
	}
}

// accepted stores the state of a provider that has accepted the request.
func (sess *session) accepted(r *Request, state idp.State) {
	sess.setConversation(r, state)
	if r.Phase == Starting {
		r.Phase = Waiting
	}
}

// setConversation sets the state of the conversation with the provider and the expiry that follows from
// it. A request that outlives its limit, because the person has answered, keeps its expiry.
func (sess *session) setConversation(r *Request, state idp.State) {
	r.setState(state)
	limit := sess.limit(r)
	if r.Expires.After(limit) {
		return
	}
	r.Expires = limit
	if expires := r.State.Expires; !expires.IsZero() && expires.Before(r.Expires) {
		r.Expires = expires
	}
	if r.Phase == Starting {
		r.StartExpires = r.Expires
	}
}

// limit returns when a request without the person's answer expires at the latest.
func (s *Service) limit(r *Request) time.Time { return whole(r.CreatedAt.Add(s.options.Expiry)) }

// setState sets the provider's state of the conversation.
func (r *Request) setState(state idp.State) {
	r.State = state
	r.State.Expires = whole(state.Expires)
}

// fail ends the request without a signature.
func (sess *session) fail(ctx context.Context, f idp.Failure) error {
	return sess.store(ctx, func(ctx context.Context, r *Request) error { return sess.failed(ctx, r, f) })
}

// failed is the change that ends the request with a failure. A value that the person may have given is not a
// signature of the document, and is not kept.
func (sess *session) failed(ctx context.Context, r *Request, f idp.Failure) error {
	r.Value = nil
	return sess.failedFor(ctx, r, f, failedEntry{})
}

// failedFor ends the request with a failure and records it. No poll ends a request whose failure repeats, so
// the busy signal is freed here.
func (sess *session) failedFor(ctx context.Context, r *Request, f idp.Failure, e failedEntry) error {
	r.fail(f)
	e.Provider, e.Code = r.State.Provider, f.Code
	err := sess.record(ctx, r, failedEntryKind, e)
	switch {
	case r.ordered(): // it is not polled
		err = errors.Join(err, sess.end(ctx, r))
	case repeats(&f):
		err = errors.Join(err, sess.free(ctx, r))
	}
	return err
}

// faultError is a fault of the provider, or of the way to it.
type faultError struct{ error }

func (e faultError) Unwrap() error { return e.error }

// fault stores the state that a provider returned with an error (idp.Provider), and the pause that it
// asks for. It returns a faultError once these are stored.
func (sess *session) fault(ctx context.Context, state idp.State, err error) error {
	sess.faulty = true
	wait := new(idp.FaultError)
	errors.As(err, &wait)
	if state.Provider == "" && wait.RetryAfter == 0 && sess.unstored == nil {
		return faultError{err}
	}
	stored := sess.storeWithRetry(ctx, func(_ context.Context, r *Request) error {
		if state.Provider != "" {
			r.setState(state)
		}
		if state.Provider != "" || wait.RetryAfter != 0 {
			sess.pause(r, wait.RetryAfter)
		}
		return nil
	})
	if stored != nil {
		return stored
	}
	return faultError{err}
}

// errAnswerTaken: the provider has given its answer before, probably to the process that had the lease
// before and retries storing it.
var errAnswerTaken = &idp.FaultError{RetryAfter: storeRetryFor, Err: errors.New("signing: the identity provider gave its answer to another process")}
