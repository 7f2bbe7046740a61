package signing

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/innsigli/innsigli/idp"
	"github.com/innsigli/innsigli/internal/failpoint"
	"github.com/innsigli/innsigli/storage"
)

// The kinds of the jobs that complete signatures. Those of orders and of XML are apart, because servers of
// versions without orders or XML must not claim them.
const (
	completeKind      = "signing.complete"
	completeOrderKind = "signing.complete.order"
	completeXMLKind   = "signing.complete.xml"
)

// completionKind returns the kind of the job that completes the request.
func (r *Request) completionKind() string {
	switch {
	case r.ordered():
		return completeOrderKind
	case r.Format == XML:
		return completeXMLKind
	}
	return completeKind
}

// jobCompletionTimeout bounds an attempt of a job to complete a signature.
const jobCompletionTimeout = time.Minute

// heldPause is the pause of a job whose request another session holds.
const heldPause = 5 * time.Second

// Handlers returns the functions that the runner of jobs calls, by kind of job. They complete signatures whose
// value is stored but whose document is not, because a source of validation data was down or a process died
// (spec 3.9), so that a signature does not depend on its client's polls. They ask a provider that has notified
// the server, and drive the requests of orders, which are not polled. A handler returns when the job is to
// be run again; zero means that it is done.
func (s *Service) Handlers() map[string]func(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	return map[string]func(context.Context, storage.Job) (time.Time, error){
		completeKind: s.completeDue, completeOrderKind: s.completeDue, completeXMLKind: s.completeDue,
		notifiedKind: s.askDue, DriveKind: s.driveDue,
	}
}

// MaxAttempts returns how many attempts of a job of a kind of [Service.Handlers] may fail before it is parked. A request
// has an end of its own, which comes first, so that a signature that a person gave is not given up while it could be
// completed: a completion ends with the time that it has, and all others with the request. Until then they are tried
// about so often; a job that goes on failing cannot even store that it has ended.
func (s *Service) MaxAttempts(kind string) int {
	const more = 100 // the first tries follow sooner
	switch kind {
	case completeKind, completeXMLKind:
		return int(clientCompleteFor/longestRetryPause) + more
	case DriveKind:
		return int(orderCompleteFor/s.options.Interval) + more
	}
	return int(orderCompleteFor/longestRetryPause) + more
}

// payload is the payload of the jobs of this package.
type payload struct {
	Version int    `json:"version"`
	Request string `json:"request"`
}

// enqueue stores a job for the request, which has at most one of a kind.
func (s *Service) enqueue(ctx context.Context, kind string, r *Request, due time.Time) error {
	encoded, err := json.Marshal(payload{Version: 1, Request: r.ID})
	if err != nil {
		return err
	}
	return s.jobs.Enqueue(ctx, storage.Job{Kind: kind, Group: r.Account, Unique: r.ID, Due: due, Payload: encoded})
}

// enqueueCompletion stores the job that completes the signature. It is due when the time of the poll that
// brought the value is over. A poll that completes the signature drops it.
func (s *Service) enqueueCompletion(ctx context.Context, r *Request) error {
	return s.enqueue(ctx, r.completionKind(), r, r.SignedAt.Add(pollCompletionTimeout))
}

// requestOf returns the ID of a job's request.
func requestOf(job storage.Job) (string, error) {
	var p payload
	if err := json.Unmarshal(job.Payload, &p); err != nil || p.Version != 1 {
		return "", fmt.Errorf("signing: payload of job %s, version %d: %w", job.ID, p.Version, errors.Join(err, errPayload))
	}
	return p.Request, nil
}

// awaitFor waits for the lease of a job's request.
func (s *Service) awaitFor(ctx context.Context, job storage.Job, admit func(r *Request, now time.Time) error) (*session, error) {
	id, err := requestOf(job)
	if err != nil {
		return nil, err
	}
	return s.await(ctx, id, admit)
}

// errNotYet: the job has come too early for its request.
var errNotYet = errors.New("signing: not yet")

// completeDue runs a job that completes a signature.
func (s *Service) completeDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	sess, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
		switch {
		case r.Phase != Signed:
			return ErrFinished
		case now.Before(r.NextTry):
			return errNotYet
		}
		return nil
	})
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errNotYet):
		return sess.r.NextTry, nil
	case errors.Is(err, errHeld):
		return s.now(ctx).Add(heldPause), nil
	case err != nil:
		return retry, err
	}
	return sess.completeDue(ctx)
}

var errPayload = errors.New("not readable by this version")

func (sess *session) completeDue(ctx context.Context) (retry time.Time, err error) {
	work, stop := sess.hold(ctx)
	defer stop()
	failpoint.Here("signing/due")
	err = sess.attemptCompletion(work, jobCompletionTimeout)
	stop()
	if sess.cancelled(ctx, sess.id, err) {
		return retry, nil
	}
	if ctx.Err() != nil { // the server stops; the next one continues
		err = nil
	}
	if sess.r.Phase == Signed {
		retry = sess.r.NextTry
	}
	return retry, errors.Join(err, sess.release(ctx))
}

// notifiedKind is the kind of the jobs that ask a provider after its notification.
const notifiedKind = "signing.news"

// Notified is called when the provider notifies the server that a conversation has a new state
// ([idp.Notifier]). It stores a job that asks the provider at once, without waiting for a poll. It returns
// [ErrFinished] when there is no such conversation, or when the notification is not authentic.
func (s *Service) Notified(ctx context.Context, key string, authentic func(idp.State) bool) error {
	r, err := s.request(ctx, key)
	if errors.Is(err, storage.ErrNotFound) || err == nil && !authentic(r.State) {
		return ErrFinished
	}
	if err != nil || r.Phase != Waiting && r.Phase != Starting {
		return err
	}
	return s.inTx(ctx, func(ctx context.Context) error {
		// A job that is running may have asked before the provider had the new state.
		return errors.Join(s.jobs.DropUnique(ctx, notifiedKind, r.ID), s.enqueue(ctx, notifiedKind, &r, s.now(ctx)))
	})
}

// askDue runs a job that asks the provider, regardless of [Request.NextAsk].
func (s *Service) askDue(ctx context.Context, job storage.Job) (retry time.Time, err error) {
	sess, err := s.awaitFor(ctx, job, func(r *Request, now time.Time) error {
		switch {
		case r.Phase == Starting && !s.diedStarting(*r): // the start call is about to store the provider's answer
			return nil
		case r.Phase == Starting && now.Before(s.limit(r)): // it may still store it
			return errNotYet
		case r.Phase != Waiting:
			return ErrFinished
		}
		r.NextAsk = time.Time{}
		return nil
	})
	switch {
	case errors.Is(err, ErrFinished):
		return retry, nil
	case errors.Is(err, errNotYet):
		return s.now(ctx).Add(heldPause), nil
	case err != nil:
		return retry, err
	}
	work, stop := sess.hold(context.WithoutCancel(ctx)) // its answer may be given only once
	defer stop()
	failpoint.Here("signing/news")
	err = sess.proceed(work, false)
	stop()
	if sess.r.Phase == Waiting && sess.faulty {
		retry = cmp.Or(sess.r.NextAsk, s.now(ctx).Add(firstRetryPause))
	}
	return retry, errors.Join(err, sess.release(ctx))
}
